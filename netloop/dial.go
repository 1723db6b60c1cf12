//go:build linux

package netloop

import (
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Dial connects to addr. The handler hears OnOpen once the peer has answered,
// or OnClose with the reason why it has not, after d at the latest (0: as
// long as the system tries). What is written before goes out then.
func (l *Loop) Dial(addr netip.AddrPort, h Handler, d time.Duration) *Conn {
	c := l.newConn(-1)
	c.handler, c.connecting = h, true
	c.readable, c.writable = false, false
	if err := c.dial(addr); err != nil {
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

// dial makes the socket and begins to connect it.
func (c *Conn) dial(addr netip.AddrPort) error {
	if c.loop.ending != nil { // who dials again in OnClose must not begin anew at the very end
		return c.loop.ending
	}
	to := makeSockaddr(addr)
	fd, errno := makeSocket(to.family())
	if errno != 0 {
		return errno
	}
	c.fd = fd
	if err := setOption(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return err
	}
	if err := setOption(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent); err != nil {
		return err
	}
	if errno := connectSocket(fd, &to); errno != 0 {
		return errno
	}
	return nil
}

// connect finds out what has become of dialling. It is true once the
// connection stands.
func (c *Conn) connect() bool {
	if !c.writable {
		return false
	}
	if errno := socketError(c.fd); errno != 0 {
		c.fail(errno)
		return false
	}
	peer, errno := remoteAddr(c.fd)
	if errno != 0 { // ENOTCONN: still under way
		c.writable = false
		return false
	}
	// Who dials a port of its own machine where nobody listens may get that
	// very port for its own end, and be connected to itself.
	if self, errno := localAddr(c.fd); errno == 0 && self == peer {
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
