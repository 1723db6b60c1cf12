//go:build linux

package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What is under way when the end begins ends whole.
func TestShutdownEndsWhole(t *testing.T) {
	const size = 4 << 20
	release := make(chan struct{})
	s := play(t, "", func(c *scriptedConn) {
		for r := c.request(); r != nil; r = c.request() {
			switch r.URL.Path {
			case "/held":
				<-release
				c.say(answerOf("held"))
			case "/large":
				c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size))
				io.Copy(c, io.LimitReader(new(pattern), size))
			default:
				c.say(answerOf("x"))
			}
		}
	})
	c := settings(s.addr)
	c.Timeouts.Write, c.Timeouts.Response, c.Timeouts.Body = longWait, longWait, longWait
	p, addr := run(t, c, Options{Workers: 2})
	each := func() (list []*client) {
		for range 8 {
			list = append(list, connect(t, addr))
		}
		return list
	}
	held, large, half, idle := each(), each(), each(), each()
	for i := range held {
		held[i].send("GET /held", "")
		large[i].send("GET /large", "")
		if _, err := large[i].in.Peek(1); err != nil {
			t.Fatal(err)
		}
		half[i].send("POST /half", "Content-Length: 4\r\n\r\nab")
		idle[i].want(t, 200, "GET /idle", "")
	}
	eventually(t, "all are under way", func() bool { return s.count("GET /held") == 8 && s.count("GET /large") == 8 })
	eventually(t, "also those whose body is not whole", func() bool { return metric(t, p, "requests_in_flight") == 24 })
	ended := make(chan error, 1)
	go func() { ended <- p.Shutdown(context.Background()) }()
	for _, c := range idle {
		if b, err := c.in.ReadByte(); err != io.EOF {
			t.Errorf("%q %v on an idle connection", b, err)
		}
	}
	if p.Healthy() == nil {
		t.Error("a proxy that shuts down calls itself healthy")
	}
	close(release)
	for i := range held {
		if r, body, err := held[i].answer("GET"); err != nil || body != "held" || !r.Close {
			t.Errorf("%v %q %v", r, body, err)
		}
		if r, err := http.ReadResponse(large[i].in, nil); err != nil {
			t.Error(err)
		} else if err := like(r.Body, size); err != nil {
			t.Error(err)
		}
		io.WriteString(half[i], "cd")
		if r, body, err := half[i].answer("POST"); err != nil || body != "x" || !r.Close {
			t.Errorf("%v %q %v", r, body, err)
		}
		for _, c := range []*client{held[i], large[i], half[i]} {
			c.Close()
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if n := len(s.seen()); n != 32 {
		t.Errorf("the server has seen %d requests, of 32", n)
	}
}

// While requests come all the time, each that the server has seen is answered,
// and the others were never begun.
func TestShutdownUnderLoad(t *testing.T) {
	for range 5 {
		s := play(t, "", func(c *scriptedConn) { c.serve("x") })
		p, addr := run(t, settings(s.addr), Options{Workers: 2})
		var answered atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			c := connect(t, addr)
			request, rest := "GET /x", ""
			if i%2 == 0 {
				request, rest = "POST /x", "Content-Length: 2\r\n\r\nab"
			}
			group.Go(func() {
				for {
					r, body, err := c.ask(request, rest)
					switch {
					case r == nil && err != nil: // closed before it
						return
					case err != nil || r.StatusCode != 200 || body != "x":
						t.Errorf("%v %q %v", r, body, err)
						return
					}
					if answered.Add(1); r.Close {
						return
					}
				}
			})
		}
		eventually(t, "requests flow", func() bool { return answered.Load() > 500 })
		ctx, cancel := context.WithTimeout(context.Background(), longWait)
		if err := p.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		cancel()
		group.Wait()
		if n := int64(len(s.seen())); n != answered.Load() {
			t.Errorf("the server has seen %d requests, and %d were answered", n, answered.Load())
		}
	}
}

// Connections to servers do not hold up the end, whatever they do.
func TestShutdownWithIdleServers(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Upstreams[0].Ready = 4
	p, addr := run(t, c, Options{Workers: 2})
	connect(t, addr).want(t, 200, "GET /x", "")
	eventually(t, "connections stand", func() bool { _, now := s.opened(); return now >= 8 })
	ctx, cancel := context.WithTimeout(context.Background(), longWait)
	defer cancel()
	begin := time.Now()
	if err := p.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if d := time.Since(begin); d > longWait/2 {
		t.Errorf("it took %v", d)
	}
	eventually(t, "they are closed", func() bool { _, now := s.opened(); return now == 0 })
}
