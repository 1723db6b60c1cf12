//go:build linux

package proxy

import (
	"bytes"

	"redoubt/netloop/http1"
	"redoubt/proxy/body"
	"redoubt/proxy/coding"
	"redoubt/proxy/subst"
)

// Bodies in a coding are decoded, rewritten and coded again by workers of a pool, for
// decoders cannot stop in the middle. So are those whose rules have to be compiled
// first. The loop gives them what has been read, takes what comes out when it is told,
// and reads no more of the server while they have enough to do.

// coded is such a body, as its loop sees it.
type coded struct {
	worker   *worker
	exchange *exchange // whose it is; nil: nobody's any more
	asked    bool      // it is the request's
	body     *coding.Body
	stream   *body.Stream // set by the pool's worker, the loop's when that is done
	trailers []byte
}

// startCoded has a body rewritten by the pool.
func (x *exchange) startCoded(job coding.Job, subset *body.Subset) *coded {
	w := x.worker
	c := &coded{worker: w, exchange: x}
	if !subset.Empty() {
		job.Stream = func() *subst.Stream {
			if c.stream = subset.Stream(); c.stream == nil {
				c.stream = subset.Compile()
			}
			return c.stream.Stream
		}
	}
	turn := c.turn
	c.body = w.proxy.codings.Start(job, func() { w.loop.Post(turn) })
	return c
}

// full tells that the pool has enough of a body for now. c may be nil.
func (c *coded) full() bool { return c != nil && c.body.Full() }

// leave ends what the loop has to do with it.
func (c *coded) leave() {
	c.exchange = nil
	c.body.Stop() // a worker may still have the stream: it goes with it
}

// turn takes what has been done, while who is to have it takes it.
func (c *coded) turn() {
	for c.exchange != nil && c.room() {
		w := c.worker
		parts, done, err := c.body.Take(w.taken[:0])
		w.taken = parts
		c.pass(parts)
		clear(w.taken)
		switch {
		case done:
			c.finish(err)
			return
		case len(parts) == 0:
			c.more()
			return
		}
	}
}

// room tells that all which was passed on has been taken. Where it is false, an end to
// that calls turn.
func (c *coded) room() bool {
	x := c.exchange
	if !c.asked {
		return x.session.Conn().Pending() == 0
	}
	if x.link == nil { // the server has answered, and wants no more
		x.asks.coded = nil
		c.leave()
		return false
	}
	return x.link.Conn().Pending() == 0
}

// pass sends parts on.
func (c *coded) pass(parts [][]byte) {
	x, w := c.exchange, c.worker
	if !c.asked {
		if x.edit.due && len(parts) > 0 {
			x.sendHead(http1.Chunked, 0)
		}
		x.gather()
		for _, p := range parts {
			x.out += int64(len(p))
		}
		x.session.SendParts(parts)
		w.flush()
		return
	}
	w.up.Reset()
	w.up.Chunks(parts)
	x.link.More(w.up.List())
}

// more lets more of the body come, if the pool can take it.
func (c *coded) more() {
	x := c.exchange
	switch {
	case c.body.Full():
	case c.asked:
		if !x.bodyDone {
			x.session.ResumeBody()
		}
	case x.link != nil:
		x.link.ResumeBody()
	}
}

// finish ends the body, all of which has been passed on.
func (c *coded) finish(err error) {
	x := c.exchange
	if c.asked {
		x.asks.coded = nil
	} else {
		x.edit.coded = nil
		x.edit.spent += c.body.Spent()
		if err == nil && c.stream != nil {
			x.learn(c.stream)
		}
	}
	if c.stream != nil {
		x.edit.matches += c.stream.Close()
	}
	c.leave()
	switch {
	case c.asked && err == nil:
		x.askedWhole(c.trailers)
	case c.asked && err == coding.ErrTooLong:
		x.refuseAsked(413, "the request's body is too long when it is decoded")
	case c.asked:
		x.refuseAsked(400, "the request's body: "+err.Error())
	case err == nil:
		if x.edit.due { // nothing has come of it
			x.sendHead(http1.Chunked, 0)
		}
		x.session.EndBody(c.trailers)
		c.worker.flush()
	case x.edit.due && !x.cut:
		x.refuseAnswer(x.link, 502, err.Error())
	default:
		x.cutAnswer(err.Error())
	}
}

