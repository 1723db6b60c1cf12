//go:build linux

package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
	"redoubt/proxy/rewrite"
)

// A server that closes an idle connection just as a request is on its way has
// nothing done for it, or has it done: nobody can tell. So what is safe to be
// done twice is sent once more, over a new connection, and nothing else is.
func TestRepeat(t *testing.T) {
	const body = "Content-Length: 2\r\n\r\nab"
	closes := func(c *scriptedConn) {}
	resets := func(c *scriptedConn) { c.reset() }
	says := func(text string) part { return func(c *scriptedConn) { c.say(text) } }
	for _, f := range []struct {
		request, rest string
		dies          part // what becomes of the connection with its second request
		status        int
		seen          int // how often the server sees that
	}{
		{"GET /2", "", closes, 200, 2},
		{"HEAD /2", "", closes, 200, 2},
		{"OPTIONS /2", "", closes, 200, 2},
		{"GET /2", "", resets, 200, 2},
		{"GET /2", body, closes, 502, 1},
		{"HEAD /2", body, closes, 502, 1},
		{"POST /2", body, closes, 502, 1},
		{"POST /2", body, resets, 502, 1},
		{"POST /2", "", closes, 502, 1},
		{"POST /2", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", closes, 502, 1},
		{"PUT /2", body, closes, 502, 1},
		{"DELETE /2", "", closes, 502, 1},
		{"PATCH /2", body, closes, 502, 1},
		{"TRACE /2", "", closes, 502, 1},
		{"get /2", "", closes, 502, 1},
		{"GET /2", "Upgrade: x\r\nConnection: upgrade\r\n", closes, 502, 1},
		// After a byte of an answer it has been done.
		{"GET /2", "", says("H"), 502, 1},
		{"GET /2", "", says("HTTP/1.1 102 Processing\r\n\r\n"), 502, 1},
		{"GET /2", "", says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"), cutAnswer, 1},
		{"GET /2", "", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), cutAnswer, 1},
		// One that says nothing in time may be busy with it.
		{"GET /2", "", func(c *scriptedConn) { c.untilClosed() }, 504, 1},
	} {
		name, _, _ := strings.Cut(f.rest, ":")
		t.Run(fmt.Sprintf("%s %s %d", f.request, name, f.status), func(t *testing.T) {
			t.Parallel()
			s := play(t, "", func(c *scriptedConn) {
				if c.n > 0 {
					c.serve("")
					return
				}
				c.request()
				c.say(answerOf("first"))
				if c.request() != nil {
					f.dies(c)
				}
			})
			c := settings(s.addr)
			c.Routes[0].Upgrade = true
			c.Timeouts.Response = 300 * time.Millisecond
			p, addr := run(t, c, Options{})
			client := connect(t, addr)
			client.want(t, 200, "GET /1", "")
			client.want(t, f.status, f.request, f.rest)
			if n := s.count(f.request); n != f.seen {
				t.Errorf("the server has seen it %d times, want %d: %q", n, f.seen, s.seen())
			}
			if n := metric(t, p, "upstream_repeated_total"); n != float64(f.seen-1) {
				t.Errorf("%v requests are counted as repeated", n)
			}
		})
	}
}

// What fails over the new connection as well has failed.
func TestRepeatOnlyOnce(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) {
		if c.n == 0 {
			c.request()
			c.say(answerOf("first"))
		}
		c.request()
	})
	_, addr := run(t, settings(s.addr), Options{})
	client := connect(t, addr)
	client.want(t, 200, "GET /1", "")
	client.want(t, 502, "GET /2", "")
	if n := s.count("GET /2"); n != 2 {
		t.Errorf("the server has seen it %d times, want 2: %q", n, s.seen())
	}
}

// All idle connections may be dead, as after a server's restart: a request is
// not sent over one after the other.
func TestRepeatNotOverIdle(t *testing.T) {
	all := make(chan struct{})
	s := play(t, "", func(c *scriptedConn) {
		for c.request() != nil {
			if c.n < 4 {
				<-all
			}
			c.say(answerOf("first"))
			if c.n < 4 {
				c.request()
				return
			}
		}
	})
	p, addr := run(t, settings(s.addr), Options{})
	var clients []*client
	for range 4 {
		c := connect(t, addr)
		c.send("GET /1", "")
		clients = append(clients, c)
	}
	eventually(t, "all are there", func() bool { return len(s.seen()) == 4 })
	close(all)
	for _, c := range clients {
		if r, _, err := c.answer("GET"); err != nil || r.StatusCode != 200 {
			t.Fatal(r, err)
		}
	}
	clients[0].want(t, 200, "GET /2", "")
	if n := s.count("GET /2"); n != 2 {
		t.Errorf("the server has seen it %d times, want 2", n)
	}
	if n := metric(t, p, "upstream_failures_total"); n != 0 {
		t.Errorf("%v failures are counted of a server that is well", n)
	}
}

