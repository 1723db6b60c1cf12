//go:build linux

package proxy

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// What is allowed is given out, all of it and evenly.
func TestShare(t *testing.T) {
	for loops := 1; loops <= 9; loops++ {
		for most := loops; most <= 40; most++ {
			sum := 0
			for i := range loops {
				n := share(most, i, loops)
				if n < most/loops || n > most/loops+1 {
					t.Errorf("loop %d of %d gets %d of %d", i, loops, n, most)
				}
				sum += n
			}
			if sum != most {
				t.Errorf("%d loops get %d of %d", loops, sum, most)
			}
		}
	}
	if n := share(0, 0, 4); n != 0 {
		t.Errorf("no limit is shared as %d", n)
	}
}

// With one request at a time there is always a connection for it, whichever loop
// it comes to, also if one alone would keep as many as are allowed; and there
// are never more.
func TestConnectionsOfALoop(t *testing.T) {
	const loops = 4
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Upstreams[0].Connections, c.Upstreams[0].Ready = loops, loops
	_, addr := run(t, c, Options{Workers: loops})
	for range 50 {
		client := connect(t, addr)
		client.want(t, 200, "GET /alone", "")
		client.Close()
	}
	var group sync.WaitGroup
	for range 16 {
		client := connect(t, addr)
		group.Go(func() {
			for range 30 {
				if r, _, err := client.ask("GET /crowd", ""); err != nil || r.StatusCode != 200 && r.StatusCode != 503 {
					t.Error(r, err)
					return
				}
			}
		})
	}
	group.Wait()
	if ever, _ := s.opened(); ever > loops { // none of them has been closed
		t.Errorf("the server has seen %d connections, of %d allowed", ever, loops)
	}
}

// A connection that is being dialled for nobody, but has the last place, is waited
// for. Where it cannot be had, the request dials one itself.
func TestLastPlaceIsComing(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	for _, f := range []struct {
		server, request string
		status, dials   int
	}{
		{s.addr, "GET /x", 200, 1},
		{s.addr, "POST /x", 200, 1},
		{blackHole(t, "127.0.0.1:0"), "POST /x", 504, 2},
	} {
		c := settings(f.server)
		c.Upstreams[0].Connections, c.Upstreams[0].Dial = 1, 100*time.Millisecond
		c.Routes[0].Path = "/x"
		p, addr := run(t, c, Options{})
		w, pool := p.workers[0], p.plan.upstreams[0].origins[0].pools[0]
		client := connect(t, addr)
		client.want(t, 404, "GET /", "") // it has been accepted
		held, goOn := make(chan struct{}), make(chan struct{})
		w.loop.Post(func() {
			close(held)
			<-goOn
			pool.dial(pool.upstream, pool.origin.addresses()[0], nil)
		})
		<-held
		err := client.send(f.request, "Content-Length: 0\r\n") // seen before the dialling's end
		close(goOn)
		if err != nil {
			t.Fatal(err)
		}
		if r, _, err := client.answer(f.request); err != nil || r.StatusCode != f.status {
			t.Errorf("%s: %v %v, want %d", f.request, r, err, f.status)
		}
		if n := metric(t, p, "upstream_dialled_total"); int(n) != f.dials {
			t.Errorf("%s: %v connections were dialled, want %d", f.request, n, f.dials)
		}
		onLoop(w, func() {
			if len(pool.coming) != 0 {
				t.Errorf("%s: %d connections are still coming", f.request, len(pool.coming))
			}
		})
	}
}

// Who has gone while a connection is dialled leaves it to the next, until it cannot
// be had.
func TestPlaceIsLeft(t *testing.T) {
	c := settings(blackHole(t, "127.0.0.1:0"))
	c.Upstreams[0].Connections, c.Upstreams[0].Dial = 1, 200*time.Millisecond
	p, addr := run(t, c, Options{})
	w, pool := p.workers[0], p.plan.upstreams[0].origins[0].pools[0]
	gone := connect(t, addr)
	if err := gone.send("GET /", ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a connection is dialled", func() bool { return pool.dialled.Value() == 1 })
	gone.SetLinger(0)
	gone.Close()
	for over := false; !over; {
		onLoop(w, func() {
			over = pool.open == 0
			if w.counts.inFlight.Value() == 0 && len(pool.coming) != pool.open {
				t.Errorf("%d connections are being dialled, and %d are left to others", pool.open, len(pool.coming))
				over = true
			}
		})
	}
}

// Fewer connections than loops cannot be shared, and the error says what to
// change.
func TestFewerConnectionsThanLoops(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	few, enough := settings(s.addr), settings(s.addr)
	few.Upstreams[0].Connections, enough.Upstreams[0].Connections = 3, 4
	told := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "upstreams.origin.connections: 3 ") || !strings.Contains(err.Error(), "--workers") {
			t.Errorf("the error is %v", err)
		}
	}
	_, err := New(few, Options{Workers: 4})
	told(err)
	p, addr := run(t, enough, Options{Workers: 4})
	was := p.plan
	told(p.Reload(few))
	if p.plan != was {
		t.Error("what was rejected is in force")
	}
	connect(t, addr).want(t, 200, "GET /", "")
}