// cutAnswer ends an answer that has begun and cannot be finished.
func (x *exchange) cutAnswer(why string) {
	if k := x.link; k != nil {
		k.part()
		k.Close()
	}
	if !x.cut { // else it is known why
		x.cut, x.failure = true, why
	}
	x.worker.counts.cut.Add(1)
	x.session.Abort()
}

// beginEdit begins to rewrite an answer's body, whose head has been put together.
func (x *exchange) beginEdit(r *http1.Response) {
	e := &x.edit
	e.due, e.edited = true, true
	x.worker.counts.edited.Add(1)
	if e.coding == coding.Identity {
		if e.plain = e.subset.Stream(); e.plain != nil {
			if e.step = mostFed; e.plain.Wild() {
				e.step = leastFed
			}
		}
	}
	kind, _, _ := bytes.Cut(r.Get(http1.ContentType), []byte(";"))
	e.streams = bytes.EqualFold(bytes.TrimSpace(kind), []byte("text/event-stream"))
}

// codedPiece gives a piece of an answer's body to the pool.
func (x *exchange) codedPiece(b []byte) {
	e := &x.edit
	if e.coded == nil {
		if len(e.first) > 0 {
			e.first = append(e.first, b...)
			b = e.first
		}
		window, verdict := coding.Inspect(e.coding, b)
		switch {
		case verdict == coding.NeedMore:
			if len(e.first) == 0 {
				e.first = append(e.first, b...)
			}
			return
		case verdict == coding.Fine && window <= x.worker.proxy.codings.Window():
		default:
			why := "the body is not in the coding " + e.coding.String()
			if verdict == coding.Fine {
				why = "the body's coding looks farther back than is allowed (limits.coded_window)"
			}
			if e.due {
				x.refuseAnswer(x.link, 502, why)
			} else {
				x.cutAnswer(why)
			}
			return
		}
		if e.due && e.head == nil && !x.keepAnswer() {
			return
		}
		if e.coding == coding.Zstd {
			window = 0 // the first frame's; those behind it may have the largest that is allowed
		}
		e.coded = x.startCoded(coding.Job{From: e.coding, To: e.to, Window: window}, e.subset)
		if e.coded.body.Waits() {
			x.patience()
		}
		e.first = nil
	}
	e.coded.body.Write(b)
}

// patience bounds how long a body waits for its turn in the pool: as long as a server may
// for its answer.
func (x *exchange) patience() {
	if d := x.plan.config.Timeouts.Response; d > 0 {
		x.worker.loop.Arm(&x.timer, d)
	}
}

// outOfPatience is told when that is over, or something else that the timer was for.
func (x *exchange) outOfPatience() bool {
	const why = "the pool for coded bodies was full for too long (limits.coded_memory)"
	switch c, a := x.edit.coded, x.asks.coded; {
	case a != nil && a.body.Waits():
		x.worker.counts.shed.Add(1)
		x.refuseAsked(503, why)
	case c == nil || !c.body.Waits():
		return false
	case x.edit.due:
		x.worker.counts.shed.Add(1)
		x.refuseAnswer(x.link, 503, why)
	default:
		x.cutAnswer(why)
	}
	return true
}

// codedEnd ends it.
func (x *exchange) codedEnd(trailers *http1.Body) {
	e := &x.edit
	switch {
	case e.coded != nil:
		e.coded.trailers = bytes.Clone(x.worker.cleanTrailers(trailers, x.route.Response, true))
		e.coded.body.End()
		return
	case len(e.first) > 0 && e.due:
		x.refuseAnswer(nil, 502, "the body ends within the beginning of its coding")
		return
	case len(e.first) > 0:
		x.cutAnswer("the body ends within the beginning of its coding")
		return
	case e.due: // an empty body
		x.sendHead(http1.Sized, 0)
	}
	x.session.EndBody(nil)
	x.worker.flush()
}
