//go:build linux

package httpconn

import (
	"fmt"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
	"redoubt/netloop/slab"
)

// Handler answers the requests of server sessions. One may serve all sessions
// of a loop, or each its own.
//
// The calls of one exchange come in this order: OnRequest, OnBody for each
// piece of the body, OnBodyEnd, OnDone. The next exchange of a session begins
// only when this one is over, however many requests a client has sent.
type Handler interface {
	// OnRequest brings a request's head, and with WholeBodies its body. Views
	// of it are valid until OnRequest returns. The answer may be given now or
	// later.
	OnRequest(s *Session, r *http1.Request)
	// OnBody brings a piece of the body, valid until OnBody returns. Who cannot
	// take more calls PauseBody. It is not called with WholeBodies.
	OnBody(s *Session, piece []byte)
	// OnBodyEnd says that the body was whole. Its trailers are valid until
	// OnBodyEnd returns. It is not called with WholeBodies, nor for a request
	// without a body.
	OnBodyEnd(s *Session, trailers *http1.Body)
	// OnDrain says that the peer has taken all of what was sent of an answer.
	OnDrain(s *Session)
	// OnDone ends the exchange: the answer was given (err is nil, though it may
	// still be on its way), or cannot be any more. The exchange must be left
	// alone from now on.
	OnDone(s *Session, err error)
	// OnClose ends the session; it comes for each that open was called for,
	// unless its connection was handed over.
	OnClose(s *Session)
}

// WholeOnly has the methods of a Handler that one for whole bodies, which
// answers at once, does not need. To be embedded.
type WholeOnly struct{}

func (WholeOnly) OnBody(*Session, []byte)         {}
func (WholeOnly) OnBodyEnd(*Session, *http1.Body) {}
func (WholeOnly) OnDrain(*Session)                {}
func (WholeOnly) OnDone(*Session, error)          {}
func (WholeOnly) OnClose(*Session)                {}

// ServerOptions are the limits of a server's sessions, and what their answers
// have in common. Zero times mean no limit.
type ServerOptions struct {
	HeadTimeout time.Duration // from the first byte of a head to its end, else 408
	BodyTimeout time.Duration // of a whole body, or between the pieces of one that streams, else 408
	IdleTimeout time.Duration // without a request, then the connection closes

	MaxBody     int64  // more is answered with 413, whatever its framing; 0: no bodies
	WholeBodies bool   // OnRequest comes when the body is there as well; netloop.Options.MaxInput must have room for head and body
	Fields      string // field lines of every answer that Reply gives, each with its CRLF
	NoDate      bool   // answers carry no Date

	// Refused hears of requests that no handler gets to hear of: no good, or
	// too late. What is known of them Session.Fault and RequestLine tell. Maybe
	// nil.
	Refused func(s *Session, status int)
}

// Server makes the sessions of one loop.
type Server struct {
	loop     *netloop.Loop
	options  ServerOptions
	open     func(*Session) Handler
	sessions *slab.Objects[Session]
	heads    *heads

	batch   []byte   // answers that have not been sent yet
	batchOf *Session // whose they are; nil if there are none
	sent    int      // bytes of answers since an OnData began
	parts   [3][]byte
	one     [1][]byte // see SendBody
	out     http1.Segments
}

const (
	// batchSize is how many bytes of answers are collected before they are sent.
	batchSize = 64 << 10
	// smallAnswer is up to where a head and a body are copied together and sent
	// as one. For the contest's answers (300 bytes) this takes 4.5 % less CPU a
	// request than writev of both; what it saves pays for a copy of some KB.
	smallAnswer = 4 << 10
)

// NewServer returns a server for a loop. open is called for each new
// connection and returns its handler. It panics where the longest whole request
// would not fit what netloop keeps of a connection's input.
func NewServer(l *netloop.Loop, o ServerOptions, open func(*Session) Handler) *Server {
	if room := l.Group().MaxInput(); o.WholeBodies && o.MaxBody+http1.MaxHead > int64(room) {
		panic(fmt.Sprintf("httpconn: MaxBody %d and a head of %d are more than MaxInput %d", o.MaxBody, http1.MaxHead, room))
	}
	sv := &Server{
		loop: l, options: o, open: open,
		sessions: slab.NewObjects[Session](0),
		heads:    newHeads(o.Fields, !o.NoDate),
		batch:    make([]byte, 0, batchSize),
	}
	sv.sessions.Warm(warmSessions)
	return sv
}

// warmSessions is how many sessions there are before the first connection.
const warmSessions = 64

// SetLimits changes times and MaxBody, from the next phase of each session on.
func (sv *Server) SetLimits(o ServerOptions) {
	to := &sv.options
	to.HeadTimeout, to.BodyTimeout, to.IdleTimeout, to.MaxBody = o.HeadTimeout, o.BodyTimeout, o.IdleTimeout, o.MaxBody
}

// Accept is given to netloop's Listen, for connections of the server's loop.
func (sv *Server) Accept(c *netloop.Conn) netloop.Handler {
	s := sv.sessions.Get()
	s.reset(sv, c)
	s.handler = sv.open(s)
	return s
}

// put sends an answer of s, or collects it where another is about to follow.
func (sv *Server) put(s *Session, head, body []byte) {
	n := len(head) + len(body)
	sv.sent += n
	if (s.more || n <= smallAnswer) && len(sv.batch)+n <= cap(sv.batch) && (sv.batchOf == nil || sv.batchOf == s) {
		sv.batch = append(append(sv.batch, head...), body...)
		sv.batchOf = s
		head, body = nil, nil
	}
	switch {
	case s.answer.close:
		sv.finish(s, head, body)
	case !s.more || head != nil:
		sv.send(s, head, body)
	}
}

// send sends what is collected and then the parts given, in one go.
func (sv *Server) send(s *Session, head, body []byte) {
	if parts := sv.gather(s, head, body); len(parts) == 1 {
		s.conn.Write(parts[0])
	} else if len(parts) > 1 {
		s.conn.Writev(parts)
	}
	clear(sv.parts[:]) // a long body must not stay for being named here
}

// finish sends the same as the session's last.
func (sv *Server) finish(s *Session, head, body []byte) {
	s.conn.Finish(sv.gather(s, head, body))
	clear(sv.parts[:])
}

// flush sends what is collected.
func (sv *Server) flush(s *Session) { sv.send(s, nil, nil) }

// gather takes what is collected of the session, and the parts given, without
// empty ones.
func (sv *Server) gather(s *Session, head, body []byte) [][]byte {
	parts := sv.parts[:0]
	if sv.batchOf == s {
		parts = append(parts, sv.batch)
		sv.batch, sv.batchOf = sv.batch[:0], nil
	}
	if len(head) > 0 {
		parts = append(parts, head)
	}
	if len(body) > 0 {
		parts = append(parts, body)
	}
	return parts
}
