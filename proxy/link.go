//go:build linux

package proxy

import (
	"net/netip"

	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
)

// link is a connection to a server: being dialled, an exchange's, or idle in
// its pool.
type link struct {
	httpconn.Client
	linkState
}

// linkState begins anew with each connection.
type linkState struct {
	worker   *worker
	pool     *pool
	addr     netip.AddrPort
	exchange *exchange // whose it is; nil: nobody's
	carries  bool      // ... a request of it
	stands   bool
	idled    bool // it was in its pool before
	place    int  // among its pool's idle ones, from 1; 0: not there
}

// carry makes a link the one that an exchange's request goes over.
func (k *link) carry(x *exchange) {
	k.exchange, k.carries, x.link = x, true, k
	k.pool.origin.active.Add(1)
}

// part ends what a link has to do with its exchange, if anything.
func (k *link) part() {
	if k.carries {
		k.carries, k.exchange.link = false, nil
		k.pool.origin.active.Add(-1)
	}
	k.exchange = nil
}

// OnConnect, and the methods below, are httpconn's.
func (k *link) OnConnect(*httpconn.Client) {
	k.stands = true
	if x := k.exchange; x != nil {
		x.connected(k)
	} else {
		k.pool.arrived(k)
		k.pool.keep(k)
	}
}

// OnBegin notes when the answer begins.
func (k *link) OnBegin(*httpconn.Client) {
	if x := k.exchange; x != nil {
		x.begins()
	}
}

// OnInterim passes an answer of 1xx on.
func (k *link) OnInterim(_ *httpconn.Client, r *http1.Response) {
	if x := k.exchange; x != nil {
		x.interim(r)
	}
}

// OnResponse passes the answer's head on.
func (k *link) OnResponse(_ *httpconn.Client, r *http1.Response) {
	if x := k.exchange; x != nil {
		x.response(k, r)
	}
}

// OnBody passes a piece of its body on.
func (k *link) OnBody(_ *httpconn.Client, piece []byte) {
	if x := k.exchange; x != nil {
		x.piece(piece)
	}
}

// OnDone ends the exchange.
func (k *link) OnDone(_ *httpconn.Client, trailers *http1.Body, reusable bool) {
	if x := k.exchange; x != nil {
		x.answered(k, trailers)
	}
	switch {
	case reusable:
		k.pool.keep(k)
	case k.Surplus():
		k.worker.counts.surplus.Add(1)
	case k.pool.upstream != nil && k.pool.upstream.Connections > 0:
		k.Close() // not when the server does: its place may be needed
	}
}

// OnTurn sends what has been gathered of an answer, and reads no more of it
// while the client does not take what there is.
func (k *link) OnTurn(*httpconn.Client) {
	if x := k.exchange; x != nil && x.edit.due {
		x.editTurn()
	}
	k.worker.flush()
	if x := k.exchange; x != nil && (x.session.Conn().Pending() > 0 || x.edit.coded.full()) {
		k.PauseBody()
		k.worker.look() // what the client has not taken was kept
	}
}

// OnDrain lets more of the request's body come.
func (k *link) OnDrain(*httpconn.Client) {
	if x := k.exchange; x != nil && k.carries {
		if c := x.asks.coded; c != nil {
			c.turn()
		} else {
			x.session.ResumeBody()
		}
	}
}

// OnClose ends the link.
func (k *link) OnClose(_ *httpconn.Client, reason error) {
	w, p := k.worker, k.pool
	p.open--
	p.origin.open.Add(-1)
	if k.place != 0 {
		p.remove(k)
	}
	x, carried, begun := k.exchange, k.carries, k.Begun()
	k.part()
	if !k.stands {
		p.arrived(k)
	}
	if x != nil && carried {
		x.lost(p, reason, begun, k.idled)
	} else if x != nil {
		x.notConnected(k, reason)
	} else if !k.stands && reason != nil && !isOurs(reason) && !w.loop.Draining() {
		p.failed()
	}
	k.pool = nil
	w.links.Put(k)
}
