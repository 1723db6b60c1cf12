//go:build linux

package proxy

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
)

// How long an exchange waits before it helps itself.
const (
	// anotherAddress is how long a server's address may take before the next is
	// dialled beside it (RFC 8305, 5).
	anotherAddress = 250 * time.Millisecond
	// goAhead is how long a server may take for 100 Continue.
	goAhead = time.Second
)

// prepare finds out what will have to be known of a request when its head has
// gone. It is false where the request has been answered instead.
func (x *exchange) prepare(r *http1.Request) bool {
	method := r.Method()
	x.ask = httpconn.AskOf(method)
	switch string(method) {
	case "GET", "HEAD", "OPTIONS":
		x.repeatable = !x.body
	}
	if r.Upgrade() && x.route.Upgrade && !x.body && string(method) == "GET" {
		x.upgrades = appendUpgrades(x.upgrades[:0], r)
		if len(x.upgrades) > 0 {
			x.ask, x.repeatable = httpconn.Switch, false
		}
	}
	x.lack = 503
	x.editing(r)
	return x.editingAsked(r)
}

// appendUpgrades appends the protocols that a client would upgrade to. HTTP/2
// is not passed on: what runs over it, nobody here could judge (RFC 9113, 3.1).
func appendUpgrades(b []byte, r *http1.Request) []byte {
	for protocol := range r.Elements(http1.Upgrade) {
		if name, _, _ := bytes.Cut(protocol, []byte("/")); bytes.EqualFold(name, []byte("h2c")) || bytes.EqualFold(name, []byte("h2")) {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, protocol...)
	}
	return b
}

// forward finds a server for the request, and a connection to it: an idle one,
// or, if there is none or the request is repeated, a new one. r is the request's
// head.
func (x *exchange) forward(r *http1.Request) {
	w := x.worker
	for {
		u := x.route.to
		turn := &w.turns[0]
		if x.plan == w.plan {
			turn = &w.turns[u.number]
		}
		o := u.pick(*turn, x.tried, w.loop.Now())
		if o == nil {
			if x.failure == "" {
				x.failure = "no server is well"
			}
			x.fail(x.lack)
			return
		}
		*turn = (slices.Index(u.origins, o) + 1) % len(u.origins)
		x.tried = append(x.tried, o)
		x.pool = o.pools[w.index]
		switch addrs := o.addresses(); {
		case x.chunked && !o.takesChunks(w.loop.Now()):
			x.lack = 411 // it would not understand the body
			x.failure = "the server speaks HTTP/1.0 and knows no chunks"
			continue
		case len(addrs) == 0:
			x.lack = 502
			x.failure = "the server's name has no address"
			continue
		}
		if !x.repeated {
			if k := x.pool.take(); k != nil {
				if p := x.pool; x.repeatable && !x.copyHead(r) {
					p.keep(k)
					return
				}
				x.pool.reused.Add(1)
				x.send(k, r)
				return
			}
		}
		full := !x.pool.room()
		if full && len(x.pool.coming) == 0 {
			x.failure = "the server has as many connections as it may have"
			continue
		}
		if !x.copyHead(r) {
			return
		}
		if x.body {
			x.session.PauseBody()
		}
		if x.nextAddr = 0; full {
			x.pool.adopt(x)
		} else {
			x.dialNext()
		}
		return
	}
}

// dialNext dials the next of the server's addresses, while no other stands.
func (x *exchange) dialNext() {
	addrs := x.pool.origin.addresses()
	if x.nextAddr >= len(addrs) || len(x.dialling) > 0 && !x.pool.room() {
		return
	}
	x.dialling = append(x.dialling, x.pool.dial(x.route.to, addrs[x.nextAddr], x))
	if x.nextAddr++; x.nextAddr < len(addrs) {
		x.worker.loop.Arm(&x.timer, anotherAddress)
	}
}

// connected is told of a connection that stands.
func (x *exchange) connected(k *link) {
	x.worker.loop.Disarm(&x.timer)
	for _, other := range x.dialling {
		if other != k {
			other.exchange = nil
			other.Close()
		}
	}
	clear(x.dialling)
	x.dialling = x.dialling[:0]
	x.send(k, x.readHead())
}

