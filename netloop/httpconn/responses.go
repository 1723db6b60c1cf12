//go:build linux

package httpconn

import (
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// OnOpen, and the methods below, are netloop's.
func (c *Client) OnOpen(*netloop.Conn) {
	c.connected = true
	c.setDeadline()
	c.handler.OnConnect(c)
}

// OnData reads answers.
func (c *Client) OnData(conn *netloop.Conn, in []byte) (used int) {
	used = c.readAnswers(conn, in)
	if used > 0 && !c.handed {
		c.handler.OnTurn(c)
	}
	return used
}

func (c *Client) readAnswers(conn *netloop.Conn, in []byte) (used int) {
	for used < len(in) && c.reason == nil && !c.handed {
		switch {
		case c.inBody:
		case c.last && (c.Outstanding() > 0 || !c.parting): // what follows is no answer
			return len(in)
		case c.Outstanding() == 0:
			c.giveUp(ErrUnasked)
			return len(in)
		case !c.begun:
			c.begun = true
			c.handler.OnBegin(c)
			continue
		}
		if conn.Paused() {
			break
		}
		var n int
		if c.inBody {
			n = c.readBody(in[used:])
		} else {
			n = c.readHead(in[used:])
		}
		if n == 0 {
			break
		}
		used += n
	}
	return used
}

func (c *Client) readHead(in []byte) (used int) {
	n, fault := c.response.Parse(in)
	c.count(n, len(in))
	if fault != 0 {
		c.giveUp(fault)
		return len(in)
	}
	if n == 0 {
		return 0
	}
	ask := c.asked[c.first]
	status := c.response.Status()
	c.tunnel = status == 101 || ask == Connect && 200 <= status && status < 300
	switch {
	case status == 101 && ask != Switch:
		c.giveUp(ErrUnasked)
		return len(in)
	case status < 200 && status != 101:
		c.handler.OnInterim(c, &c.response)
		c.response.Reset()
		return n
	}
	framing, size := c.response.Framing(askMethods[ask])
	c.body.Reset(framing, size)
	c.inBody = true
	c.last = !c.response.KeepAlive() || framing == http1.UntilClose || c.tunnel // it is HTTP's no more
	c.setDeadline()
	c.handler.OnResponse(c, &c.response)
	if framing == http1.None && !c.handed && c.reason == nil {
		n += c.readBody(in[n:])
	}
	return n
}

func (c *Client) readBody(in []byte) (used int) {
	for {
		data, n, done, fault := c.body.Next(in[used:])
		c.count(n, len(in)-used)
		used += n
		if fault != 0 {
			c.giveUp(fault)
			return len(in)
		}
		if len(data) > 0 {
			c.setDeadline()
			c.handler.OnBody(c, data)
		}
		switch {
		case c.reason != nil:
			return used
		case done:
			c.endAnswer(used < len(in))
			return used
		case n == 0 || c.conn.Paused():
			return used
		}
	}
}

// count notes that n more bytes of the answer were used, of those that are
// there. If those do not suffice for any, they are the answer's all the same.
func (c *Client) count(n, there int) {
	c.read += n
	if c.partial = 0; n == 0 {
		c.partial = there
	}
}

// partingTime is how long a server that has said that it will close may take
// to do so. Whoever closes first keeps the pair of ports in TIME_WAIT for a
// minute, and a client that makes many connections to one server has no more
// than 28,000.
const partingTime = 100 * time.Millisecond

// endAnswer ends the oldest answer. more tells that something has arrived
// behind it.
func (c *Client) endAnswer(more bool) {
	serverCloses := !c.response.KeepAlive() && !c.tunnel
	c.inBody, c.begun, c.partial = false, false, 0
	c.first++
	c.response.Reset()
	draining := c.conn.Loop().Draining()
	c.surplus = more && c.Outstanding() == 0 && !c.tunnel
	switch {
	case c.surplus: // it would pass for the answer to the next request
		c.last, c.reason = true, ErrUnasked
	case draining && c.Outstanding() == 0:
		c.last = true
	}
	c.conn.ResumeRead()
	switch {
	case c.sending && c.Outstanding() == 0: // the server has not waited for the end
		c.last = true
		c.conn.Abort()
	case serverCloses && !c.surplus && !draining:
		c.parting = true
		c.conn.SetDeadline(partingTime)
	case c.last:
		c.conn.Close()
	default:
		c.setDeadline()
	}
	c.handler.OnDone(c, &c.body, !c.last)
	c.read = 0
}

// OnEnd ends an answer that goes on until the connection ends, or the
// connection.
func (c *Client) OnEnd(conn *netloop.Conn) {
	switch {
	case c.inBody && c.body.EOF():
		c.endAnswer(false)
		conn.Close()
	case c.parting:
		conn.Close()
	case c.Outstanding() > 0 && !c.begun:
		c.giveUp(ErrNoAnswer)
	case c.Outstanding() > 0:
		c.giveUp(ErrTruncated)
	default:
		c.last = true
		conn.Close()
	}
}

// OnDrain is netloop's.
func (c *Client) OnDrain(*netloop.Conn) {
	if !c.parting {
		c.handler.OnDrain(c)
	}
}

// OnTimeout gives up a server that is too slow.
func (c *Client) OnTimeout(conn *netloop.Conn) {
	if c.Outstanding() > 0 && !c.parting {
		c.giveUp(ErrTimeout)
		return
	}
	c.last = true
	conn.Close()
}

// OnShutdown closes an idle connection; one with answers outstanding ends when
// its user closes it.
func (c *Client) OnShutdown(conn *netloop.Conn) {
	if c.Outstanding() == 0 || c.parting {
		c.last = true
		conn.Close()
	}
}

// OnClose is netloop's.
func (c *Client) OnClose(_ *netloop.Conn, reason error) {
	switch {
	case c.reason != nil:
		reason = c.reason
	case c.Outstanding() > 0 && reason == nil:
		reason = ErrTruncated
	case c.Outstanding() == 0 && c.last: // however it went after the last answer
		reason = nil
	}
	// The connection will be another's, and the client may be dialled anew, or be
	// another's as well, when the handler returns.
	c.open, c.conn = false, nil
	c.handler.OnClose(c, reason)
}

func (c *Client) giveUp(why error) {
	c.reason = why
	c.conn.Abort()
}
