package filter

import (
	"net/netip"
	"sync"
	"testing"
)

func TestConns(t *testing.T) {
	c := NewConns()
	v4, mapped := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::ffff:192.0.2.1")
	one, two := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	for i, a := range []netip.Addr{v4, mapped, v4} {
		if n := c.Add(a); n != i+1 {
			t.Errorf("%v is connection %d, not %d", a, n, i+1)
		}
	}
	if c.Add(one); c.Add(two) != 2 || c.Len() != 2 {
		t.Errorf("%d clients", c.Len())
	}
	c.Remove(mapped)
	if n := c.Add(v4); n != 3 {
		t.Errorf("%d open", n)
	}
	c.Remove(one)
	c.Remove(one)
	if c.Len() != 1 || c.Add(two) != 1 {
		t.Errorf("%d clients", c.Len())
	}
}

func TestConnsAtOnce(t *testing.T) {
	c := NewConns()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 20_000 {
				a := netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 100)})
				if n := c.Add(a); n < 1 || n > 8 {
					t.Errorf("%d open", n)
				}
				c.Remove(a)
			}
		})
	}
	all.Wait()
	if c.Len() != 0 {
		t.Errorf("%d clients are left", c.Len())
	}
}

func TestRemoveOfNothing(t *testing.T) {
	c := NewConns()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a connection was closed that had not been opened")
			}
		}()
		c.Remove(someone)
	}()
	if c.Add(someone) != 1 { // the lock is free, too
		t.Error("counted")
	}
}