// notConnected is told of one that could not be had.
func (x *exchange) notConnected(k *link, reason error) {
	x.lack, x.failure = 502, "cannot connect: "+reasonText(reason)
	switch {
	case errors.Is(reason, unix.ETIMEDOUT):
		x.lack = 504
	case isOurs(reason):
		x.lack = 503
	}
	if i := slices.Index(x.dialling, k); i >= 0 {
		x.dialling = slices.Delete(x.dialling, i, i+1)
	}
	if x.dialNext(); len(x.dialling) > 0 {
		return
	}
	if !isOurs(reason) {
		x.pool.failed() // none of the server's addresses has answered
	}
	x.forward(x.readHead())
}

// send sends the request's head over a connection that stands, and all of a
// request without a body.
func (x *exchange) send(k *link, r *http1.Request) {
	w := x.worker
	if !w.requestHead(x, r) {
		k.part()       // it may have been dialled for x
		x.pool.keep(k) // before the exchange is over
		x.failure = "a URL rule has made a target that is none, or has over 8,192 bytes"
		x.fail(500)
		return
	}
	w.copied += int64(w.up.Made())
	k.carry(x)
	x.pool.requests.Add(1)
	x.sent = w.loop.Clock()
	if x.body {
		k.Conn().Cork() // the head, and what has come of the body, in one packet
	}
	k.Begin(x.ask, w.up.List())
	if !x.body {
		k.End()
	} else {
		x.session.ResumeBody() // it has waited for a connection
		if r.ExpectContinue() {
			w.loop.Arm(&x.timer, goAhead)
		}
	}
	if !x.repeatable {
		x.dropHead()
	}
}

// lost is told that the connection of the request has ended before its answer
// was whole.
func (x *exchange) lost(p *pool, reason error, begun, idled bool) {
	w := x.worker
	// A connection that was idle may have been closed while the request was on
	// its way: that is nobody's failure, and where nothing can have happened
	// because of the request it is sent once more (RFC 9110, 9.2.2). With any
	// other request nobody knows what the server has done.
	if idled && !begun && x.repeatable && !x.repeated && reason != httpconn.ErrTimeout {
		x.repeated = true
		p.repeated.Add(1)
		clear(x.tried)
		x.tried = x.tried[:0]
		x.forward(x.readHead())
		return
	}
	x.failure = reasonText(reason)
	status := 502
	switch {
	case isOurs(reason):
		status = 503
	case idled && !begun && reason != httpconn.ErrTimeout:
	case reason == httpconn.ErrTimeout:
		status = 504
		p.failed()
	default:
		p.failed()
	}
	switch c := x.edit.coded; {
	case x.edit.due: // nothing of the answer has gone out
		x.refuseAnswer(nil, status, x.failure)
	case !x.answering:
		x.fail(status)
	case c != nil: // what has come goes on
		x.cut = true
		c.body.Cut()
	default:
		w.counts.cut.Add(1)
		x.cut = true
		x.session.Abort()
	}
}

// fail answers a request that no server has answered. The exchange is over then,
// and x another's: nothing of its state is what it was.
func (x *exchange) fail(status int) {
	fields := ""
	if status == 503 {
		fields = "Retry-After: 1\r\n"
	}
	x.reply(status, fields)
}

// copyHead keeps a copy of the request's head. Without memory for it the
// request is turned away, and copyHead is false.
func (x *exchange) copyHead(r *http1.Request) bool {
	if x.head != nil {
		return true
	}
	head := r.Head()
	block, err := x.worker.loop.Memory().Get(len(head))
	if err != nil {
		x.worker.counts.shed.Add(1)
		x.failure = "no memory left for buffers"
		x.fail(503)
		return false
	}
	x.head, x.headLen = block, copy(block, head)
	x.worker.copied += int64(x.headLen)
	return true
}

// readHead reads the copy.
func (x *exchange) readHead() *http1.Request {
	r := &x.worker.again
	r.Reset()
	if n, fault := r.Parse(x.head[:x.headLen]); n == 0 || fault != 0 {
		panic("proxy: a head that was read before cannot be read again: " + fault.Error())
	}
	return r
}

func (x *exchange) dropHead() {
	if x.head != nil {
		x.worker.loop.Memory().Put(x.head)
		x.head = nil
	}
}
