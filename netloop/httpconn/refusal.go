//go:build linux

package httpconn

import (
	"bytes"
	"fmt"

	"redoubt/netloop/http1"
)

// Refused is why an exchange ends whose request turned out to be no good: the
// status that the client was answered with.
type Refused int

func (r Refused) Error() string { return fmt.Sprintf("refused with %d", int(r)) }

// Fault is the rule of HTTP that a refused request has broken; 0: none, it came
// too late, or there was no memory for it. It is known to ServerOptions.Refused,
// and to OnDone where that ends with Refused.
func (s *Session) Fault() http1.Fault { return s.fault }

// RequestLine is what has come of the line that a refused request began with,
// without its end. It is for ServerOptions.Refused, and is valid until that
// returns. It may be any bytes, and no request line at all.
func (s *Session) RequestLine() []byte { return s.line }

// refuse answers a request that has broken a rule of HTTP, and closes: what
// follows it cannot be told from it. head begins with what has come of its head;
// nil where a handler has had that.
func (s *Session) refuse(fault http1.Fault, head []byte) {
	s.fault = fault
	s.turnAway(fault.Status(), head)
}

// turnAway does so with one that came too late, or for which there is no memory.
func (s *Session) turnAway(status int, head []byte) {
	switch {
	case s.open && s.answer.begun: // too late for another answer
		s.Abort()
		return
	case s.open:
		s.phase = over
		s.done(Refused(status))
	}
	if was := s.server.options.Refused; was != nil && !s.open && s.phase != over {
		s.line = requestLine(head)
		was(s, status)
		s.line = nil
	}
	s.server.finish(s, s.server.heads.get(s.server.loop.Unix(), status, 0, true, ""), nil)
	s.close()
}

// tooLate refuses a request that was not whole in time. in is what has come of
// it, or nil.
func (s *Session) tooLate(in []byte) {
	if s.whole != nil {
		in = s.whole[:s.headLen]
	}
	s.turnAway(408, in)
}

// longestLine is more than a request line may have: no more is looked at.
const longestLine = http1.MaxMethod + http1.MaxTarget + len("  HTTP/1.1\r\n")

// requestLine is the first line of a head, as far as that goes.
func requestLine(head []byte) []byte {
	head = bytes.TrimLeft(head[:min(len(head), longestLine)], "\r\n")
	if i := bytes.IndexAny(head, "\r\n"); i >= 0 {
		head = head[:i]
	}
	return head
}
