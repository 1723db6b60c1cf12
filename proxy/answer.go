//go:build linux

package proxy

import (
	"bytes"

	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
)

// begins notes the first byte of the server's answer.
func (x *exchange) begins() {
	x.first = x.worker.loop.Clock()
	x.pool.wait.Observe(x.first - x.sent)
}

// interim passes an answer of 1xx on. 100 goes to a client that waits for it
// and to no other; nor do these answers wait for a client that does not read.
func (x *exchange) interim(r *http1.Response) {
	w := x.worker
	if r.Status() == 100 {
		w.loop.Disarm(&x.timer)
		x.session.Continue()
		return
	}
	if x.session.Conn().Pending() > 0 {
		return
	}
	out := &w.out
	out.Reset()
	w.answerLine(out, r)
	w.answerFields(out, x, r)
	out.EndHead()
	x.session.Interim(bytes.Join(out.List(), nil)) // rare enough
}

// response passes the answer's head on, and begins to gather what follows it.
func (x *exchange) response(k *link, r *http1.Response) {
	w, s := x.worker, x.session
	o := k.pool.origin
	o.answered()
	o.speaks(r.Minor(), x.worker.loop.Now())
	status := r.Status()
	if status == 101 {
		x.switchProtocol(k, r)
		return
	}
	if x.edit.rules != nil && !x.decide(k, r) {
		return
	}
	x.status, x.answering = status, true
	w.out.Reset()
	w.answerLine(&w.out, r)
	w.answerFields(&w.out, x, r)
	w.answerOwn(&w.out, x, r)
	if x.edit.subset != nil && x.ask != httpconn.Head {
		x.beginEdit(r)
		return
	}
	framing, size := x.framing(r)
	s.Gather(&w.out)
	w.gathering = s
	s.SendHead(&w.out, status, framing, size)
}

// framing is how the client is told the body's end. One that ends with the
// server's connection goes on in chunks, which tell a whole body from a cut one.
// An answer to HEAD says what one to GET would.
func (x *exchange) framing(r *http1.Response) (http1.Framing, int64) {
	if x.ask == httpconn.Head {
		switch {
		case x.edit.subset != nil: // who knows how long it would be
			return http1.None, 0
		case r.Chunked():
			return http1.Chunked, 0
		case r.ContentLength() >= 0:
			return http1.Sized, r.ContentLength()
		}
		return http1.None, 0
	}
	framing, size := r.Framing(nil)
	if framing == http1.UntilClose {
		framing = http1.Chunked
	}
	return framing, size
}

// piece passes a piece of the body on.
func (x *exchange) piece(b []byte) {
	switch {
	case x.edit.plain != nil:
		x.editPiece(b)
	case x.edit.subset != nil:
		x.codedPiece(b)
	default:
		x.out += int64(len(b))
		x.session.SendBody(b)
	}
}

// answered ends the exchange, whose answer is whole.
func (x *exchange) answered(k *link, trailers *http1.Body) {
	k.part()
	switch {
	case !x.answering:
	case x.edit.plain != nil:
		x.editEnd(trailers)
	case x.edit.subset != nil && x.ask != httpconn.Head:
		x.codedEnd(trailers)
	default:
		x.session.EndBody(x.worker.cleanTrailers(trailers, x.route.Response, false))
	}
}

// switchProtocol makes a tunnel of both connections, if that is what the client
// has asked for.
func (x *exchange) switchProtocol(k *link, r *http1.Response) {
	w, s := x.worker, x.session
	chosen := 0
	for protocol := range r.Elements(http1.Upgrade) {
		if !hasElement(x.upgrades, protocol) {
			chosen = 0
			break
		}
		chosen++
	}
	if chosen == 0 {
		k.part()
		k.Close()
		x.failure = "the server switches to a protocol that the client has not asked for"
		x.fail(502)
		return
	}
	x.status, x.answering = 101, true
	w.out.Reset()
	w.answerLine(&w.out, r)
	w.answerFields(&w.out, x, r)
	w.answerOwn(&w.out, x, r)
	for protocol := range r.Elements(http1.Upgrade) {
		w.out.Field("Upgrade", protocol)
	}
	w.out.Put(connectionUpgrade)
	s.SendHead(&w.out, 101, http1.None, 0)
	x.tunnel(k)
}

// hasElement tells whether a list that appendUpgrades has made has an element.
func hasElement(list, element []byte) bool {
	for len(list) > 0 {
		var first []byte
		first, list, _ = bytes.Cut(list, []byte(", "))
		if bytes.EqualFold(first, element) {
			return true
		}
	}
	return false
}
