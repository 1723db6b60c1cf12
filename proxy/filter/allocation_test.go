//go:build !race

package filter

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestNothingIsAllocated(t *testing.T) {
	o := Options{
		Connections: 10,
		Networks:    prefixes("198.51.100.0/24", "2001:db8:1::/48"),
		Rate:        Rate{Requests: 1000, Burst: 10},
		Methods:     []string{"TRACE"},
		Paths:       []string{"/.git/*", "/status"},
		Headers:     []Header{{"User-Agent", regexp.MustCompile("(?i)badbot|evil.*spider")}, {"X-Scanner", regexp.MustCompile("(a|b)+$")}},
	}
	listed := netip.MustParseAddr("2001:db8:1::5")
	for _, test := range []struct {
		want   string
		client netip.Addr
		conns  int
		lines  []string
	}{
		{"", someone, 1, []string{"GET /catalog/shoes?page=3 HTTP/1.1", "User-Agent: good", "X-Scanner: abc"}},
		{"", someone, 1, []string{"GET /a//b/%2e%2e/./c HTTP/1.1"}},
		{"", someone, 1, []string{"GET /" + strings.Repeat("a/../", 1600) + "%41 HTTP/1.1"}},
		{"", someone, 1, []string{"GET /" + strings.Repeat(`a;/..\`, 1300) + "%3b HTTP/1.1"}},
		{"connections", someone, 11, []string{"GET / HTTP/1.1"}},
		{"network 2001:db8:1::/48", listed, 1, []string{"GET / HTTP/1.1"}},
		{"method TRACE", someone, 1, []string{"TRACE / HTTP/1.1"}},
		{"path /status", someone, 1, []string{"GET /status HTTP/1.1"}},
		{"path /.git/*", someone, 1, []string{"GET /a%2fb/../%2egit/x HTTP/1.1"}},
		{"header User-Agent: (?i)badbot|evil.*spider", someone, 1, []string{"GET / HTTP/1.1", "User-Agent: an evil and bad SPIDER"}},
		{"header X-Scanner: (a|b)+$", someone, 1, []string{"GET / HTTP/1.1", "x-scanner: cabab"}},
	} {
		f := build(t, o)
		r := parse(t, test.lines...)
		now := time.Duration(0)
		got := ""
		allocations := testing.AllocsPerRun(200, func() {
			now += time.Second
			got = name(f.Check(test.client, test.conns, r, now))
		})
		if got != test.want || allocations != 0 {
			t.Errorf("%q: %q, %v allocations", test.lines, got, allocations)
		}
	}

	f, r := build(t, o), parse(t, "GET / HTTP/1.1")
	if n := testing.AllocsPerRun(200, func() { f.Check(someone, 1, r, 0) }); n != 0 || f.Rules()[3].Hits() == 0 {
		t.Errorf("rate: %v allocations, %d hits", n, f.Rules()[3].Hits())
	}

	o.DryRun = true
	f, r = build(t, o), parse(t, "TRACE /status HTTP/1.1", "User-Agent: badbot", "X-Scanner: a")
	if n := testing.AllocsPerRun(200, func() { f.Check(listed, 11, r, 0) }); n != 0 || f.Rules()[len(f.Rules())-1].DryHits() == 0 {
		t.Errorf("dry run: %v allocations", n)
	}

	c := NewConns()
	c.Add(someone)
	if n := testing.AllocsPerRun(200, func() { c.Add(someone); c.Add(listed); c.Remove(listed); c.Remove(someone) }); n != 0 {
		t.Errorf("connections: %v allocations", n)
	}
}
