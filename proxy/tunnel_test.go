//go:build linux

package proxy

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/netloop"
)

const (
	upgradeFields = "Connection: upgrade\r\nUpgrade: echo\r\n"
	switched      = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"
)

// switches is a server that makes each connection a tunnel, which p then has.
func switches(p part) part {
	return func(c *scriptedConn) {
		if r := c.request(); r != nil && r.Header.Get("Upgrade") == "echo" && c.say(switched) {
			p(c)
		}
	}
}

// echo gives back what comes, and the end when it comes.
func echo(c *scriptedConn) { io.Copy(c, c.in) }

// upgrade makes a client's connection a tunnel.
func upgrade(t testing.TB, addr, behind string) *client {
	t.Helper()
	c := connect(t, addr)
	c.send("GET /tunnel", upgradeFields+"\r\n"+behind)
	return c.switched(t)
}

// switched reads the answer that makes it one.
func (c *client) switched(t testing.TB) *client {
	t.Helper()
	for first := true; ; first = false {
		line, err := c.in.ReadString('\n')
		if err != nil || first && !strings.HasPrefix(line, "HTTP/1.1 101 ") {
			t.Fatalf("no tunnel: %q %v", line, err)
		}
		if line == "\r\n" {
			return c
		}
	}
}

// echoes expects what it says to come back.
func (c *client) echoes(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	c.expect(t, text)
}

func (c *client) expect(t testing.TB, text string) {
	t.Helper()
	b := make([]byte, len(text))
	if n, err := io.ReadFull(c.in, b); err != nil || string(b) != text {
		t.Fatalf("%q %v, want %q", b[:n], err, text)
	}
}

// ends expects the end.
func (c *client) ends(t testing.TB) {
	t.Helper()
	if b, err := c.in.ReadByte(); err != io.EOF {
		t.Fatalf("%q %v, want the end", b, err)
	}
}

// tunnelTo runs a proxy that lets tunnels be.
func tunnelTo(t *testing.T, p part) (*Proxy, string, *scripted) {
	t.Helper()
	s := play(t, "", p)
	c := settings(s.addr)
	c.Routes[0].Upgrade = true
	proxy, addr := run(t, c, Options{})
	return proxy, addr, s
}

func TestTunnel(t *testing.T) {
	p, addr, s := tunnelTo(t, switches(echo))
	c := upgrade(t, addr, "")
	for _, text := range []string{"a", "bc", strings.Repeat("d", 1<<20)} {
		go io.WriteString(c, text)
		c.expect(t, text)
	}
	if n := metric(t, p, "tunnels"); n != 1 {
		t.Errorf("%v tunnels are counted", n)
	}
	if n := metric(t, p, "upstream_connections"); n != 1 {
		t.Errorf("%v connections to the server are counted", n)
	}
	c.CloseWrite() // the server hears of it, and says its end as well
	c.ends(t)
	eventually(t, "the tunnel is over", func() bool { return metric(t, p, "tunnels") == 0 })
	if n := metric(t, p, `requests_total{route="all",code="101"}`); n != 1 || len(s.seen()) != 1 {
		t.Errorf("%v requests are counted, and %q seen", n, s.seen())
	}
}

// What comes right behind either head belongs to the tunnel.
func TestTunnelEarlyBytes(t *testing.T) {
	_, addr, _ := tunnelTo(t, func(c *scriptedConn) {
		c.request()
		c.say(switched + "hello ")
		echo(c)
	})
	c := upgrade(t, addr, "early ")
	c.expect(t, "hello early ")
	c.echoes(t, "late")
}

// Each direction ends by itself.
func TestTunnelHalfClosed(t *testing.T) {
	rest := strings.Repeat("x", 3<<20)
	_, addr, _ := tunnelTo(t, switches(func(c *scriptedConn) {
		if b, err := io.ReadAll(c.in); err == nil { // to the client's end
			c.say(string(b) + rest)
		}
	}))
	c := upgrade(t, addr, "")
	io.WriteString(c, "all")
	c.CloseWrite()
	c.expect(t, "all"+rest)
	c.ends(t)

	heard := make(chan string, 1)
	_, addr, _ = tunnelTo(t, switches(func(c *scriptedConn) {
		c.say("bye")
		c.CloseWrite()
		b, _ := io.ReadAll(c.in)
		heard <- string(b)
	}))
	c = upgrade(t, addr, "")
	c.expect(t, "bye")
	c.ends(t)
	io.WriteString(c, rest)
	c.CloseWrite()
	if got := <-heard; got != rest {
		t.Errorf("the server has heard %d bytes, of %d", len(got), len(rest))
	}
}

// CloseWrite says the end, and leaves the connection open.
func (c *scriptedConn) CloseWrite() { c.Conn.(interface{ CloseWrite() error }).CloseWrite() }

