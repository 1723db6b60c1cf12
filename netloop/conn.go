//go:build linux

package netloop

import (
	"errors"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// Handler is whom a connection tells what happens. Its methods run on the
// loop's thread, one at a time.
type Handler interface {
	// OnOpen comes first: the connection has been accepted, or what was
	// dialled has answered.
	OnOpen(c *Conn)
	// OnData brings input: all that has arrived and was not consumed yet. It
	// returns how many bytes it consumes. The rest comes again, with what
	// arrives behind it, and also after OnDrain, Again and ResumeRead. in is
	// valid, and may be written to, until OnData returns.
	OnData(c *Conn, in []byte) (consumed int)
	// OnEnd says that the peer will send no more; what OnData has left is all
	// there is. Output still goes out. Nothing closes a connection but its
	// handler.
	OnEnd(c *Conn)
	// OnDrain says that all pending output has gone out.
	OnDrain(c *Conn)
	// OnTimeout says that the deadline has passed.
	OnTimeout(c *Conn)
	// OnShutdown says that the loop is going to end: what is under way may be
	// finished, nothing new should begin, then the connection should close.
	OnShutdown(c *Conn)
	// OnClose comes last, once for each OnOpen, and also if dialling fails.
	// The reason is nil after Close, else what went wrong. c must not be used
	// any more.
	OnClose(c *Conn, reason error)
}

// Reasons of OnClose, besides errors of the system.
var (
	ErrAborted    = errors.New("aborted")                                     // by Abort
	ErrMemory     = errors.New("no memory left for buffers")                  // the quota is used up
	ErrSlowReader = errors.New("the peer took too long to take what we sent") // see Options.WriteTimeout
)

// Conn is a TCP connection. It may be used from Dial or OnOpen on until OnClose
// returns, by its loop's thread alone.
type Conn struct {
	loop    *Loop
	handler Handler
	fd      int32
	slot    uint32

	peer       netip.AddrPort // of an accepted one
	accepted   bool           // not dialled
	connecting bool
	registered bool // with epoll
	queued     bool // in the loop's ready queue

	readable bool // no read has come back short since the last event
	hungUp   bool // the peer has said that it is done: read to the end
	ended    bool // that end has been read
	paused   bool // by the handler
	offer    bool // kept input is to be offered again
	again    bool // ... in the next iteration
	filled   bool // the last read took all there was room for

	serving   bool // its turn is under way
	corked    bool // what is written is kept until the turn's end
	owed      bool // output waits for the peer, or the connection to stand, and OnDrain is to be called in the end
	writable  bool // nothing was refused since the last event
	drained   bool // OnDrain is due
	shut      bool // our end is shut, or will be when nothing is pending
	shutDone  bool
	closing   bool       // Close was called
	lingering bool       // the handler has gone; input is thrown away
	told      bool       // of the shutdown
	late      bool       // the deadline has passed; what has arrived is looked at once more
	over      bool       // the descriptor is closed, OnClose was called
	broken    unix.Errno // nothing can be sent any more
	failed    error

	kept  []byte // a block of the slab with input that was left, or nil
	held  int    // bytes of it that are filled
	out   pending
	drops int // bytes that may still be thrown away while lingering

	timer     Timer
	deadline  int64 // of the handler; 0: none
	writeTime int64 // until when pending output has to move on, or dialling to succeed; 0: no limit
	moved     int   // bytes sent since writeTime was set

	nextReady *Conn
}

// reset makes a used object a new connection.
func (c *Conn) reset(l *Loop, fd int32, slot uint32) {
	timer, list := c.timer, c.out.blocks[:0]
	if cap(list) > keepBlocks {
		list = nil
	}
	*c = Conn{loop: l, fd: fd, slot: slot, timer: timer, writable: true, readable: true}
	c.out.blocks = list
	if c.timer.Func == nil {
		c.timer.Func = c.timeUp // once for each object
	}
}

// Loop is where the connection lives.
func (c *Conn) Loop() *Loop { return c.loop }

// SetHandler hands the connection over. The new handler gets no OnOpen; it is
// offered what input is left, and hears of the input's end and of the shutdown
// even if the old one has.
func (c *Conn) SetHandler(h Handler) {
	c.handler, c.told = h, false
	if c.ended { // the end can be read again
		c.ended, c.readable = false, true
	}
	c.Again()
}

// RemoteAddr is the peer's address. An accepted connection knows it from the
// beginning; of a dialled one the system is asked, which may not know it any more.
func (c *Conn) RemoteAddr() netip.AddrPort {
	if c.accepted {
		return c.peer
	}
	a, errno := remoteAddr(c.fd)
	if errno != 0 {
		return netip.AddrPort{}
	}
	return a.addrPort()
}

// LocalAddr asks the system for the connection's own address.
func (c *Conn) LocalAddr() netip.AddrPort {
	a, errno := localAddr(c.fd)
	if errno != 0 {
		return netip.AddrPort{}
	}
	return a.addrPort()
}

// PauseRead stops reading: what the peer sends stays with the system, and in
// the end with the peer.
func (c *Conn) PauseRead() { c.paused = true }

// Paused tells that PauseRead was called last.
func (c *Conn) Paused() bool { return c.paused }

// ResumeRead reads on, and offers input that was left.
func (c *Conn) ResumeRead() {
	if c.paused {
		c.paused = false
		c.Again()
	}
}

// Again has OnData called with the input that was left, in the loop's next
// iteration: for handlers that let others have a turn.
func (c *Conn) Again() {
	c.again = true
	c.loop.enqueue(c)
}

// Quiet asks the system whether the connection stands, with nothing to read:
// whether what has been silent can still be used. An event that says otherwise
// may be on its way.
func (c *Conn) Quiet() bool {
	return c.sending() && !c.ended && !c.hungUp && c.held == 0 && quietSocket(c.fd)
}

// SetDeadline has OnTimeout called after d, once; an earlier deadline counts
// no more. Not positive: no deadline.
func (c *Conn) SetDeadline(d time.Duration) {
	if d <= 0 {
		c.deadline = 0
		return
	}
	c.deadline, c.late = c.loop.after(d), false
	c.setTimer()
}

func (c *Conn) setTimer() {
	if c.over {
		return
	}
	when := c.deadline
	if c.writeTime != 0 && (when == 0 || c.writeTime < when) {
		when = c.writeTime
	}
	if when != 0 {
		c.loop.wheel.arm(&c.timer, when)
	}
}

// CloseWrite tells the peer, once pending output has gone out, that no more
// will come. Input still does.
func (c *Conn) CloseWrite() {
	c.shut = true
	c.loop.enqueue(c)
}

// Close ends the connection in order: pending output goes out, the peer is
// told that this was all, and what it may still send is read and thrown away
// until it is done as well, or for 1 MB or 2 s. Closing at once would send a
// reset wherever input is unread, and that may overtake the last answer.
//
// The handler is rid of it before: nothing but OnClose comes any more, when the
// output has gone out. While the connection is being dialled, Close gives that up.
func (c *Conn) Close() {
	c.closing = true
	c.loop.enqueue(c)
}

// Abort ends the connection at once, with a reset. Pending output is lost.
func (c *Conn) Abort() { c.fail(ErrAborted) }

// breakOutput notes that nothing can be sent any more. What the peer has sent
// before is still read: a server may have answered, and closed, while it was
// being sent to.
func (c *Conn) breakOutput(why unix.Errno) {
	c.broken, c.writeTime, c.owed = why, 0, false
	c.out.drop(c.loop.memory)
	c.readable, c.hungUp = true, true
	c.loop.enqueue(c)
}

// fail ends the connection. The first reason counts.
func (c *Conn) fail(why error) {
	if c.failed == nil {
		c.failed = why
		c.loop.enqueue(c)
	}
}

// happened takes in what epoll has seen.
func (c *Conn) happened(events uint32) {
	if events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		c.readable = true
	}
	if events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		c.hungUp = true
	}
	if events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		c.writable = true
	}
	// An error is found by reading, behind the input that came before it: that
	// may be the answer to what cannot be sent any more. Unless the input has
	// been read to its end.
	if events&unix.EPOLLERR != 0 && c.ended {
		if errno := socketError(c.fd); errno != 0 {
			c.fail(errno)
		}
	}
}

// service does for a connection all that there is to do now: it sends what is
// pending (out.go), reads (in.go) and draws the consequences of what the
// handler has called (end.go). Nobody else draws any: who asks for some
// enqueues.
func (c *Conn) service() {
	switch {
	case c.over:
		return
	case c.lingering:
		if c.loop.telling {
			c.tellShutdown()
		}
		c.linger()
		return
	}
	c.serving = true
	if !c.connecting || c.failed == nil && !c.closing && c.connect() {
		c.work()
	}
	c.serving = false
	c.uncork()
	c.settle()
}

func (c *Conn) work() {
	if c.again {
		c.again, c.offer = false, true
	}
	if c.failed == nil && c.writable && !c.corked && c.out.bytes > 0 {
		c.flush()
	}
	if c.failed == nil && c.drained && !c.closing {
		c.drained, c.offer = false, true
		c.handler.OnDrain(c)
	}
	c.receive()
	if c.loop.telling {
		c.tellShutdown()
	}
}
