//go:build linux

package proxy

import (
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

// editPiece rewrites a piece of an answer's body.
func (x *exchange) editPiece(b []byte) {
	w, e := x.worker, &x.edit
	begin := w.loop.Clock()
	w.edited.piece = b
	e.plain.FeedTo(b, w.edited.emit)
	e.plain.Release() // what may be used again was copied
	e.spent += w.loop.Clock() - begin
	if e.due && len(w.edited.text) <= keepEdited {
		return
	}
	x.sendEdited()
	if len(w.edited.text) > keepEdited { // rules that make much of little
		w.flush()
	}
}

// editEnd ends a rewritten body.
func (x *exchange) editEnd(trailers *http1.Body) {
	w, e := x.worker, &x.edit
	begin := w.loop.Clock()
	w.edited.piece = nil
	e.plain.FinishTo(w.edited.emit)
	e.plain.Release()
	e.spent += w.loop.Clock() - begin
	x.learn(e.plain)
	lines := w.cleanTrailers(trailers, x.route.Response, true)
	if e.due && len(lines) == 0 {
		x.sendHead(http1.Sized, int64(w.edited.size))
	}
	x.sendEdited()
	x.session.EndBody(lines)
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

// keepAnswer keeps the head of an answer whose body has not begun.
func (x *exchange) keepAnswer() {
	w, e := x.worker, &x.edit
	block, err := w.loop.Memory().Get(w.out.Len())
	if err != nil {
		w.counts.shed.Add(1)
		x.refuseAnswer(x.link, 503, "no memory left for buffers")
		return
	}
	e.head, e.size = block, 0
	for _, s := range w.out.List() {
		e.size += copy(block[e.size:], s)
	}
	w.copied += int64(e.size)
}
