//go:build linux

package netloop

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Held is how much input the handler has left, outside of OnData.
func (c *Conn) Held() int { return c.held }

// readBudget is how many bytes of a connection are read before it is the
// others' turn.
const readBudget = 256 << 10

func (c *Conn) receive() {
	for budget := readBudget; c.failed == nil && !c.paused && !c.closing && !c.again; {
		if c.offer {
			c.offer = false
			if c.held > 0 {
				c.keep(c.kept[:c.held], c.handler.OnData(c, c.kept[:c.held]))
				continue
			}
		}
		if !c.readable || c.ended {
			return
		}
		if budget <= 0 {
			c.loop.enqueue(c)
			return
		}
		n := c.read()
		if n <= 0 {
			return
		}
		budget -= n
	}
}

// read reads once and lets the handler have it. It returns how much there
// was.
func (c *Conn) read() int {
	l := c.loop
	into := l.scratch[:l.readSize]
	if c.held > 0 {
		if c.filled || c.held == len(c.kept) {
			c.grow()
		}
		if into = c.kept[c.held:]; len(into) == 0 {
			if c.broken != 0 { // nor will OnDrain make the handler go on
				c.fail(c.broken)
			}
			return 0
		}
	}
	n, errno := readSocket(c.fd, into)
	switch {
	case errno == unix.EAGAIN:
		c.readable = false
		return 0
	case errno != 0:
		c.fail(errno)
		return 0
	case n == 0:
		c.readable, c.ended = false, true
		if c.broken == 0 {
			c.handler.OnEnd(c)
		}
		return 0
	}
	// A short read has emptied the socket: new input makes a new event. Unless
	// the peer has hung up: that event may have come already.
	if n < len(into) && !c.hungUp {
		c.readable = false
	}
	c.filled = n == len(into)
	l.spent += n
	in := into[:n]
	if c.held > 0 {
		c.held += n
		in = c.kept[:c.held]
	}
	c.keep(in, c.handler.OnData(c, in))
	return n
}

// keep stores what the handler has left of in, which is either what is kept
// already or in the loop's scratch.
func (c *Conn) keep(in []byte, consumed int) {
	if consumed < 0 || consumed > len(in) {
		panic(fmt.Sprintf("netloop: OnData consumed %d of %d bytes", consumed, len(in)))
	}
	rest := in[consumed:]
	switch {
	case len(rest) == 0 || c.closing:
		c.dropKept()
	case c.held > 0:
		if consumed > 0 {
			c.loop.copied += int64(copy(c.kept, rest))
		}
		c.held = len(rest)
	default:
		block, err := c.loop.memory.Get(len(rest) + minRoom)
		if err != nil {
			c.fail(ErrMemory)
			return
		}
		c.kept, c.held = block, copy(block, rest)
		c.loop.copied += int64(c.held)
	}
}

// minRoom is the least room behind input that is kept.
const minRoom = 512

func (c *Conn) dropKept() {
	if c.kept != nil {
		c.loop.memory.Put(c.kept)
		c.kept, c.held = nil, 0
	}
}

// grow makes more room behind the kept input, if there may be more: where none
// is left, nothing is read until the handler consumes something. Where some is
// left, but a read has filled it, reads get larger up to scratchSize, lest a
// handler that leaves a little each time read a fast peer in small pieces.
func (c *Conn) grow() {
	most := c.loop.group.options.MaxInput
	full := c.held == len(c.kept)
	if !full {
		most = min(most, scratchSize)
	}
	if len(c.kept) >= most {
		return
	}
	block, err := c.loop.memory.Get(min(2*len(c.kept), most))
	switch {
	case err == nil:
		c.loop.copied += int64(copy(block, c.kept[:c.held]))
		c.loop.memory.Put(c.kept)
		c.kept = block
	case full:
		c.fail(ErrMemory)
	}
}