// A connection that has been closed before a request comes is not used, even
// if nobody has looked at it since.
func TestClosedWhileIdle(t *testing.T) {
	for _, end := range []func(c *scriptedConn){func(c *scriptedConn) { c.Close() }, (*scriptedConn).reset} {
		s := play(t, "", func(c *scriptedConn) {
			c.request()
			c.say(answerOf("x"))
			end(c)
		})
		_, addr := run(t, settings(s.addr), Options{})
		client := connect(t, addr)
		for i := range 20 {
			client.want(t, 200, fmt.Sprintf("GET /%d", i), "")
			eventually(t, "the server has closed", func() bool { _, now := s.opened(); return now == 0 })
			client.want(t, 200, fmt.Sprintf("POST /%d", i), "Content-Length: 2\r\n\r\nab")
			eventually(t, "the server has closed", func() bool { _, now := s.opened(); return now == 0 })
		}
		if n := s.count("POST"); n != 20 {
			t.Errorf("the server has seen %d requests that it must see once each, of 20", n)
		}
	}
}

// Nor is one that closes between a request's arrival and the moment the loop
// looks at it.
func TestClosedMeanwhile(t *testing.T) {
	for _, end := range []func(c *scriptedConn){func(c *scriptedConn) { c.Close() }, (*scriptedConn).reset} {
		closes := make(chan struct{})
		s := play(t, "", func(c *scriptedConn) {
			if c.n > 0 {
				c.serve("x")
				return
			}
			c.request()
			c.say(answerOf("x"))
			<-closes
			end(c)
		})
		p, addr := run(t, settings(s.addr), Options{})
		client := connect(t, addr)
		client.want(t, 200, "GET /1", "")
		stopped, goOn := make(chan struct{}), make(chan struct{})
		p.workers[0].loop.Post(func() { close(stopped); <-goOn })
		<-stopped
		err := client.send("POST /2", "Content-Length: 2\r\n\r\nab")
		close(closes)
		eventually(t, "the server has closed", func() bool { _, now := s.opened(); return now == 0 })
		close(goOn)
		if err != nil {
			t.Fatal(err)
		}
		if r, _, err := client.answer("POST"); err != nil || r.StatusCode != 200 {
			t.Errorf("%v %v", r, err)
		}
		if n := s.count("POST /2"); n != 1 {
			t.Errorf("the server has seen it %d times", n)
		}
	}
}

// A connection that stands when its request turns out to be none is free again.
func TestNoTargetAfterDial(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	rules, err := rewrite.Compile(rewrite.Options{URL: []rewrite.Rule{{Find: "^/bad/", Put: "bad/"}}}, rewrite.Request)
	if err != nil {
		t.Skip(err)
	}
	c.Routes[0].Request = rules
	c.Upstreams[0].Idle = 100 * time.Millisecond
	p, addr := run(t, c, Options{})
	client := connect(t, addr)
	client.want(t, 500, "GET /bad/x", "")
	eventually(t, "the idle connection closes", func() bool { return p.plan.upstreams[0].origins[0].open.Load() == 0 })
	client.want(t, 200, "GET /good", "")
	if n := len(s.seen()); n != 1 {
		t.Errorf("the server has seen %q", s.seen())
	}
}

// A failure that the next server makes up for is none of the answer's.
func TestOneServerDown(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(nobody(t), s.addr)
	c.Upstreams[0].Balance = config.RoundRobin
	_, addr := run(t, c, Options{})
	client := connect(t, addr)
	for range 20 {
		client.want(t, 200, "POST /x", "Content-Length: 2\r\n\r\nab") // nothing of it has been sent
	}
	if n := s.count("POST /x"); n != 20 {
		t.Errorf("the server has seen %d requests, want 20", n)
	}
}
