//go:build linux

package proxy

import (
	"strings"
	"sync"
	"testing"
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
