//go:build linux

package netloop

import (
	"time"

	"golang.org/x/sys/unix"
)

// settle draws the consequences of what the handler has called.
func (c *Conn) settle() {
	if c.broken != 0 && (c.paused || c.ended || c.closing) {
		c.fail(c.broken)
	}
	switch {
	case c.failed != nil:
		c.end(c.failed)
	case c.connecting && c.closing:
		c.end(nil)
	case c.connecting:
	case c.out.bytes > 0:
	case c.closing:
		c.beginLinger()
	case c.shut && !c.shutDone:
		c.shutDone = true
		shutdownSocket(c.fd)
	}
}

// end closes the descriptor and tells the handler why. Whatever was to be sent
// and will not be must not look whole to the peer, so it gets a reset; but not
// where all has been sent and may still be on its way.
func (c *Conn) end(reason error) {
	if c.fd >= 0 {
		if reason != nil && !c.lingering {
			resetOnClose(c.fd)
		}
		closeSocket(c.fd)
	}
	// A handler that writes in OnClose reaches nobody who has the number now.
	c.fd, c.broken = -1, unix.EBADF
	c.over = true
	c.releaseBuffers()
	h := c.handler
	c.loop.endConn(c)
	if !c.lingering {
		h.OnClose(c, reason)
	}
	c.loop.open.Add(-1) // last: a handler that dials anew leaves no moment that is quiet
}

func (c *Conn) releaseBuffers() {
	c.dropKept()
	c.out.drop(c.loop.memory)
}

func (c *Conn) cut(reason error) {
	if !c.over {
		c.end(reason)
	}
}

const (
	lingerBytes = 1 << 20
	lingerTime  = 2 * time.Second
	hurryTime   = 200 * time.Millisecond // while the group shuts down
)

// beginLinger says that nothing more will be sent, and waits for the peer to
// say so too.
func (c *Conn) beginLinger() {
	if c.ended {
		c.end(nil)
		return
	}
	if !c.shutDone {
		c.shutDone = true
		shutdownSocket(c.fd)
	}
	c.releaseBuffers()
	c.lingering, c.drops = true, lingerBytes
	c.writeTime = 0
	c.SetDeadline(c.lingerTime())
	c.handler.OnClose(c, nil)
	c.handler = nil
	c.linger()
}

func (c *Conn) lingerTime() time.Duration {
	if c.loop.Draining() {
		return hurryTime
	}
	return lingerTime
}

// linger reads and throws away.
func (c *Conn) linger() {
	if c.failed != nil {
		c.end(c.failed)
		return
	}
	for c.readable {
		n, errno := readSocket(c.fd, c.loop.scratch)
		if errno == unix.EAGAIN {
			c.readable = false
			return
		}
		c.drops -= n
		if errno != 0 || n == 0 || c.drops <= 0 {
			c.end(nil)
			return
		}
		if n < len(c.loop.scratch) && !c.hungUp {
			c.readable = false
		}
	}
}

// timeUp is the timer's function.
func (c *Conn) timeUp() {
	now := c.loop.now
	switch {
	case c.lingering:
		c.end(nil)
		return
	case c.failed != nil: // and about to end
		return
	case c.writeTime != 0 && c.writeTime <= now:
		if c.connecting {
			c.fail(unix.ETIMEDOUT)
		} else {
			c.fail(ErrSlowReader)
		}
		return
	case c.deadline == 0 || c.deadline > now || c.closing:
	case c.queued || !c.late:
		// The input that is waited for may be in the socket, unread because the
		// loop, or the whole machine, had no time. It is read before the peer is
		// called late.
		c.late, c.readable = true, true
		c.loop.enqueue(c)
		c.loop.wheel.arm(&c.timer, now+1)
		return
	default:
		c.deadline = 0
		c.handler.OnTimeout(c)
	}
	c.setTimer()
}

// tellShutdown tells the handler, once, when what has arrived is read; or does
// not let the peer linger long.
func (c *Conn) tellShutdown() {
	switch {
	case c.lingering:
		if left := c.deadline - c.loop.now; left > int64(hurryTime) {
			c.SetDeadline(hurryTime)
		}
	case c.told || c.connecting || c.closing || c.failed != nil:
	case c.readable && !c.ended && !c.paused && !c.again: // its turn was over; it has another
	default:
		c.told = true
		c.handler.OnShutdown(c)
	}
}
