//go:build linux

package httpconn

import (
	"errors"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// Session is the server's side of a connection. It implements
// netloop.Handler.
type Session struct {
	session
	request http1.Request
	body    http1.Body
}

// session is what begins anew with each connection.
type session struct {
	server  *Server
	conn    *netloop.Conn
	handler Handler

	phase     phase
	served    bool // at least one request
	inData    bool // OnData is running
	more      bool // ... and has input behind this request
	peerDone  bool // the peer will send no more
	open      bool // between OnRequest and OnDone
	headOnly  bool // the request is a HEAD
	connect   bool // the request is a CONNECT
	keep      bool // the request lets the connection stay
	bodyDone  bool // the request's body has been read
	waiting   bool // for the peer to take output, before the next request is looked at
	continued bool // 100 Continue was sent or is not wanted
	late      bool // the time for the request is over
	fault     http1.Fault

	answer answer
	gather *http1.Segments // what is sent of it is collected here, if not nil

	size    int64  // of a sized body
	got     int64  // bytes so far of one that streams
	headLen int    // of the request whose body is awaited
	whole   []byte // head and body of a chunked request, in a block of the slab
	filled  int    // bytes of it
	content []byte // a whole body, while it is handed over
	line    []byte // what has come of a request line, while Refused is told
}

// phase is what a session waits for. Each has one deadline.
type phase uint8

const (
	idle      phase = iota // for the first byte of a request
	inHead                 // for the rest of a head
	inBody                 // for the rest of a body
	answering              // for the handler
	over                   // for the connection's end
	handed                 // for nothing: the connection is another's
)

// ErrGone is why an exchange ends whose client has closed the connection.
var ErrGone = errors.New("the client has gone")

func (s *Session) reset(sv *Server, c *netloop.Conn) {
	s.session = session{server: sv, conn: c}
}

// Conn is the session's connection: for its addresses, and how much output is
// pending. What to send goes through the session.
func (s *Session) Conn() *netloop.Conn { return s.conn }

// Request is the head that OnRequest has brought. Its views end with
// OnRequest; what it tells of framing and keep-alive stays until OnDone.
func (s *Session) Request() *http1.Request { return &s.request }

// OnOpen, and the methods below, are netloop's.
func (s *Session) OnOpen(c *netloop.Conn) { c.SetDeadline(s.server.options.IdleTimeout) }

// turn is how many requests of one connection are answered, and turnBytes how
// much is said, before others have their turn.
const (
	turn      = 256
	turnBytes = 1 << 20
)

// OnData reads requests and has them answered, as long as answers are taken.
func (s *Session) OnData(c *netloop.Conn, in []byte) (used int) {
	if s.late {
		s.tooLate(in)
		return len(in)
	}
	s.inData = true
	s.server.sent = 0
	again := true
	for n := 0; again && n < turn && s.server.sent < turnBytes; n++ {
		var k int
		k, again = s.step(in[used:])
		used += k
	}
	s.server.flush(s)
	s.inData, s.more = false, false
	switch {
	case s.phase == handed:
		s.release()
	case again && used < len(in):
		c.Again()
	case s.peerDone && !c.Paused() && s.incomplete():
		s.cutShort()
	}
	return used
}

// incomplete tells that no whole request is there.
func (s *Session) incomplete() bool { return s.phase < answering }

// step goes on with the phase the session is in. It returns how much of in it
// has used, and whether another step may find something to do.
func (s *Session) step(in []byte) (used int, again bool) {
	switch s.phase {
	case idle:
		// Empty lines before a request are no request yet (RFC 9112, 2.2).
		for len(in) >= 2 && in[0] == '\r' && in[1] == '\n' {
			in = in[2:]
			used += 2
		}
		// Nor is the half of one: a lone CR does not start the head's clock.
		if len(in) == 0 || len(in) == 1 && in[0] == '\r' || !s.taken() {
			return used, false
		}
		n, again := s.readHead(in)
		return used + n, again
	case inHead:
		return s.readHead(in)
	case inBody:
		if s.server.options.WholeBodies {
			return s.readWhole(in)
		}
		return s.readPieces(in)
	case over:
		return len(in), false
	}
	return 0, false
}

// taken tells whether the peer has taken the answers so far. Where it has not,
// nothing more of it is looked at.
func (s *Session) taken() bool {
	if len(s.server.batch) >= batchSize/2 {
		s.server.flush(s)
	}
	if s.conn.Pending() == 0 {
		return true
	}
	s.waiting = true
	s.conn.PauseRead()
	s.conn.SetDeadline(0) // output has one of its own
	return false
}

func (s *Session) readHead(in []byte) (used int, again bool) {
	o := &s.server.options
	if s.phase == idle {
		s.request.Reset()
	}
	n, fault := s.request.Parse(in)
	if fault != 0 {
		s.refuse(fault, in)
		return len(in), false
	}
	if n == 0 {
		if s.phase == idle {
			s.phase = inHead
			s.conn.SetDeadline(o.HeadTimeout)
		}
		return 0, false
	}
	r := &s.request
	framing, size := r.Framing()
	if size > o.MaxBody {
		s.refuse(http1.BodyTooLong, in)
		return len(in), false
	}
	s.served = true
	s.headOnly = string(r.Method()) == "HEAD"
	s.connect = string(r.Method()) == "CONNECT"
	s.keep = r.KeepAlive()
	s.bodyDone = framing == http1.None
	s.continued = !r.ExpectContinue()
	s.answer = answer{}
	s.size, s.got, s.headLen = size, 0, n
	s.body.Reset(framing, size)

	if !o.WholeBodies {
		s.begin(n < len(in))
		return n, true
	}
	if s.bodyDone {
		s.more = n < len(in)
		s.deliver()
		return n, true
	}
	s.phase = inBody
	s.conn.SetDeadline(o.BodyTimeout)
	return s.readWhole(in)
}

// deliver hands a whole request over. Its views end with it.
func (s *Session) deliver() {
	s.phase, s.bodyDone, s.open = answering, true, true
	s.handler.OnRequest(s, &s.request)
	if s.phase == answering { // it will be answered later
		s.conn.SetDeadline(0)
	}
}

// begin hands a head over whose body will stream.
func (s *Session) begin(more bool) {
	s.more, s.open = more, true
	s.phase = inBody
	if s.bodyDone {
		s.phase = answering
		s.conn.SetDeadline(0)
	} else if s.continued {
		s.conn.SetDeadline(s.server.options.BodyTimeout)
	} else { // the client waits for us to call Continue
		s.conn.SetDeadline(0)
	}
	s.handler.OnRequest(s, &s.request)
}

// readPieces hands over what there is of a body.
func (s *Session) readPieces(in []byte) (used int, again bool) {
	for !s.conn.Paused() {
		data, n, done, fault := s.body.Next(in[used:])
		used += n
		s.got += int64(len(data))
		if s.got > s.server.options.MaxBody {
			fault = http1.BodyTooLong
		}
		if fault != 0 {
			s.refuse(fault, nil) // who has heard of the head hears of this
			return len(in), false
		}
		if len(data) > 0 {
			s.continued = true
			s.conn.SetDeadline(s.server.options.BodyTimeout)
			s.handler.OnBody(s, data)
		}
		switch {
		case s.phase != inBody: // answered before its end: the session is over
			return used, true
		case done:
			s.bodyDone, s.phase = true, answering
			s.conn.SetDeadline(0)
			s.more = used < len(in)
			s.handler.OnBodyEnd(s, &s.body)
			return used, true
		case n == 0:
			return used, false
		}
	}
	return used, false
}

// PauseBody stops the request's body: it stays with the client. The end of the
// exchange ends the pause as well.
func (s *Session) PauseBody() {
	s.conn.PauseRead()
	if s.phase == inBody {
		s.conn.SetDeadline(0) // the client is not to blame
	}
}

// ResumeBody goes on with it.
func (s *Session) ResumeBody() {
	s.conn.ResumeRead()
	switch {
	case s.phase != inBody:
	case s.peerDone && !s.inData && s.conn.Held() == 0:
		s.cutShort() // its end was seen before the pause: no event comes any more
	default:
		s.conn.SetDeadline(s.server.options.BodyTimeout)
	}
}

// OnDrain goes on where answers had to be taken first.
func (s *Session) OnDrain(c *netloop.Conn) {
	switch {
	case s.waiting:
		s.waiting = false
		c.ResumeRead()
	case s.open:
		s.handler.OnDrain(s)
	case s.phase == idle:
		c.SetDeadline(s.server.options.IdleTimeout) // from here on it is
	}
}

// OnEnd closes the connection, if nothing is left to be answered.
func (s *Session) OnEnd(c *netloop.Conn) {
	s.peerDone = true
	if s.incomplete() {
		s.cutShort()
	}
}

// cutShort ends a connection whose client has stopped between two requests, or
// in the middle of one.
func (s *Session) cutShort() {
	if s.open && s.answer.begun {
		s.Abort()
	} else {
		s.close()
	}
}

// OnTimeout tells the client that it was too slow, or only closes if nothing
// was under way.
func (s *Session) OnTimeout(c *netloop.Conn) {
	switch s.phase {
	case idle:
		if c.Pending() == 0 { // else it still takes the last answer, which has a deadline of its own
			s.close()
		}
	case inHead, inBody:
		if s.server.options.Refused == nil || s.open || c.Held() == 0 {
			s.tooLate(nil)
			return
		}
		s.late = true
		c.Again() // Refused is to be told what there is of the request
	}
}

// freshTime is how long a connection may take for a first request, or for a
// head under way, while the loop is about to end.
const freshTime = time.Second

// OnShutdown ends the session after the request that is under way.
func (s *Session) OnShutdown(c *netloop.Conn) {
	switch {
	case s.phase == idle && s.served && c.Held() == 0:
		s.close()
	case s.phase == idle, s.phase == inHead:
		c.SetDeadline(freshTime)
	}
}

func (s *Session) close() {
	s.phase = over
	s.conn.Close()
}

// OnClose ends the exchange under way, and the session.
func (s *Session) OnClose(c *netloop.Conn, reason error) {
	if s.open {
		if reason == nil {
			reason = ErrGone
		}
		s.done(reason)
	}
	s.dropWhole()
	s.handler.OnClose(s)
	s.release()
}

func (s *Session) release() {
	s.handler, s.conn = nil, nil
	s.server.sessions.Put(s)
}
