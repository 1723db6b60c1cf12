//go:build linux

package proxy

import (
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
		v := x.plan.filter.Check(x.client, x.conns, r, w.loop.Now())
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
		x.reply(405, "Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH\r\n")
	case x.route == nil:
		x.failure = "no route"
		x.reply(404, "")
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
