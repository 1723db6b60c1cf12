//go:build linux

package proxy

import (
	"net/netip"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
	"redoubt/proxy/filter"
)

// exchange is a client's connection and the request under way on it, of which
// there is one at a time. It is the handler of the client's session: requests
// come in here, and judge.go, forward.go and answer.go go on with them.
type exchange struct {
	worker  *worker
	session *httpconn.Session
	peer    netip.Addr // who has connected
	conns   int        // connections that the peer had then, this one among them
	counted bool       // among them
	timer   netloop.Timer

	lines    []byte // what servers are told of the peer, see describePeer
	address  span   // its address in lines
	peerNode span   // ... and as Forwarded has it
	state
}

// state begins anew with each request. Slices keep their memory.
type state struct {
	plan    *plan // nil: no request is under way
	route   *route
	client  netip.Addr // the address that counts
	trusted bool       // the peer may speak for clients

	ask        httpconn.Ask
	body       bool // the request has one
	chunked    bool // ... in chunks
	bodyDone   bool // ... that has gone to the server
	repeatable bool // GET, HEAD or OPTIONS, without a body
	repeated   bool // it has been sent a second time
	answering  bool // the server's answer has been begun to be passed on
	cut        bool // we have ended it, and not the client

	head    []byte // a block with a copy of the request's head, if it may have to be sent later or again; else nil
	headLen int

	pool     *pool   // of the server that was picked
	link     *link   // that carries the request; nil: none
	dialling []*link // of which the first that stands will
	nextAddr int     // of the server's addresses, the next to be dialled
	tried    []*origin
	lack     int // what to answer if no server is left

	begin, judged, sent, first time.Duration // on the loop's clock; 0: not yet

	status   int
	in, out  int64 // bytes of bodies
	rule     *filter.Rule
	dry      bool
	failure  string
	upgrades []byte // what the client would upgrade to
	notes    notes

	all  bool // the server is asked for all of a body of which the client wants a part
	edit edit // of the answer's body
	asks requestEdit
}

// open makes the exchange of a connection that has come.
func (w *worker) open(s *httpconn.Session) httpconn.Handler {
	x := w.exchanges.Get()
	x.worker, x.session = w, s
	if x.timer.Func == nil {
		x.timer.Func = x.timeUp // once for each object
	}
	x.peer = s.Conn().RemoteAddr().Addr().WithZone("").Unmap() // no network has a zone
	x.conns, x.counted = w.proxy.conns.Add(x.peer), true
	x.describePeer()
	w.counts.conns.Add(1)
	return x
}

// close gives it back.
func (x *exchange) close() {
	w := x.worker
	w.loop.Disarm(&x.timer)
	if x.counted {
		w.proxy.conns.Remove(x.peer)
		x.counted = false
	}
	w.counts.conns.Add(-1)
	x.session = nil
	w.exchanges.Put(x)
}

// keepText is how much memory for texts stays with a connection: one long head
// must not leave as much behind for ever.
const keepText = 1 << 10

// reset ends what belongs to one request.
func (x *exchange) reset() {
	x.dropHead()
	dialling, tried, upgrades, text := x.dialling[:0], x.tried[:0], x.upgrades[:0], x.notes.text[:0]
	clear(tried[:cap(tried)])
	if cap(upgrades) > keepText {
		upgrades = nil
	}
	if cap(text) > keepText {
		text = nil
	}
	x.state = state{dialling: dialling, tried: tried, upgrades: upgrades, notes: notes{text: text}}
}

// OnRequest judges a request and has it answered. It, and the methods below,
// are httpconn's.
func (x *exchange) OnRequest(s *httpconn.Session, r *http1.Request) {
	w := x.worker
	x.plan = w.plan
	x.begin = w.loop.Clock()
	w.counts.inFlight.Add(1)
	framing, _ := r.Framing()
	x.body, x.chunked = framing != http1.None, framing == http1.Chunked
	x.bodyDone = !x.body
	x.identify(r)
	x.notes.identity(x, r)
	if x.plan.notes {
		x.notes.take(x, r)
	}
	if x.judge(r) && x.prepare(r) {
		x.forward(r)
	}
}

// OnBody passes a piece of the request's body on.
func (x *exchange) OnBody(s *httpconn.Session, piece []byte) {
	x.in += int64(len(piece))
	k := x.link
	if k == nil { // it has been answered
		return
	}
	out := &x.worker.up
	out.Reset()
	switch {
	case x.asks.rules != nil:
		x.editAsked(piece)
		return
	case x.chunked:
		out.Chunk(piece)
	default:
		out.Raw(piece)
	}
	k.More(out.List())
	if k.Conn().Pending() > 0 {
		s.PauseBody()
		x.worker.look()
	}
}

// OnBodyEnd ends it.
func (x *exchange) OnBodyEnd(_ *httpconn.Session, trailers *http1.Body) {
	x.bodyDone = true
	k := x.link
	if k == nil {
		return
	}
	lines := x.worker.cleanTrailers(trailers, x.route.Request, x.asks.rules != nil)
	if x.asks.rules != nil && !x.endAsked(lines) {
		return
	}
	x.askedWhole(lines)
}

// askedWhole ends the request, all of whose body has gone to the server.
func (x *exchange) askedWhole(trailers []byte) {
	k := x.link
	if x.chunked {
		out := &x.worker.up
		out.Reset()
		out.LastChunk(trailers)
		k.More(out.List())
	}
	if x.first == 0 { // else the answer has not waited
		x.sent = x.worker.loop.Clock()
	}
	k.End()
}

// OnDrain goes on with the answer.
func (x *exchange) OnDrain(*httpconn.Session) {
	if c := x.edit.coded; c != nil {
		c.turn()
	} else if x.edit.rest != nil {
		x.editRest()
	} else if k := x.link; k != nil {
		k.ResumeBody()
	}
}

// OnDone ends the exchange, whether or not it was answered.
func (x *exchange) OnDone(_ *httpconn.Session, err error) {
	w := x.worker
	w.loop.Disarm(&x.timer)
	if k := x.link; k != nil { // the client has gone, or its request has turned out to be no good
		k.part()
		k.Close()
	}
	for _, k := range x.dialling { // others may have use for them
		k.exchange = nil
		k.pool.coming = append(k.pool.coming, k)
	}
	x.endEdit()
	x.account(err)
	w.counts.inFlight.Add(-1)
	x.reset()
}

// OnClose ends the connection.
func (x *exchange) OnClose(*httpconn.Session) { x.close() }

// timeUp is the timer's function: another address is tried beside the one that
// takes long, rules go on that took long, a body has waited too long for its turn, or the client is told to send its body although the server has not
// said so: it may be one that never does.
func (x *exchange) timeUp() {
	switch {
	case len(x.dialling) > 0:
		x.dialNext()
	case x.edit.rest != nil:
		if x.session.Conn().Pending() <= mostPending { // else the client goes on with it
			x.editRest()
		}
	case x.outOfPatience():
	case x.link != nil && !x.bodyDone:
		x.session.Continue()
	}
}

// reply answers without a server.
func (x *exchange) reply(status int, fields string) {
	x.status = status
	x.session.Reply(status, plainText+fields, statusText(status))
}
