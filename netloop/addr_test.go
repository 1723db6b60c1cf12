//go:build linux

package netloop

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Addresses come back from the system's form as they went in.
func TestSockaddr(t *testing.T) {
	for _, c := range []struct {
		in, want string
		family   int
	}{
		{"1.2.3.4:258", "1.2.3.4:258", unix.AF_INET},
		{"255.255.255.255:65535", "255.255.255.255:65535", unix.AF_INET},
		{"[::ffff:1.2.3.4]:1", "1.2.3.4:1", unix.AF_INET},
		{"[::1]:80", "[::1]:80", unix.AF_INET6},
		{"[2001:db8::1:2]:443", "[2001:db8::1:2]:443", unix.AF_INET6},
		{"[fe80::1%7]:80", "[fe80::1%7]:80", unix.AF_INET6},
		{"[fe80::1%lo]:80", "[fe80::1%1]:80", unix.AF_INET6},
	} {
		s := makeSockaddr(netip.MustParseAddrPort(c.in))
		if got := s.addrPort().String(); got != c.want || s.family() != c.family {
			t.Errorf("%s: family %d, %s, want %d, %s", c.in, s.family(), got, c.family, c.want)
		}
	}
	s := makeSockaddr(netip.AddrPortFrom(netip.Addr{}, 80))
	if got := s.addrPort().String(); got != "[::]:80" {
		t.Errorf("no address is %s", got)
	}
	s = sockaddr{}
	if got := s.addrPort(); got.IsValid() {
		t.Errorf("the address of another family is %v", got)
	}
	if i, err := net.InterfaceByName("lo"); err == nil && zoneID("lo") != uint32(i.Index) {
		t.Errorf("lo is %d, want %d", zoneID("lo"), i.Index)
	}
}

// Dialling knows IPv6, and IPv4 that is written as IPv6, and both ends agree on
// who they are.
func TestDialFamilies(t *testing.T) {
	peers := make(chan [2]netip.AddrPort, 1)
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ls, err := g.Listen(":0", all(&funcs{data: func(c *Conn, in []byte) int {
		peers <- [2]netip.AddrPort{c.RemoteAddr(), c.LocalAddr()}
		c.Close()
		return len(in)
	}}))
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- g.Run() }()
	r := &rig{Group: g, t: t, ran: ran}
	defer r.stop()
	for _, ip := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1"} {
		d := newDialled()
		var own [2]netip.AddrPort
		d.open = func(c *Conn) {
			own = [2]netip.AddrPort{c.LocalAddr(), c.RemoteAddr()}
			c.Write([]byte("x"))
		}
		r.dialFrom(netip.AddrPortFrom(netip.MustParseAddr(ip), ls.Addr().Port()), d, time.Minute)
		reason := wait(t, "OnClose", d.why)
		if errors.Is(reason, unix.EADDRNOTAVAIL) || errors.Is(reason, unix.EAFNOSUPPORT) {
			continue // a machine without IPv6
		}
		got := wait(t, "the peer", peers)
		for i := range got { // a socket of both families has IPv4 as IPv6
			got[i] = netip.AddrPortFrom(got[i].Addr().Unmap(), got[i].Port())
		}
		if reason != nil || got != own {
			t.Errorf("%s: %v; the peer sees %v, the dialler %v", ip, reason, got, own)
		}
	}
}
