package filter

import (
	"encoding/binary"
	"net/netip"
)

// keyOf is a client as one word. Of IPv6 it is the network of 64 bits, within
// which a client has any address it likes. IPv4 lies where multicast addresses
// would, ff00:0::/32, which are nobody's; should one come all the same, because
// someone who is trusted has made it up, it counts as no address.
func keyOf(a netip.Addr) uint64 {
	const (
		ipv4   = 0xff000000 << 32
		nobody = 1<<64 - 1
	)
	a = a.Unmap()
	if a.Is4() {
		four := a.As4()
		return ipv4 | uint64(binary.BigEndian.Uint32(four[:]))
	}
	if !a.Is6() || a.IsMulticast() {
		return nobody
	}
	sixteen := a.As16()
	return binary.BigEndian.Uint64(sixteen[:])
}
