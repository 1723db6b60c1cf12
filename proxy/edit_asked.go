//go:build linux

package proxy

import (
	"bytes"

	"redoubt/netloop/http1"
	"redoubt/proxy/body"
	"redoubt/proxy/coding"
)

// requestEdit is what becomes of a request's body. What it will be long nobody knows
// when its head goes out, so that it goes on in chunks, and decoded.
type requestEdit struct {
	rules *body.Rules // nil: it passes as it is
	from  coding.Coding
	plain *body.Stream
	coded *coded
	first []byte // what has come of a coded one that the pool does not have yet
}

// editingAsked finds out what becomes of a request's body. It is false where the
// request has been answered.
func (x *exchange) editingAsked(r *http1.Request) bool {
	rules := x.route.asked
	if rules == nil || !x.body || !rules.Covers(x.client) || !takesAny(rules, r) {
		return true
	}
	if r.Has(http1.ContentRange) { // rules cannot be applied to a part
		x.failure = "rules are for whole bodies, and this is a part of one"
		x.reply(400, "")
		return false
	}
	from, ok := codingOf(r.Elements(http1.ContentEncoding))
	switch {
	case !ok && rules.Pass:
		return true
	case !ok:
		x.failure = "the body has a coding that is not known"
		x.reply(415, "Accept-Encoding: gzip, deflate, br, zstd\r\n")
		return false
	}
	x.asks.rules, x.asks.from = rules, from
	x.chunked = true
	return true
}

// editAsked rewrites a piece of it.
func (x *exchange) editAsked(piece []byte) {
	w, e := x.worker, &x.asks
	if e.plain == nil && e.coded == nil && !x.beginAsked(&piece) {
		return
	}
	if e.coded != nil {
		e.coded.body.Write(piece)
		if e.coded.full() {
			x.session.PauseBody()
		}
		return
	}
	w.edited.piece = piece
	e.plain.FeedTo(piece, w.edited.emit)
	x.sendAsked()
	if x.link.Conn().Pending() > 0 {
		x.session.PauseBody()
		w.look()
	}
}

// beginAsked begins to rewrite it, with its first piece. It is false where there is too
// little of that, or the request has been refused.
func (x *exchange) beginAsked(piece *[]byte) bool {
	w, e := x.worker, &x.asks
	if e.from == coding.Identity {
		e.plain = e.rules.All().Stream()
	}
	if e.plain != nil {
		return true
	}
	if len(e.first) > 0 {
		*piece = append(e.first, *piece...)
	}
	window, verdict := coding.Inspect(e.from, *piece)
	switch {
	case verdict == coding.NeedMore:
		e.first = append(e.first[:0], *piece...)
		return false
	case verdict == coding.Wrong:
		x.refuseAsked(400, "the request's body is not in the coding "+e.from.String())
		return false
	case window > w.proxy.codings.Window():
		x.refuseAsked(415, "the request's coding looks farther back than is allowed (limits.coded_window)")
		return false
	}
	e.first = nil
	if e.from == coding.Zstd {
		window = 0 // see codedPiece
	}
	e.coded = x.startCoded(coding.Job{From: e.from, To: coding.Identity, Window: window, Request: true, Most: x.plan.config.Limits.Body}, e.rules.All())
	e.coded.asked = true
	if e.coded.body.Waits() {
		x.patience()
	}
	return true
}

// sendAsked sends what has been put together.
func (x *exchange) sendAsked() {
	w := x.worker
	x.asks.plain.Release()
	w.up.Reset()
	w.up.Chunks(w.edited.parts)
	x.link.More(w.up.List())
	w.edited.forget()
}

// endAsked ends it, with trailers. It is false where workers are not done.
func (x *exchange) endAsked(trailers []byte) bool {
	e := &x.asks
	switch {
	case e.coded != nil:
		e.coded.trailers = bytes.Clone(trailers)
		e.coded.body.End()
		return false
	case e.plain != nil:
		x.worker.edited.piece = nil
		e.plain.FinishTo(x.worker.edited.emit)
		x.sendAsked()
	case len(e.first) > 0:
		x.refuseAsked(400, "the request's body ends within the beginning of its coding")
		return false
	}
	return true
}

// refuseAsked ends an exchange whose request's body is no good.
func (x *exchange) refuseAsked(status int, why string) {
	if k := x.link; k != nil {
		k.part()
		k.Close()
	}
	x.failure = why
	if x.answering {
		x.cut = true
		x.session.Abort()
		return
	}
	x.reply(status, "")
}