// A reset goes through as one: what is missing must not look whole.
func TestTunnelReset(t *testing.T) {
	p, addr, s := tunnelTo(t, switches(func(c *scriptedConn) {
		c.say("some")
		if b, _ := c.in.ReadByte(); b == 'r' {
			c.reset()
		}
		c.untilClosed()
	}))
	c := upgrade(t, addr, "")
	c.expect(t, "some")
	io.WriteString(c, "r")
	if _, err := c.in.ReadByte(); err == nil || err == io.EOF {
		t.Errorf("the server's reset is %v to the client", err)
	}
	c = upgrade(t, addr, "")
	c.expect(t, "some")
	c.SetLinger(0)
	c.Close()
	eventually(t, "the server's connection ends", func() bool { _, now := s.opened(); return now == 0 })
	eventually(t, "no tunnel is left", func() bool { return metric(t, p, "tunnels") == 0 })
}

// A tunnel on which nothing moves ends; one on which something does, does not.
func TestTunnelIdle(t *testing.T) {
	s := play(t, "", switches(echo))
	c := settings(s.addr)
	c.Routes[0].Upgrade = true
	c.Timeouts.Tunnel = 300 * time.Millisecond
	_, addr := run(t, c, Options{})
	client := upgrade(t, addr, "")
	begin := time.Now()
	for time.Since(begin) < 2*c.Timeouts.Tunnel {
		client.echoes(t, "x")
	}
	client.ends(t)
	eventually(t, "the server's connection ends", func() bool { _, now := s.opened(); return now == 0 })
}

// Who does not read stops who sends, both ways.
func TestTunnelDoesNotRead(t *testing.T) {
	for _, up := range []bool{false, true} {
		var written atomic.Int64
		over := make(chan struct{})
		s := play(t, "", switches(func(c *scriptedConn) {
			if up {
				<-over
				return
			}
			io.Copy(counting{c, &written}, io.LimitReader(zeros{}, 1<<30))
		}))
		c := settings(s.addr)
		c.Routes[0].Upgrade = true
		c.Timeouts.Write, c.Timeouts.Tunnel = longWait, longWait
		p, addr := run(t, c, Options{})
		before := live(p)
		client := upgrade(t, addr, "")
		if up {
			go io.Copy(counting{client, &written}, io.LimitReader(zeros{}, 1<<30))
		}
		eventually(t, "it begins", func() bool { return written.Load() > 0 })
		if n := stalled(&written); n > kernelKeeps {
			t.Errorf("up %t: %d bytes could be sent", up, n)
		}
		if n := live(p) - before; n > weKeep {
			t.Errorf("up %t: the tunnel holds %d bytes", up, n)
		}
		client.SetLinger(0)
		client.Close()
		close(over)
	}
}

// Without the route's word there is no tunnel, and the server does not hear of
// the wish.
func TestTunnelNotAllowed(t *testing.T) {
	var asked atomic.Value
	s := play(t, "", func(c *scriptedConn) {
		r := c.request()
		asked.Store(r.Header.Get("Upgrade") + r.Header.Get("Connection"))
		c.say(answerOf("plain"))
		c.untilClosed()
	})
	_, addr := run(t, settings(s.addr), Options{})
	r, body, err := connect(t, addr).ask("GET /x", upgradeFields)
	if err != nil || r.StatusCode != 200 || body != "plain" || asked.Load() != "" {
		t.Errorf("%v %q %v; the server was asked for %q", r, body, err, asked.Load())
	}
}

// A server may switch to nothing that it was not asked for; and it may refuse.
func TestTunnelRefused(t *testing.T) {
	_, addr, _ := tunnelTo(t, func(c *scriptedConn) {
		switch r := c.request(); {
		case r == nil:
		case r.URL.Path == "/other":
			c.say(strings.ReplaceAll(switched, "echo", "other"))
			c.untilClosed()
		default:
			c.serveAfter(answerOf("no"))
		}
	})
	connect(t, addr).want(t, 502, "GET /other", upgradeFields)
	c := connect(t, addr)
	if r, body, err := c.ask("GET /x", upgradeFields); err != nil || r.StatusCode != 200 || body != "no" {
		t.Errorf("%v %q %v", r, body, err)
	}
	if r, body, err := c.ask("GET /x", ""); err != nil || r.StatusCode != 200 || body != "x" {
		t.Errorf("the next request: %v %q %v", r, body, err)
	}
}

// serveAfter gives one answer more than serve.
func (c *scriptedConn) serveAfter(first string) {
	if c.say(first) {
		c.serve("x")
	}
}

// Whoever shuts down says how long tunnels may go on; then they are cut.
func TestTunnelShutdown(t *testing.T) {
	p, addr, s := tunnelTo(t, switches(echo))
	c := upgrade(t, addr, "")
	c.echoes(t, "before")
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Shutdown(ctx) }()
	eventually(t, "the end has begun", p.group.Draining)
	onLoop(p.workers[0], func() {})
	for range 10 {
		c.echoes(t, "meanwhile")
	}
	cancel()
	if err := <-ended; !errors.Is(err, netloop.ErrCut) {
		t.Errorf("Shutdown returns %v", err)
	}
	if _, err := c.in.ReadByte(); err == nil || err == io.EOF {
		t.Errorf("the client is told %v: a cut must not look like an end", err)
	}
	eventually(t, "the server's connection ends", func() bool { _, now := s.opened(); return now == 0 })
}
