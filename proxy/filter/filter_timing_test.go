package filter

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A check of a request that is let in, by what there is to look at.
func BenchmarkCheck(b *testing.B) {
	var networks []netip.Prefix
	for i := range uint32(10_000) {
		networks = append(networks, netip.PrefixFrom(netip.AddrFrom4([4]byte{100, byte(i >> 8), byte(i), 0}), 24))
	}
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("/p%d/exact", i), fmt.Sprintf("/p%d/below/*", i))
	}
	agent := regexp.MustCompile("(?i)badbot")
	lines := []string{"GET /assets/app/main.4f2a9c.js?v=20240611 HTTP/1.1", "Connection: keep-alive",
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36",
		"Accept: */*", "Sec-Fetch-Site: same-origin", "Accept-Encoding: gzip, deflate, br, zstd"}
	unusual := []string{"GET /assets//app/%2e%2e/main.js HTTP/1.1"}
	hostile := []string{"GET /" + strings.Repeat("a/../", 1600) + " HTTP/1.1"}
	for _, test := range []struct {
		name  string
		o     Options
		lines []string
	}{
		{"nothing", Options{}, lines},
		{"networks=10000", Options{Networks: networks}, lines},
		{"methods=2", Options{Methods: []string{"TRACE", "TRACK"}}, lines},
		{"paths=600", Options{Paths: many}, lines},
		{"paths=600/unusual", Options{Paths: many}, unusual},
		{"paths=600/hostile", Options{Paths: many}, hostile},
		{"header=known", Options{Headers: []Header{{"User-Agent", agent}}}, lines},
		{"header=other", Options{Headers: []Header{{"X-Scanner", agent}}}, lines},
		{"rate", Options{Rate: Rate{Requests: 1e6, Burst: 1e6}}, lines},
	} {
		b.Run(test.name, func(b *testing.B) {
			f := build(b, test.o)
			r := parse(b, test.lines...)
			b.ReportAllocs()
			now := time.Duration(0)
			for b.Loop() {
				now += time.Microsecond
				if isRefused(f.Check(someone, 1, r, now)) {
					b.Fatal("refused")
				}
			}
		})
	}
}

// Paths as long as they may be, of which every reading is tried.
func BenchmarkWorstPath(b *testing.B) {
	f := build(b, Options{Paths: []string{"/.git/*", "/status"}})
	for _, part := range []string{"a/../", `a\..\`, "a/..;/", "/.", ";", "%2e%2e%2f", "a%5c%2e%2e;%5c", "a;/%3b//", "abcdefghijkl/"} {
		path := "/" + strings.Repeat(part, 8170/len(part)) + `%2e;/%5c\..`
		b.Run(part, func(b *testing.B) {
			r := parse(b, "GET "+path+" HTTP/1.1")
			for b.Loop() {
				f.Check(someone, 1, r, 0)
			}
		})
	}
}

// Rates of many clients, whose sets are not in the cache, on all processors.
func BenchmarkRate(b *testing.B) {
	for _, clients := range []uint64{1, 1000, 1_000_000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			l := newLimiter(time.Millisecond, time.Second, limiterSets)
			b.RunParallel(func(p *testing.PB) {
				now, n := time.Duration(0), uint64(0)
				for p.Next() {
					now += time.Microsecond
					n = n*6364136223846793005 + 1442695040888963407
					l.take(n>>32%clients, now)
				}
			})
		})
	}
}

func BenchmarkConns(b *testing.B) {
	c := NewConns()
	b.ReportAllocs()
	for b.Loop() {
		c.Add(someone)
		c.Remove(someone)
	}
}
