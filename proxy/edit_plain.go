//go:build linux

package proxy

import (
	"bytes"
	"time"

	"redoubt/netloop/http1"
)

// Bodies in no coding are rewritten on the loop: pieces of what has been read go on
// from where they lie, and what is put between them, or was held back, from memory of
// the worker's. A head waits until its turn ends, for where the whole body comes with
// it, its new length can be told.

// edited is what a worker puts a rewritten body together with.
type edited struct {
	parts [][]byte
	size  int // bytes of them
	text  []byte
	from  int  // in text, where the last part begins
	own   bool // ... which is of text
	piece []byte
	emit  func([]byte) // worker.emitPart, made once
}

// ownPart is up to how many bytes of a piece are copied: that costs less than to tell
// the system of another place.
const ownPart = 256

// emitPart takes what replacing in a piece has given out.
func (w *worker) emitPart(b []byte) {
	e := &w.edited
	e.size += len(b)
	if len(b) > ownPart && sameArray(b, e.piece) {
		e.parts, e.own = append(e.parts, b), false
		return
	}
	w.copied += int64(len(b))
	if !e.own {
		e.from, e.own = len(e.text), true
		e.parts = append(e.parts, nil)
	}
	e.text = append(e.text, b...)
	e.parts[len(e.parts)-1] = e.text[e.from:]
}

// sameArray tells whether two slices that reach to the ends of their arrays are of
// the same.
func sameArray(a, b []byte) bool {
	return cap(a) > 0 && cap(b) > 0 && &a[:cap(a)][cap(a)-1] == &b[:cap(b)][cap(b)-1]
}

// keepEdited is how much memory for what is put in stays with a worker.
const keepEdited = 256 << 10

// forget ends with what was put together, which nobody looks at any more.
func (e *edited) forget() {
	clear(e.parts)
	e.parts, e.size, e.text, e.own = e.parts[:0], 0, e.text[:0], false
	if cap(e.text) > keepEdited {
		e.text = nil
	}
}

// editPiece rewrites a piece of an answer's body. Where rules make so much of it that the
// client does not take it, the rest of the piece is kept.
func (x *exchange) editPiece(b []byte) {
	e := &x.edit
	n := x.feed(b)
	if n == len(b) {
		return
	}
	x.sendEdited() // with the head: no turn of the server's may end after this
	block, err := x.worker.loop.Memory().Get(len(b) - n)
	if err != nil {
		x.worker.counts.shed.Add(1)
		x.cutAnswer("no memory left for buffers")
		return
	}
	e.rest, e.from, e.end = block, 0, copy(block, b[n:])
	x.worker.copied += int64(e.end)
	x.link.PauseBody()
}

// How much a stream gets before it is looked at what has become of it: little where that
// has become much, or took long. mostPending is how much of it the client may leave.
const (
	leastFed    = 64
	mostFed     = 16 << 10
	mostPending = 128 << 10
)

// feedTime is for how long one body's rules may work before others have their turn, and
// slowFeed what is too long for one step of that. Thousands of rules can be slow.
const (
	feedTime = 5 * time.Millisecond
	slowFeed = time.Millisecond
)

// feed lets the stream have a piece, or as much of it as there is time for, and the client
// takes.
func (x *exchange) feed(b []byte) (n int) {
	w, e := x.worker, &x.edit
	begin := w.loop.Clock()
	now := begin
	w.edited.piece = b
	for n < len(b) {
		e.step = max(e.step, leastFed)
		k := min(len(b)-n, e.step)
		before, since := len(w.edited.text), now
		e.plain.FeedTo(b[n:n+k], w.edited.emit)
		e.plain.Release() // what may be used again was copied
		n += k
		now = w.loop.Clock()
		switch {
		case len(w.edited.text)-before > keepEdited/4:
			e.step /= 16
		case now-since > slowFeed:
			e.step /= 2
		default:
			e.step = min(2*e.step, mostFed)
		}
		if len(w.edited.text) > keepEdited { // rules that make much of little
			x.sendEdited()
			w.flush()
			if x.session.Conn().Pending() > mostPending {
				break
			}
		}
		if n < len(b) && now-begin > feedTime {
			w.loop.Arm(&x.timer, 0)
			break
		}
	}
	e.spent += now - begin
	if !e.due {
		x.sendEdited()
	}
	return n
}

// editRest goes on with what was kept.
func (x *exchange) editRest() {
	w, e := x.worker, &x.edit
	e.from += x.feed(e.rest[e.from:e.end])
	w.flush() // no turn ends after this; and the block may go
	if e.from < e.end {
		return
	}
	w.loop.Memory().Put(e.rest)
	e.rest = nil
	if e.ended {
		x.finishEdit(e.lines)
	} else if x.link != nil {
		x.link.ResumeBody()
	}
}

// editEnd ends a rewritten body.
func (x *exchange) editEnd(trailers *http1.Body) {
	e := &x.edit
	lines := x.worker.cleanTrailers(trailers, x.route.Response, true)
	if e.rest != nil {
		e.ended, e.lines = true, bytes.Clone(lines)
		return
	}
	x.finishEdit(lines)
}

func (x *exchange) finishEdit(trailers []byte) {
	w, e := x.worker, &x.edit
	begin := w.loop.Clock()
	w.edited.piece = nil
	e.plain.FinishTo(w.edited.emit)
	e.plain.Release()
	e.spent += w.loop.Clock() - begin
	x.learn(e.plain)
	if e.due && len(trailers) == 0 {
		x.sendHead(http1.Sized, int64(w.edited.size))
	}
	x.sendEdited()
	x.session.EndBody(trailers)
	w.flush() // no turn may end after this
}

// sendEdited sends what has been put together, and the head that has waited for it.
func (x *exchange) sendEdited() {
	w := x.worker
	if x.edit.due {
		x.sendHead(http1.Chunked, 0)
	}
	x.gather()
	x.out += int64(w.edited.size)
	x.session.SendParts(w.edited.parts)
	w.edited.parts, w.edited.size, w.edited.own = w.edited.parts[:0], 0, false
}

// sendHead sends the head that has waited.
func (x *exchange) sendHead(framing http1.Framing, size int64) {
	w, e := x.worker, &x.edit
	e.due = false
	if e.head != nil {
		w.out.Reset()
		w.out.Put(e.head[:e.size])
	}
	x.session.Gather(&w.out)
	w.gathering = x.session
	x.session.SendHead(&w.out, x.status, framing, size)
}

// gather has what is sent in this turn be sent together.
func (x *exchange) gather() {
	w := x.worker
	if w.gathering != x.session {
		w.out.Reset() // what others had there went out when their turns ended
		x.session.Gather(&w.out)
		w.gathering = x.session
	}
}

// editTurn is told that a turn ends in which the server has said something.
func (x *exchange) editTurn() {
	e := &x.edit
	switch {
	case !e.due:
	case e.plain != nil || e.streams:
		x.sendEdited()
	case e.head == nil:
		x.keepAnswer()
	}
}

// keepAnswer keeps a head that waits beyond its turn. Without memory for it, the answer is
// another, and keepAnswer false.
func (x *exchange) keepAnswer() bool {
	w, e := x.worker, &x.edit
	block, err := w.loop.Memory().Get(w.out.Len())
	if err != nil {
		w.counts.shed.Add(1)
		x.refuseAnswer(x.link, 503, "no memory left for buffers")
		return false
	}
	e.head, e.size = block, 0
	for _, s := range w.out.List() {
		e.size += copy(block[e.size:], s)
	}
	w.copied += int64(e.size)
	return true
}
