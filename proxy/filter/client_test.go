package filter

import (
	"net/netip"
	"testing"
	"time"
)

func TestWhoIsAClient(t *testing.T) {
	groups := [][]string{ // each is one client
		{"192.0.2.1", "::ffff:192.0.2.1", "::ffff:192.0.2.1%eth0"},
		{"192.0.2.2"},
		{"0.0.0.0"},
		{"255.255.255.255"},
		{"::1", "::", "::192.0.2.1"},
		{"2001:db8::1", "2001:db8::ffff:0:0:1", "2001:db8::1%eth0"},
		{"2001:db8:0:1::1"},
		{"0:0:c000:201::"},
		{"fe80::1", "fe80::2%eth0"},
		{"ff00:0:c000:201::1", "ff00::1", "ff02::1", "ffff:ffff:ffff:ffff::", ""}, // nobody's
	}
	seen := map[uint64]int{}
	for i, group := range groups {
		for _, s := range group {
			a, _ := netip.ParseAddr(s)
			key := keyOf(a)
			if j, ok := seen[key]; ok && i != j {
				t.Errorf("%q is taken for one of %q", s, groups[j])
			}
			seen[key] = i
		}
	}
	if len(seen) != len(groups) {
		t.Errorf("%d keys for %d clients", len(seen), len(groups))
	}
}

// Client 0 looks like a place that nobody has had.
func TestTheLoopbackIsLimited(t *testing.T) {
	l := newLimiter(time.Second, 2*time.Second, 1)
	for i := range uint64(setSize - 1) {
		if i == 3 {
			l.take(0, 0)
			l.take(0, 0)
			continue
		}
		l.take(100+i, 0)
	}
	l.take(200, 0)
	if l.take(0, 0) == 0 {
		t.Error("::1 was forgotten")
	}
}
