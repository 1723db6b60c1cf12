//go:build linux

package netloop

// corkMost is how much a corked connection keeps. Beyond that one system call
// is not what costs.
const corkMost = 64 << 10

// Cork keeps what is written from now on until the connection's turn ends, and
// sends it in one system call then. The turn is the one under way if a method
// of its handler is called by it, else the next, which comes in this iteration
// or at once after. Several pieces that are written for one event then cost one
// packet.
//
// What is kept is copied, into the blocks that pending output waits in: for the
// small writes that this is for, a copy costs no more than to describe each piece
// to writev. More than 64 KB are not kept: they go out at once, and what was
// kept before them.
//
// Corked output is not pending, and no OnDrain follows it, unless the peer does
// not take all of it at the end of the turn, or there was pending output before:
// then it is pending output like any other.
func (c *Conn) Cork() {
	if c.over || c.lingering {
		return
	}
	c.corked = true
	if !c.serving {
		c.loop.enqueue(c)
	}
}

// uncork ends what Cork has begun.
func (c *Conn) uncork() {
	if c.corked {
		c.corked = false
		c.release()
	}
}

// release sends what was kept.
func (c *Conn) release() {
	if c.failed != nil || c.out.bytes == 0 {
		return
	}
	if c.writable && !c.connecting {
		c.flush()
	}
	if c.out.bytes > 0 {
		c.owe()
	}
	if c.drained {
		c.loop.enqueue(c)
	}
}

// owe notes that output waits for more than the turn's end.
func (c *Conn) owe() {
	if !c.owed {
		c.owed = true
		if !c.connecting {
			c.startWriteTime()
		}
	}
}

// direct tells that the next n bytes are to be given to the system, rather than
// kept behind those that are.
func (c *Conn) direct(n int) bool {
	if !c.writable || c.connecting {
		return false
	}
	if c.corked {
		if c.out.bytes+n <= corkMost {
			return false
		}
		c.release()
	}
	return c.out.bytes == 0 && c.sending()
}

func size(segments [][]byte) (n int) {
	for _, s := range segments {
		n += len(s)
	}
	return n
}
