//go:build linux

package proxy

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/proxy/config"
)

// local is an address of this machine that is the n-th server's.
func local(n int) string { return fmt.Sprintf("127.0.0.%d:0", n+1) }

// Requests go around.
func TestRoundRobin(t *testing.T) {
	var servers []*scripted
	var names []string
	for i := range 3 {
		s := play(t, local(i), func(c *scriptedConn) { c.serve("x") })
		servers, names = append(servers, s), append(names, s.addr)
	}
	_, addr := run(t, settings(names...), Options{})
	c := connect(t, addr)
	for i := range 30 {
		c.want(t, 200, fmt.Sprintf("GET /%d", i), "")
	}
	for _, s := range servers {
		if n := len(s.seen()); n != 10 {
			t.Errorf("%s has seen %d requests of 30", s.addr, n)
		}
		if ever, _ := s.opened(); ever != 1 {
			t.Errorf("%s has seen %d connections of one client", s.addr, ever)
		}
	}
}

// Requests go to the server that has the fewest.
func TestLeastConnections(t *testing.T) {
	release := make(chan struct{})
	var servers []*scripted
	var names []string
	for i := range 3 {
		s := play(t, local(i), func(c *scriptedConn) {
			for {
				r := c.request()
				if r == nil {
					return
				}
				if r.URL.Path == "/slow" {
					<-release
				}
				c.say(answerOf("x"))
			}
		})
		servers, names = append(servers, s), append(names, s.addr)
	}
	c := settings(names...)
	c.Upstreams[0].Balance = config.LeastConnections
	_, addr := run(t, c, Options{})
	var slow []*client
	for i := range 5 { // to the three, and then to two of them a second
		c := connect(t, addr)
		c.send("GET /slow", "")
		slow = append(slow, c)
		eventually(t, "it is there", func() bool { return total(servers, "GET /slow") == i+1 })
	}
	for _, s := range servers {
		if n := s.count("GET /slow"); n > 2 || n < 1 {
			t.Errorf("%s has %d of 5 requests", s.addr, n)
		}
	}
	quick := connect(t, addr)
	for range 10 {
		quick.want(t, 200, "GET /quick", "")
	}
	for _, s := range servers {
		if s.count("GET /slow") == 2 && s.count("GET /quick") > 0 {
			t.Errorf("%s has two requests and gets more: %q", s.addr, s.seen())
		}
	}
	close(release)
	for _, c := range slow {
		if r, _, err := c.answer("GET"); err != nil || r.StatusCode != 200 {
			t.Error(r, err)
		}
	}
}

func total(servers []*scripted, prefix string) (n int) {
	for _, s := range servers {
		n += s.count(prefix)
	}
	return n
}

// Of an upstream whose servers all fail none is given up: the first that
// is there again is found by the next request.
func TestAllServersFail(t *testing.T) {
	names := []string{nobody(t), nobody(t)}
	c := settings(names...)
	c.Upstreams[0].Fails, c.Upstreams[0].Retry = 1, time.Hour
	p, addr := run(t, c, Options{})
	client := connect(t, addr)
	for range 5 {
		client.want(t, 502, "GET /x", "")
	}
	for _, o := range p.plan.upstreams[0].origins {
		if o.rested(p.group.Clock()) {
			t.Errorf("%s is not taken out", o.name)
		}
	}
	s := play(t, names[1], func(c *scriptedConn) { c.serve("x") })
	client.want(t, 200, "GET /x", "")
	// It is the only one now.
	failures := metric(t, p, "upstream_failures_total")
	for range 10 {
		client.want(t, 200, "GET /x", "")
	}
	if n := metric(t, p, "upstream_failures_total"); n != failures {
		t.Errorf("the server that is down was tried %v times more", n-failures)
	}
	if n := len(s.seen()); n != 11 {
		t.Errorf("the server has seen %d requests, want 11", n)
	}
}

// A server is asked whether it is well, and gets no requests while it is not.
func TestHealthCheck(t *testing.T) {
	var well [2]atomic.Bool
	var servers []*scripted
	var names []string
	for i := range well {
		well[i].Store(true)
		s := play(t, local(i), func(c *scriptedConn) {
			for {
				switch r := c.request(); {
				case r == nil:
					return
				case r.URL.Path == "/health" && !well[i].Load():
					c.say("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
				default:
					c.say(answerOf("x"))
				}
			}
		})
		servers, names = append(servers, s), append(names, s.addr)
	}
	c := settings(names...)
	c.Upstreams[0].Fails = 2
	c.Upstreams[0].Health = &config.Health{Path: "/health", Every: 5 * time.Millisecond, Timeout: 10 * time.Second}
	p, addr := run(t, c, Options{})
	client := connect(t, addr)
	origins := p.plan.upstreams[0].origins
	becomes := func(i int, is bool) {
		t.Helper()
		well[i].Store(is)
		eventually(t, "the check has found out", func() bool { return origins[i].sick.Load() == !is })
	}
	asked := func(want ...int) { // of 10 requests
		t.Helper()
		var before [2]int
		for i, s := range servers {
			before[i] = s.count("GET /x")
		}
		for range 10 {
			client.want(t, 200, "GET /x", "")
		}
		for i, s := range servers {
			if n := s.count("GET /x") - before[i]; n != want[i] {
				t.Errorf("%s gets %d of 10 requests, want %d", s.addr, n, want[i])
			}
		}
	}
	asked(5, 5)
	becomes(0, false)
	asked(0, 10)
	if p.Healthy() != nil {
		t.Error("a proxy with a server that is well calls itself unhealthy")
	}
	becomes(1, false)
	r, _, err := client.ask("GET /x", "")
	if err != nil || r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("with all servers sick: %v %v", r, err)
	}
	if p.Healthy() == nil {
		t.Error("a proxy with no server that is well calls itself healthy")
	}
	becomes(0, true)
	asked(10, 0)
	becomes(1, true)
	asked(5, 5)
}

