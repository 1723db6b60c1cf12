//go:build linux

package netloop

import (
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Dial connects to addr. The handler hears OnOpen once the peer has answered,
// or OnClose with the reason why it has not, after d at the latest (0: as
// long as the system tries). What is written before goes out then.
func (l *Loop) Dial(addr netip.AddrPort, h Handler, d time.Duration) *Conn {
	to, family := sockaddr(net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())))
	fd, err := -1, l.ending // who dials again in OnClose must not begin anew at the very end
	if err == nil {
		fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	}
	c := l.newConn(int32(fd))
	c.handler, c.connecting = h, true
	c.readable, c.writable = false, false
	if err == nil {
		err = setOption(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil {
		err = setOption(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
	}
	if err == nil {
		// An interrupted connect goes on, like one in progress.
		if err = unix.Connect(fd, to); err == unix.EINPROGRESS || err == unix.EINTR {
			err = nil
		}
	}
	if err != nil {
		c.fail(err)
		return c
	}
	if d > 0 {
		c.writeTime = l.after(d)
		c.setTimer()
	}
	c.register()
	return c
}

// connect finds out what has become of dialling. It is true once the
// connection stands.
func (c *Conn) connect() bool {
	if !c.writable {
		return false
	}
	if err := c.socketError(); err != nil {
		c.fail(err)
		return false
	}
	if _, err := unix.Getpeername(int(c.fd)); err != nil { // ENOTCONN: still under way
		c.writable = false
		return false
	}
	// Who dials a port of its own machine where nobody listens may get that
	// very port for its own end, and be connected to itself.
	if self := c.LocalAddr(); self == c.RemoteAddr() {
		c.fail(unix.ECONNREFUSED)
		return false
	}
	c.connecting, c.writeTime = false, 0
	c.readable = true
	if c.out.bytes > 0 {
		c.startWriteTime()
	}
	c.handler.OnOpen(c)
	return true
}
