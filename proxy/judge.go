//go:build linux

package proxy

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"

	"redoubt/netloop/http1"
	"redoubt/proxy/filter"
)

// identify finds out whose request it is.
func (x *exchange) identify(r *http1.Request) {
	x.client, x.trusted = x.peer, false
	if len(x.plan.config.Trust) > 0 && x.plan.trusted(x.peer) {
		x.trusted = true
		x.client = x.plan.clientOf(r, x.peer)
	}
}

// judge finds out whether, and to where, a request goes. Where it goes nowhere
// it has been answered.
func (x *exchange) judge(r *http1.Request) bool {
	w := x.worker
	if r.Form() == http1.AuthorityForm {
		x.session.CloseAfter() // what follows was meant for the tunnel, and is no request
	}
	if x.plan.filter != nil {
		conns := x.conns
		if x.trusted {
			conns = 0 // they are those of many clients
		}
		v := x.plan.filter.Check(x.client, conns, r, w.loop.Now())
		x.judged = w.loop.Clock()
		if v.Rule != nil {
			x.rule, x.dry = v.Rule, v.Dry
			if !v.Dry {
				x.refuse(v)
				return false
			}
		}
	}
	x.route = x.plan.match(r)
	switch {
	case r.Form() == http1.AuthorityForm: // a tunnel to anywhere is no filter's business
		x.failure = "CONNECT is not allowed"
		x.reply(405, allowed)
	case x.route == nil && !x.isLast(r):
		x.failure = "no route"
		x.reply(404, "")
	case r.Has(http1.Via) && goesInCircles(r):
		x.failure = "the request has come through here again and again"
		x.reply(508, "")
	case x.isLast(r):
		x.failure = "Max-Forwards is 0"
		if string(r.Method()) == "TRACE" { // which would tell what others have sent
			x.reply(405, allowed)
			return false
		}
		x.status = 204
		x.session.Reply(204, allowed, nil)
	case w.short():
		x.failure = "memory for buffers is running out"
		w.counts.shed.Add(1)
		x.reply(503, "Retry-After: 1\r\n")
	default:
		return true
	}
	return false
}

func (x *exchange) refuse(v filter.Verdict) {
	switch {
	case v.Status == filter.CloseSilently:
		x.cut = true
		x.session.CloseAfter()
		x.session.Abort()
	case v.Status == 429:
		seconds := int64((v.RetryAfter + time.Second - 1) / time.Second)
		x.reply(v.Status, "Retry-After: "+strconv.FormatInt(max(seconds, 1), 10)+"\r\n")
	default:
		x.reply(v.Status, "")
	}
}

// mostRounds is how many proxies of our kind may be one behind the other.
const mostRounds = 8

// goesInCircles tells that a request has come through so many that it has come
// through the same ones: an upstream leads back here.
func goesInCircles(r *http1.Request) bool {
	n := 0
	for e := range r.Elements(http1.Via) {
		if bytes.HasSuffix(e, []byte(" redoubt")) {
			n++
		}
	}
	return n >= mostRounds
}

// allowed are the usual methods, as an answer of our own lists them.
const allowed = "Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH\r\n"

// maxForwardsName counts down in requests that ask about the way (RFC 9110, 7.6.2).
const maxForwardsName = "Max-Forwards"

func asksAboutTheWay(method []byte) bool {
	return string(method) == "OPTIONS" || string(method) == "TRACE"
}

// isLast tells that a request which asks about the way is not to go farther.
func (x *exchange) isLast(r *http1.Request) bool {
	if !asksAboutTheWay(r.Method()) {
		return false
	}
	value, ok := r.Find(maxForwardsName)
	return ok && len(value) > 0 && len(bytes.Trim(value, "0")) == 0
}

// clientOf is the client's address, as far as those say who are trusted: the
// right-most in X-Forwarded-For that is not one of them.
func (p *plan) clientOf(r *http1.Request, peer netip.Addr) netip.Addr {
	client := peer
	fields := r.Fields()
	for i := len(fields) - 1; i >= 0; i-- {
		if fields[i].Known() != http1.XForwardedFor {
			continue
		}
		for rest := r.Value(fields[i]); len(rest) > 0; {
			var element []byte
			rest, element = lastElement(rest)
			if len(element) == 0 {
				continue
			}
			a, ok := parseAddr(element)
			if !ok {
				return client // whatever stands before was written by somebody who cannot write
			}
			if client = a; !p.trusted(a) {
				return client
			}
		}
	}
	return client
}
