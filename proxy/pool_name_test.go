//go:build linux

package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"
)

// names is a name server.
type names struct {
	answer atomic.Pointer[[]netip.Addr] // nil: it fails
	asked  atomic.Int32
}

func (n *names) lookup(context.Context, string, string) ([]netip.Addr, error) {
	n.asked.Add(1)
	if a := n.answer.Load(); a != nil {
		return *a, nil
	}
	return nil, errors.New("no such name")
}

func (n *names) set(addrs ...string) {
	var list []netip.Addr
	for _, a := range addrs {
		list = append(list, netip.MustParseAddr(a))
	}
	n.answer.Store(&list)
}

// named runs a proxy to shop.example, at a port.
func named(t *testing.T, n *names, port string, dial time.Duration) (*Proxy, string) {
	t.Helper()
	c := settings("shop.example:" + port)
	c.Upstreams[0].Dial = dial
	return runWith(t, c, Options{}, func(p *Proxy) { p.lookup = n.lookup })
}

func hasAddress(p *Proxy, first string) func() bool {
	return func() bool {
		a := p.plan.upstreams[0].origins[0].addresses()
		return len(a) > 0 && a[0].Addr().String() == first
	}
}

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// Where an address leads nowhere, the next is tried beside it, long before the
// first is given up.
func TestAddressesLeadNowhere(t *testing.T) {
	s := play(t, "127.0.0.4:0", func(c *scriptedConn) { c.serve("x") })
	port := portOf(t, s.addr)
	blackHole(t, "127.0.0.2:"+port)
	blackHole(t, "127.0.0.3:"+port)
	var n names
	n.set("127.0.0.2", "127.0.0.3", "127.0.0.4")
	p, addr := named(t, &n, port, time.Hour)
	eventually(t, "the name is known", hasAddress(p, "127.0.0.2"))
	client := connect(t, addr)
	client.want(t, 200, "POST /x", "Content-Length: 2\r\n\r\nab")
	if n := len(s.seen()); n != 1 {
		t.Errorf("the server has seen %d requests", n)
	}
	if n := metric(t, p, "upstream_failures_total"); n != 0 {
		t.Errorf("%v failures are counted, though none was waited for", n)
	}
}

// One that refuses is not waited for at all; what is left counts as one server.
func TestAddressesRefuse(t *testing.T) {
	s := play(t, "127.0.0.4:0", func(c *scriptedConn) { c.serve("x") })
	var n names
	n.set("127.0.0.2", "127.0.0.3", "127.0.0.4")
	p, addr := named(t, &n, portOf(t, s.addr), time.Second)
	eventually(t, "the name is known", hasAddress(p, "127.0.0.2"))
	client := connect(t, addr)
	client.want(t, 200, "POST /x", "Content-Length: 2\r\n\r\nab")
	client.want(t, 200, "GET /x", "")
	if n := len(s.seen()); n != 2 {
		t.Errorf("the server has seen %d requests", n)
	}
	n.set("127.0.0.2", "127.0.0.3")
	if err := p.Reload(p.plan.config); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the name is known anew", func() bool { return len(p.plan.upstreams[0].origins[0].addresses()) == 2 })
	connect(t, addr).want(t, 502, "GET /x", "")
}

// A client that has gone while its connection is being made leaves nothing.
func TestClientGoneWhileDialling(t *testing.T) {
	s := play(t, "127.0.0.4:0", func(c *scriptedConn) { c.serve("x") })
	port := portOf(t, s.addr)
	blackHole(t, "127.0.0.2:"+port)
	blackHole(t, "127.0.0.3:"+port)
	var n names
	n.set("127.0.0.2", "127.0.0.3")
	p, addr := named(t, &n, port, 700*time.Millisecond)
	eventually(t, "the name is known", hasAddress(p, "127.0.0.2"))
	for _, rest := range []string{"", "Content-Length: 2\r\n\r\nab", "Content-Length: 20\r\n\r\nab"} {
		c := connect(t, addr)
		c.send("POST /x", rest)
		eventually(t, "it is under way", func() bool { return p.plan.upstreams[0].origins[0].open.Load() > 0 })
		c.SetLinger(0)
		c.Close()
		eventually(t, "nobody is there", func() bool { return p.group.Conns() == 0 })
	}
	if n := metric(t, p, `requests_total{route="all",code="499"}`); n < 1 {
		t.Errorf("%v requests are counted whose client has gone", n)
	}
}

// A server that has moved gets no requests at its old place.
func TestAddressesChange(t *testing.T) {
	serve := func(c *scriptedConn) { c.serve("x") }
	old := play(t, "127.0.0.2:0", serve)
	port := portOf(t, old.addr)
	next := play(t, "127.0.0.3:"+port, serve)
	var n names
	n.set("127.0.0.2")
	p, addr := named(t, &n, port, time.Second)
	eventually(t, "the name is known", hasAddress(p, "127.0.0.2"))
	client := connect(t, addr)
	client.want(t, 200, "GET /x", "")
	n.set("127.0.0.3")
	if err := p.Reload(p.plan.config); err != nil { // asks at once
		t.Fatal(err)
	}
	eventually(t, "the name is known anew", hasAddress(p, "127.0.0.3"))
	for range 5 {
		client.want(t, 200, "GET /x", "")
	}
	if a, b := len(old.seen()), len(next.seen()); a != 1 || b != 5 {
		t.Errorf("the old server has seen %d requests, the new one %d", a, b)
	}
	eventually(t, "the old connection closes", func() bool { _, now := old.opened(); return now == 0 })
	// A name server that fails changes nothing.
	n.answer.Store(nil)
	asked := n.asked.Load()
	if err := p.Reload(p.plan.config); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is asked", func() bool { return n.asked.Load() > asked })
	client.want(t, 200, "GET /x", "")
}

// A name that has no address yet may have one soon.
func TestNoAddressYet(t *testing.T) {
	t.Parallel() // it takes two seconds until the name server is asked again
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	var n names
	p, addr := named(t, &n, portOf(t, s.addr), time.Second)
	eventually(t, "the name server is asked", func() bool { return n.asked.Load() > 0 })
	client := connect(t, addr)
	client.want(t, 502, "GET /x", "")
	client.want(t, 502, "GET /x", "")
	n.set("127.0.0.1")
	eventually(t, "the name is known", hasAddress(p, "127.0.0.1"))
	client.want(t, 200, "GET /x", "")
}
