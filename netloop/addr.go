//go:build linux

package netloop

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sockaddr is an address as the system takes and gives it. It lies on the
// stack: package unix makes garbage of each.
type sockaddr struct {
	six  unix.RawSockaddrInet6 // or four in its place
	size uint32
}

func (s *sockaddr) four() *unix.RawSockaddrInet4 {
	return (*unix.RawSockaddrInet4)(unsafe.Pointer(&s.six)) // which is the smaller one
}

func (s *sockaddr) family() int { return int(s.six.Family) }

// makeSockaddr takes no IP for all addresses of the machine, IPv4's included.
func makeSockaddr(a netip.AddrPort) (s sockaddr) {
	ip := a.Addr().Unmap()
	s.six.Port = networkOrder(a.Port()) // four has it in the same place
	if ip.Is4() {
		s.size = unix.SizeofSockaddrInet4
		four := s.four()
		four.Family, four.Addr = unix.AF_INET, ip.As4()
		return s
	}
	s.size = unix.SizeofSockaddrInet6
	s.six.Family = unix.AF_INET6
	if ip.IsValid() {
		s.six.Addr, s.six.Scope_id = ip.As16(), zoneID(ip.Zone())
	}
	return s
}

func (s *sockaddr) addrPort() netip.AddrPort {
	port := networkOrder(s.six.Port)
	switch s.six.Family {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4(s.four().Addr), port)
	case unix.AF_INET6:
		ip := netip.AddrFrom16(s.six.Addr)
		if s.six.Scope_id != 0 {
			ip = ip.WithZone(strconv.Itoa(int(s.six.Scope_id)))
		}
		return netip.AddrPortFrom(ip, port)
	}
	return netip.AddrPort{}
}

// networkOrder turns a port into the order of the network, or back.
func networkOrder(port uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], port)
	return binary.NativeEndian.Uint16(b[:])
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
