//go:build linux

package proxy

import (
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// origin is a server of an upstream, as all loops see it.
type origin struct {
	name  string // HOST:PORT as it is configured
	text  []byte // the same
	addrs atomic.Pointer[[]netip.AddrPort]
	fixed bool // the name is an address

	open   atomic.Int64 // connections, of all loops
	active atomic.Int64 // ... that have an exchange

	sick  atomic.Bool  // says the health check
	fails atomic.Int32 // in a row, without an answer between
	until atomic.Int64 // when it may be tried again, on the group's clock; 0: now
	told  bool         // that its requests fail; watchFailures'
	old   atomic.Int64 // until then it is taken for one that speaks HTTP/1.0, and knows no chunks

	pools []*pool // by loop
}

func newOrigin(name string, loops int) *origin {
	o := &origin{name: name, text: []byte(name)}
	if a, err := netip.ParseAddrPort(name); err == nil {
		o.fixed = true
		o.addrs.Store(&[]netip.AddrPort{netip.AddrPortFrom(a.Addr().Unmap(), a.Port())})
	}
	for range loops {
		o.pools = append(o.pools, &pool{origin: o})
	}
	return o
}

// split is the name's host and port.
func (o *origin) split() (host string, port uint16) {
	i := strings.LastIndexByte(o.name, ':')
	n, _ := strconv.ParseUint(o.name[i+1:], 10, 16) // the configuration has been checked
	return strings.Trim(o.name[:i], "[]"), uint16(n)
}

// addresses are where the server is, as far as that is known.
func (o *origin) addresses() []netip.AddrPort {
	if a := o.addrs.Load(); a != nil {
		return *a
	}
	return nil
}

// at tells whether the server is (still) at an address.
func (o *origin) at(addr netip.AddrPort) bool {
	for _, a := range o.addresses() {
		if a == addr {
			return true
		}
	}
	return false
}

// answered notes that the server is there.
func (o *origin) answered() {
	if o.fails.Load() != 0 {
		o.fails.Store(0)
		o.until.Store(0)
	}
}

// failed notes that a connection could not be had, or brought no answer. So
// many in a row take the server out for a while.
func (o *origin) failed(most int, rest, now time.Duration) {
	if int(o.fails.Add(1)) >= most && most > 0 {
		o.until.Store(int64(now + rest))
	}
}

// oldFor is how long an answer of HTTP/1.0 is remembered: a server may have been
// exchanged for a newer one, and if all it gets are chunks nothing else would tell.
const oldFor = 30 * time.Second

// speaks notes what version of HTTP the server has answered in.
func (o *origin) speaks(minor int, now time.Duration) {
	switch {
	case minor == 0:
		o.old.Store(int64(now + oldFor))
	case o.old.Load() != 0:
		o.old.Store(0)
	}
}

// takesChunks tells whether it may be sent any.
func (o *origin) takesChunks(now time.Duration) bool { return int64(now) >= o.old.Load() }

// rested tells whether enough time has passed since the last failures.
func (o *origin) rested(now time.Duration) bool { return int64(now) >= o.until.Load() }