// A server has no more connections than it may have.
func TestConnectionsFull(t *testing.T) {
	release := make(chan struct{})
	hold := func(c *scriptedConn) {
		for c.request() != nil {
			<-release
			c.say(answerOf("x"))
		}
	}
	servers := []*scripted{play(t, local(0), hold), play(t, local(1), hold)}
	c := settings(servers[0].addr, servers[1].addr)
	c.Upstreams[0].Connections = 2
	_, addr := run(t, c, Options{})
	var clients []*client
	for i := range 4 {
		c := connect(t, addr)
		c.send("GET /x", "")
		clients = append(clients, c)
		eventually(t, "it is there", func() bool { return total(servers, "GET") == i+1 })
	}
	r, _, err := connect(t, addr).ask("GET /x", "")
	if err != nil || r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
		t.Errorf("with all connections taken: %v %v", r, err)
	}
	close(release)
	for _, c := range clients {
		if r, _, err := c.answer("GET"); err != nil || r.StatusCode != 200 {
			t.Error(r, err)
		}
		c.want(t, 200, "GET /x", "")
	}
	for _, s := range servers {
		if ever, _ := s.opened(); ever != 2 {
			t.Errorf("%s has had %d connections, of 2", s.addr, ever)
		}
	}
}

// A connection that has brought its last answer makes room for another, though
// the server has not closed it.
func TestConnectionsFreeAtOnce(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) {
		c.request()
		c.say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
		c.untilClosed()
	})
	c := settings(s.addr)
	c.Upstreams[0].Connections = 1
	_, addr := run(t, c, Options{})
	client := connect(t, addr)
	for range 10 {
		client.want(t, 200, "GET /x", "")
	}
}

// As many connections are kept as may be.
func TestKeepalive(t *testing.T) {
	for _, keep := range []int{0, 2} {
		var waiting atomic.Int32
		release := make(chan struct{})
		s := play(t, "", func(c *scriptedConn) {
			for c.request() != nil {
				waiting.Add(1)
				<-release
				c.say(answerOf("x"))
			}
		})
		c := settings(s.addr)
		c.Upstreams[0].Keepalive = keep
		_, addr := run(t, c, Options{})
		var clients []*client
		for range 5 {
			c := connect(t, addr)
			c.send("GET /x", "")
			clients = append(clients, c)
		}
		eventually(t, "all are there", func() bool { return waiting.Load() == 5 })
		close(release)
		for _, c := range clients {
			if r, _, err := c.answer("GET"); err != nil || r.StatusCode != 200 {
				t.Error(r, err)
			}
		}
		eventually(t, "the others are closed", func() bool { _, now := s.opened(); return now == keep })
		for range 10 {
			clients[0].want(t, 200, "GET /x", "")
		}
		want := 5
		if keep == 0 {
			want += 10
		}
		if ever, _ := s.opened(); ever != want {
			t.Errorf("keepalive %d: %d connections, want %d", keep, ever, want)
		}
	}
}

// Connections are there before the first request, and close when nobody has
// needed them for long.
func TestReadyAndIdle(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Upstreams[0].Ready = 3
	c.Upstreams[0].Idle = 500 * time.Millisecond
	_, addr := run(t, c, Options{})
	eventually(t, "connections are made", func() bool { ever, _ := s.opened(); return ever == 3 })
	eventually(t, "they close", func() bool { _, now := s.opened(); return now == 0 })
	if n := len(s.seen()); n != 0 {
		t.Errorf("%d requests that nobody has made: %q", n, s.seen())
	}
	connect(t, addr).want(t, 200, "POST /x", "Content-Length: 2\r\n\r\nab")
	eventually(t, "the new one closes as well", func() bool { ever, now := s.opened(); return ever == 4 && now == 0 })
}

// A request takes a connection that was made before.
func TestReadyIsUsed(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Upstreams[0].Ready = 3
	p, addr := run(t, c, Options{})
	pool := p.plan.upstreams[0].origins[0].pools[0]
	eventually(t, "connections stand", func() (ok bool) {
		onLoop(p.workers[0], func() { ok = len(pool.idle) == 3 })
		return ok
	})
	client := connect(t, addr)
	for range 5 {
		client.want(t, 200, "GET /x", "")
	}
	if ever, _ := s.opened(); ever != 3 {
		t.Errorf("%d connections, want the 3", ever)
	}
}
