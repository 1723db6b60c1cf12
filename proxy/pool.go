//go:build linux

package proxy

import (
	"net/netip"
	"slices"

	"redoubt/internal/metrics"
	"redoubt/netloop/httpconn"
)

// pool is a loop's part of a server: its idle connections, the one used last on
// top, so that those which are not needed grow old below and close.
type pool struct {
	worker   *worker // nil until a loop has it
	origin   *origin
	upstream *upstream // as the plan in force has it; nil: not there any more
	most     int       // connections that the loop may have to the server: its share of those allowed; 0: no limit
	open     int       // ... that it has
	idle     []*link
	coming   []*link // being dialled, and nobody's

	requests, reused, repeated, dialled, failures metrics.Counter
	wait                                          metrics.Histogram // from the request to its answer's first byte
}

// dial begins to connect to one of the server's addresses, as u says: an exchange
// that has begun with an older plan goes on by that. x may be nil: the
// link goes to the pool then.
func (p *pool) dial(u *upstream, addr netip.AddrPort, x *exchange) *link {
	w := p.worker
	k := w.links.Get()
	k.linkState = linkState{worker: w, pool: p, addr: addr, exchange: x}
	p.open++
	p.origin.open.Add(1)
	p.dialled.Add(1)
	o := httpconn.ClientOptions{DialTimeout: u.Dial, IdleTimeout: u.Idle}
	o.HeadTimeout, o.BodyTimeout = w.plan.config.Timeouts.Response, w.plan.config.Timeouts.Idle
	if x == nil {
		p.coming = append(p.coming, k)
	}
	k.Dial(w.loop, addr, o, k)
	return k
}

// take takes an idle connection that will do for a request; nil if there is none.
// The system is asked whether it still stands, and has nothing to say: an event
// that tells may be on its way, and what was sent unasked would pass for the answer.
func (p *pool) take() *link {
	for len(p.idle) > 0 {
		k := p.idle[len(p.idle)-1]
		p.remove(k)
		if k.Usable() && p.origin.at(k.addr) && k.Conn().Quiet() {
			return k
		}
		k.Close()
	}
	return nil
}

// adopt has x wait for a connection that is coming: it may have the last place.
func (p *pool) adopt(x *exchange) {
	last := len(p.coming) - 1
	k := p.coming[last]
	p.coming = slices.Delete(p.coming, last, last+1)
	k.exchange = x
	x.dialling = append(x.dialling, k)
}

// arrived is told of one that stands, or never will.
func (p *pool) arrived(k *link) {
	if i := slices.Index(p.coming, k); i >= 0 {
		p.coming = slices.Delete(p.coming, i, i+1)
	}
}

// room tells whether one more connection is allowed.
func (p *pool) room() bool { return p.most == 0 || p.open < p.most }

// share is a loop's part of the connections that are allowed to a server: what one
// loop keeps idle another cannot have.
func share(most, loop, loops int) int {
	n := most / loops
	if loop < most%loops {
		n++
	}
	return n
}

// keep takes in a connection that nobody needs now, if there is room.
func (p *pool) keep(k *link) {
	if p.upstream == nil || len(p.idle) >= p.upstream.Keepalive || !p.origin.at(k.addr) || p.worker.loop.Draining() {
		k.Close()
		return
	}
	p.idle = append(p.idle, k)
	k.place, k.idled = len(p.idle), true
}

func (p *pool) remove(k *link) {
	last := len(p.idle) - 1
	p.idle = slices.Delete(p.idle, k.place-1, k.place) // the order is that of use
	for i := k.place - 1; i < last; i++ {
		p.idle[i].place = i + 1
	}
	k.place = 0
}

// ready makes the connections that the server is to have at the start.
func (p *pool) ready() {
	if addrs := p.origin.addresses(); len(addrs) > 0 {
		for n := len(p.idle); n < min(p.upstream.Ready, p.upstream.Keepalive) && p.room(); n++ {
			p.dial(p.upstream, addrs[0], nil)
		}
	}
}

// retire closes what is idle: the plan has the server no more.
func (p *pool) retire() {
	p.upstream = nil
	for _, k := range slices.Clone(p.idle) {
		p.remove(k)
		k.Close()
	}
}

// failed notes a connection that could not be had, or brought no answer.
func (p *pool) failed() {
	p.failures.Add(1)
	if u := p.upstream; u != nil {
		p.origin.failed(u.Fails, u.Retry, p.worker.loop.Now())
	}
}
