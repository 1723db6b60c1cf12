//go:build !race

package filter

import (
	"net/netip"
	"runtime"
	"testing"
	"time"
)

func TestAMillionClients(t *testing.T) {
	if testing.Short() {
		t.Skip("millions of requests")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	f := build(t, Options{Rate: Rate{Requests: 1, Burst: 2}})
	r := parse(t, "GET / HTTP/1.1")
	greedy := netip.MustParseAddr("192.0.2.1")
	let := 0
	const clients, step = 1_500_000, 2 * time.Microsecond
	for i := range uint32(clients) {
		now := time.Duration(i) * step // 3 s in all
		c := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		if v := f.Check(c, 1, r, now); isRefused(v) {
			t.Fatalf("%v, which is new: %+v", c, v)
		}
		if i%100 == 0 && !isRefused(f.Check(greedy, 1, r, now)) {
			let++
		}
	}
	if grown := heap() - before; grown > 17<<20 {
		t.Errorf("%d bytes", grown)
	}
	// 2 at once, 1 a second for 3 s. At up to 500,000 a second its set is filled
	// now and then, and then it is the last to go.
	if let < 4 || let > 5 {
		t.Errorf("%d of the greedy client's requests were let in", let)
	}
	runtime.KeepAlive(f)
}
