//go:build linux

package proxy

import (
	"time"

	"redoubt/netloop"
	"redoubt/netloop/httpconn"
)

// tunnel is what two connections become that have switched to another protocol:
// each one's bytes go to the other.
type tunnel struct {
	exchange *exchange // whose client it was
	link     *link
	idle     time.Duration // without a byte either way, then it ends
	ends     [2]end        // the client's, the server's
	open     int
}

// end is one of a tunnel's connections, and its handler.
type end struct {
	tunnel *tunnel
	conn   *netloop.Conn // nil: closed
	other  *end
	done   bool // no more will come from here
}

// tunnel hands both connections over. The exchange is over then; its place
// among the peer's connections is kept until the tunnel ends.
func (x *exchange) tunnel(k *link) {
	t := &tunnel{exchange: x, link: k, idle: x.plan.config.Timeouts.Tunnel, open: 2}
	for i, c := range [2]*netloop.Conn{x.session.Conn(), k.Conn()} {
		t.ends[i] = end{tunnel: t, conn: c, other: &t.ends[1-i]}
	}
	w := x.worker
	w.counts.tunnels.Add(1)
	k.part()
	k.HandOver(&t.ends[1])
	x.session.HandOver(&t.ends[0])
	t.alive()
}

// alive puts the tunnel's end off.
func (t *tunnel) alive() {
	for i := range t.ends {
		if c := t.ends[i].conn; c != nil {
			c.SetDeadline(t.idle)
		}
	}
}

// OnOpen does not come: the connections stood before. It, and the methods below,
// are netloop's.
func (*end) OnOpen(*netloop.Conn) {}

// OnData passes bytes on, and reads no more while the other side does not take
// them.
func (e *end) OnData(c *netloop.Conn, in []byte) int {
	e.tunnel.alive()
	if to := e.other.conn; to != nil {
		to.Write(in)
		if to.Pending() > 0 {
			c.PauseRead()
		}
	}
	return len(in)
}

// OnEnd passes the end on: the other direction goes on.
func (e *end) OnEnd(c *netloop.Conn) {
	e.done = true
	if e.other.conn != nil {
		e.other.conn.CloseWrite()
	}
	if e.other.done || e.other.conn == nil {
		e.tunnel.close()
	}
}

// OnDrain reads on.
func (e *end) OnDrain(*netloop.Conn) {
	if e.other.conn != nil {
		e.other.conn.ResumeRead()
	}
}

// OnTimeout ends a tunnel on which nothing has moved.
func (e *end) OnTimeout(*netloop.Conn) { e.tunnel.close() }

// OnShutdown lets the tunnel go on: whoever waits for the end says how long.
func (e *end) OnShutdown(*netloop.Conn) {}

// OnClose ends the other connection as well, and with both the exchange.
func (e *end) OnClose(_ *netloop.Conn, reason error) {
	e.conn = nil
	if to := e.other.conn; to != nil {
		if reason == nil {
			to.Close()
		} else {
			to.Abort() // what is missing must not look whole
		}
	}
	if e.tunnel.open--; e.tunnel.open == 0 {
		e.tunnel.end()
	}
}

func (t *tunnel) close() {
	for i := range t.ends {
		if c := t.ends[i].conn; c != nil {
			c.Close()
		}
	}
}

// end gives back what the tunnel has kept.
func (t *tunnel) end() {
	x, k := t.exchange, t.link
	x.worker.counts.tunnels.Add(-1)
	k.pool.open--
	k.pool.origin.open.Add(-1)
	k.Client, k.pool = httpconn.Client{}, nil // it has handed its connection over, and is of no use
	x.worker.links.Put(k)
	x.close()
}
