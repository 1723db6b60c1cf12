//go:build linux

package netloop

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"redoubt/netloop/slab"
)

// pending is output that the system has refused so far, in blocks of the
// slab.
type pending struct {
	blocks []block // from first on
	first  int
	bytes  int
}

type block struct {
	mem      []byte
	from, to int
}

const (
	blockSize  = 256 << 10 // the most that one block of pending output holds
	keepBlocks = 256       // how long a list of blocks stays with a Conn that is used again
)

// add copies b.
func (p *pending) add(memory *slab.Cache, b []byte) error {
	p.bytes += len(b)
	for len(b) > 0 {
		if n := len(p.blocks); n > p.first && p.blocks[n-1].to < len(p.blocks[n-1].mem) {
			last := &p.blocks[n-1]
			k := copy(last.mem[last.to:], b)
			last.to += k
			b = b[k:]
			continue
		}
		mem, err := memory.Get(min(len(b), blockSize))
		if err != nil {
			return err
		}
		if p.first > len(p.blocks)/2 { // never empty, it would grow for ever
			p.blocks, p.first = append(p.blocks[:0], p.blocks[p.first:]...), 0
		}
		p.blocks = append(p.blocks, block{mem: mem})
	}
	return nil
}

// sent drops the first n bytes.
func (p *pending) sent(memory *slab.Cache, n int) {
	p.bytes -= n
	for n > 0 {
		b := &p.blocks[p.first]
		k := min(n, b.to-b.from)
		b.from += k
		n -= k
		if b.from == b.to {
			memory.Put(b.mem)
			b.mem = nil
			p.first++
		}
	}
	if p.first == len(p.blocks) {
		p.blocks, p.first = p.blocks[:0], 0
	}
}

func (p *pending) drop(memory *slab.Cache) {
	for i := range p.blocks[p.first:] {
		b := &p.blocks[p.first+i]
		memory.Put(b.mem)
		b.mem = nil
	}
	p.blocks, p.first, p.bytes = p.blocks[:0], 0, 0
}

// Pending is how many bytes of output wait for the peer to take what it has.
// If there are any, OnDrain will be called. What only waits for the end of the
// turn (see Cork) is not counted.
func (c *Conn) Pending() int {
	if !c.owed {
		return 0
	}
	return c.out.bytes
}

// Spend counts n bytes of work that was neither reading nor sending, such as
// an answer that was made and not sent, towards what the loop does before it
// looks after others.
func (c *Conn) Spend(n int) { c.loop.spent += n }

func (c *Conn) sending() bool { return c.failed == nil && c.broken == 0 }

// Write sends b, which is the caller's again when Write returns. What the
// system does not take now is copied and goes out later; OnDrain tells when
// all of it has. Who sends more than a peer takes should look at Pending.
// Errors come by OnClose.
func (c *Conn) Write(b []byte) {
	if !c.sending() || len(b) == 0 {
		return
	}
	if c.direct(len(b)) {
		for len(b) > 0 {
			n, errno := sendSocket(c.fd, b)
			if !c.took(n, errno) {
				break
			}
			b = b[n:]
		}
	}
	c.queueOutput(b)
}

// took draws the consequences of a system call that sends. It is false where
// there is no sense in another.
func (c *Conn) took(n int, errno unix.Errno) bool {
	switch errno {
	case 0:
		c.loop.spent += n
		return true
	case unix.EAGAIN:
		c.writable = false
	default:
		c.breakOutput(errno)
	}
	return false
}

// Writev sends segments as Write does, all in one system call if there are no
// more than 1,024 of them and the peer takes them.
func (c *Conn) Writev(segments [][]byte) {
	if len(segments) > 1 && !c.corked && size(segments) <= smallOutput {
		c.Write(c.loop.join(segments))
		return
	}
	c.writev(segments, writevSocket)
}

// Finish sends segments and closes the connection, as Writev and Close do, but
// the last packet says that it is the last: a packet less for both sides.
func (c *Conn) Finish(segments [][]byte) {
	c.writev(segments, writevMore)
	c.Close()
}

func (c *Conn) writev(segments [][]byte, send func(fd int32, v []unix.Iovec) (int, unix.Errno)) {
	if !c.sending() {
		return
	}
	from := 0 // of the first segment that is left
	n := 0
	if c.corked {
		n = size(segments)
	}
	if c.direct(n) {
		for len(segments) > 0 {
			v := c.loop.gather(segments, from)
			n, errno := send(c.fd, v)
			clear(v) // the caller's memory must not stay for being named here
			if !c.took(n, errno) {
				break
			}
			for n += from; len(segments) > 0 && n >= len(segments[0]); segments = segments[1:] {
				n -= len(segments[0])
			}
			from = n
		}
	}
	for ; len(segments) > 0; segments, from = segments[1:], 0 {
		c.queueOutput(segments[0][from:])
	}
}

// smallOutput is up to where a copy of all segments costs less than to have the
// system gather them: 3 % of what a proxied request takes, with its two heads of
// three to five segments.
const smallOutput = 4 << 10

// join makes one of small segments.
func (l *Loop) join(segments [][]byte) []byte {
	b := l.small[:0]
	for _, s := range segments {
		b = append(b, s...)
	}
	l.copied += int64(len(b))
	return b
}

// gather describes segments, from a place in the first on, to writev.
func (l *Loop) gather(segments [][]byte, from int) []unix.Iovec {
	v := l.vectors[:min(len(segments), maxVectors)]
	for i := range v {
		s := segments[i][from:]
		from = 0
		v[i].Base = unsafe.SliceData(s)
		v[i].SetLen(len(s))
	}
	return v
}

// queueOutput keeps a copy of what was not taken.
func (c *Conn) queueOutput(b []byte) {
	if !c.sending() || len(b) == 0 {
		return
	}
	if !c.corked || !c.writable {
		c.owe()
	}
	c.loop.copied += int64(len(b))
	if err := c.out.add(c.loop.memory, b); err != nil {
		c.fail(ErrMemory)
	}
}

// moveBytes is what a peer has to take within Options.WriteTimeout, unless
// less is left: one that takes a byte now and then would hold memory for
// hours.
const moveBytes = 64 << 10

func (c *Conn) startWriteTime() {
	if t := c.loop.group.options.WriteTimeout; t > 0 {
		c.writeTime, c.moved = c.loop.after(t), 0
		c.setTimer()
	}
}

// writeBudget is how much pending output of a connection is sent before it is
// the others' turn: a fast reader on the same machine would go on for as long
// as there is some.
const writeBudget = 1 << 20

// flush sends pending output until it is gone or refused.
func (c *Conn) flush() {
	send := writevSocket
	if c.closing {
		send = writevMore // as Finish does
	}
	for budget := writeBudget; c.out.bytes > 0; {
		if budget <= 0 {
			c.loop.enqueue(c)
			return
		}
		blocks := c.out.blocks[c.out.first:]
		v := c.loop.vectors[:min(len(blocks), maxVectors)]
		for i := range v {
			b := &blocks[i]
			v[i].Base = &b.mem[b.from]
			v[i].SetLen(b.to - b.from)
		}
		n, errno := send(c.fd, v)
		if !c.took(n, errno) {
			break
		}
		c.out.sent(c.loop.memory, n)
		budget -= n
		if c.moved += n; c.moved >= moveBytes {
			c.startWriteTime()
		}
	}
	if c.out.bytes == 0 && c.sending() {
		c.writeTime = 0
		if c.owed {
			c.owed, c.drained = false, true
		}
	}
}
