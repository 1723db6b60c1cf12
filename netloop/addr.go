//go:build linux

package netloop

import (
	"net"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

// sockaddr is an address as the system takes it. No IP is all addresses of the
// machine, IPv4's included.
func sockaddr(a *net.TCPAddr) (unix.Sockaddr, int) {
	if ip := a.IP.To4(); ip != nil {
		return &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(ip)}, unix.AF_INET
	}
	sa := &unix.SockaddrInet6{Port: a.Port, ZoneId: zoneID(a.Zone)}
	copy(sa.Addr[:], a.IP)
	return sa, unix.AF_INET6
}

func zoneID(zone string) uint32 {
	if zone == "" {
		return 0
	}
	if i, err := net.InterfaceByName(zone); err == nil {
		return uint32(i.Index)
	}
	n, _ := strconv.ParseUint(zone, 10, 32)
	return uint32(n)
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		ip := netip.AddrFrom16(a.Addr)
		if a.ZoneId != 0 {
			ip = ip.WithZone(strconv.Itoa(int(a.ZoneId)))
		}
		return netip.AddrPortFrom(ip, uint16(a.Port))
	}
	return netip.AddrPort{}
}
