//go:build linux

package proxy

import (
	"net/netip"
	"sync"
	"testing"

	"redoubt/proxy/filter"
)

// hold keeps a worker's loop busy until the returned function is called: what
// happens between is there all at once.
func hold(t *testing.T, w *worker) (release func()) {
	held, goOn := make(chan struct{}), make(chan struct{})
	w.loop.Post(func() { close(held); <-goOn })
	<-held
	release = sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(release) // also of a test that has failed
	return release
}

var localhost = netip.MustParsePrefix("127.0.0.0/8")

// A client that resets its connection before anybody has looked at it is judged
// by its address all the same: its request may be read.
func TestAddressAfterReset(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Block = &filter.Options{Networks: []netip.Prefix{localhost}}
	p, addr := run(t, c, Options{})
	release := hold(t, p.workers[0])
	const n = 20
	for range n {
		gone := connect(t, addr)
		if err := gone.send("POST /secret", "Content-Length: 0\r\n"); err != nil {
			t.Fatal(err)
		}
		gone.SetLinger(0)
		gone.Close()
	}
	last := connect(t, addr)
	release()
	last.want(t, 403, "GET /last", "") // it comes behind all others
	if seen := s.seen(); len(seen) != 0 {
		t.Errorf("the server has seen %q", seen)
	}
	eventually(t, "all have been judged", func() bool { return metric(t, p, `requests_total{route="",code="403"}`) == n+1 })
}

// The connections of who speaks for others are not one client's.
func TestConnectionsOfTheTrusted(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		s := play(t, "", func(c *scriptedConn) { c.serve("x") })
		c := settings(s.addr)
		c.Block = &filter.Options{Connections: 2}
		want := 429
		if trusted {
			c.Trust = []netip.Prefix{localhost}
			want = 200
		}
		p, addr := run(t, c, Options{})
		for range 5 {
			connect(t, addr)
		}
		eventually(t, "they stand", func() bool { return p.group.Conns() == 5 })
		for _, lines := range []string{"", "X-Forwarded-For: 192.0.2.77\r\n"} {
			if got := connect(t, addr).status(t, "GET /", lines); got != want {
				t.Errorf("trusted %t, %q: %d, want %d", trusted, lines, got, want)
			}
		}
	}
}

// Addresses are read in all forms that are in use, and without zones, which no
// network has.
func TestParseAddr(t *testing.T) {
	for _, c := range []struct{ in, want string }{ // "": none
		{"192.0.2.1", "192.0.2.1"},
		{"192.0.2.1:80", "192.0.2.1"},
		{"2001:db8::1", "2001:db8::1"},
		{"[2001:db8::1]", "2001:db8::1"},
		{"[2001:db8::1]:80", "2001:db8::1"},
		{"::ffff:192.0.2.1", "192.0.2.1"},
		{"[::ffff:192.0.2.1]", "192.0.2.1"},
		{"[::ffff:192.0.2.1]:80", "192.0.2.1"},
		{"fe80::1%eth0", "fe80::1"},
		{"[fe80::1%eth0]:80", "fe80::1"},
		{"[fe80::1%eth0]", "fe80::1"},
		{"::ffff:192.0.2.1%eth0", "192.0.2.1"},
		{"", ""}, {"unknown", ""}, {"_hidden", ""}, {"192.0.2", ""}, {"192.0.2.256", ""}, {"192.0.2.01", ""}, {"192.0.2.1:", ""},
		{"192.0.2.1:99999", ""}, {"[]", ""}, {"[", ""}, {"[2001:db8::1", ""}, {"[192.0.2.1", ""}, {" 192.0.2.1", ""}, {"192.0.2.1 ", ""},
	} {
		a, ok := parseAddr([]byte(c.in))
		got := ""
		if ok {
			got = a.String()
		}
		if got != c.want {
			t.Errorf("%q is read as %q, want %q", c.in, got, c.want)
		}
	}
}

// A zone keeps nobody out of a network that is blocked.
func TestBlockedWithAZone(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Trust = []netip.Prefix{localhost}
	c.Block = &filter.Options{Networks: []netip.Prefix{netip.MustParsePrefix("fe80::/10")}}
	_, addr := run(t, c, Options{})
	client := connect(t, addr)
	for _, a := range []string{"fe80::1", "fe80::1%x", "[fe80::1%x]:80", "[fe80::1%x]"} {
		client.want(t, 403, "GET /", "X-Forwarded-For: "+a+"\r\n")
	}
	client.want(t, 200, "GET /", "X-Forwarded-For: 2001:db8::1\r\n")
}
