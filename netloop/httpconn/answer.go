//go:build linux

package httpconn

import (
	"fmt"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// answer is how far the answer of an exchange has come.
type answer struct {
	begun   bool
	close   bool // the connection ends with it, as its head says
	noBody  bool // to HEAD, or of a status that has none
	framing http1.Framing
	left    int64 // of a sized body
}

// CloseAfter makes the answer of this exchange the connection's last. It must
// come before the answer begins.
func (s *Session) CloseAfter() { s.keep = false }

// KeepAlive tells whether the connection can stay after an answer whose head
// would be made now.
func (s *Session) KeepAlive() bool {
	return s.keep && s.bodyDone && !s.server.loop.Draining()
}

// Reply gives a whole answer: fields are further field lines of its head, each
// with its CRLF, and body is the caller's again when Reply returns. To HEAD
// only the head is sent. The exchange is over then: OnDone comes before Reply
// returns.
func (s *Session) Reply(status int, fields string, body []byte) {
	s.beginAnswer()
	s.answer.close = !s.KeepAlive()
	head := s.server.heads.get(s.server.loop.Unix(), status, len(body), s.answer.close, fields)
	if s.headOnly || bodiless(status) {
		s.Spend(len(body))
		body = nil
	}
	s.server.put(s, head, body)
	s.endAnswer()
}

// Spend counts n bytes of an answer that was made and will not be sent, so that
// a client gets no more work out of its turn than others.
func (s *Session) Spend(n int) {
	s.server.sent += n
	s.conn.Spend(n)
}

// bodiless tells whether a status never has a body, nor framing (RFC 9110,
// 6.4.1 and 8.6).
func bodiless(status int) bool { return status < 200 || status == 204 || status == 304 }

func (s *Session) beginAnswer() {
	if !s.open || s.answer.begun {
		panic(fmt.Sprintf("httpconn: a second answer (open: %t, phase %d)", s.open, s.phase))
	}
	s.answer.begun = true
}

// Continue sends 100 Continue to a client that waits for it; else, and once
// the answer has begun, it does nothing. With WholeBodies sessions do this by
// themselves.
func (s *Session) Continue() {
	if !s.continued {
		s.continued = true
		s.conn.SetDeadline(s.server.options.BodyTimeout)
		s.Interim(continueHead)
	}
}

var continueHead = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// Interim sends a whole head with a status of 1xx, if the answer has not begun.
// A client of HTTP/1.0 would not understand, and gets none.
func (s *Session) Interim(head []byte) {
	if s.request.Minor() > 0 && !s.answer.begun {
		s.server.send(s, head, nil)
	}
}

// SendHead begins an answer whose body is sent piece by piece. head holds the
// status line and fields; what tells the body's end and the connection's is
// added here, by framing and size: Sized, Chunked (which turns into UntilClose
// for clients of HTTP/1.0), UntilClose, or None for an empty body. A status
// that never has a body needs no framing, whatever is given. To HEAD it is what
// GET would be answered; None then leaves it open.
func (s *Session) SendHead(head *http1.Segments, status int, framing http1.Framing, size int64) {
	s.beginAnswer()
	a := &s.answer
	tunnel := status == 101 || s.connect && status/100 == 2
	switch {
	case bodiless(status) || tunnel:
		framing, size = http1.None, 0
	case framing == http1.None && !s.headOnly:
		framing, size = http1.Sized, 0 // or it would seem to go on until the connection's end
	case framing == http1.Chunked && s.request.Minor() == 0:
		framing = http1.UntilClose
	}
	a.framing, a.left = framing, size
	a.noBody = s.headOnly || framing == http1.None
	a.close = !s.KeepAlive() || framing == http1.UntilClose && !s.headOnly
	switch framing {
	case http1.Sized:
		head.ContentLength(size)
	case http1.Chunked:
		head.Put(chunkedField)
	}
	switch {
	case tunnel:
	case a.close:
		head.Put(closeField)
	default:
		head.Put(keepField)
	}
	head.EndHead()
	s.server.flush(s)
	s.putPart(head)
}

// Gather has SendHead, SendBody and EndBody collect what they would send, for
// Flush to send it in one go. What they are given must stay as it is until then.
// to is the head that SendHead will be given, if it has not been yet.
func (s *Session) Gather(to *http1.Segments) { s.gather = to }

// Flush sends what Gather had collected. It may come late: where nothing is
// collected any more it does nothing.
func (s *Session) Flush() {
	if s.gather != nil {
		s.conn.Writev(s.gather.List())
		s.gather = nil
	}
}

// gatherMost is how many segments are collected: with more, a call more to send
// them costs less than what describes them.
const gatherMost = 1000

// part is where a part of an answer is put together; putPart sends it, or leaves
// it there.
func (s *Session) part() *http1.Segments {
	if s.gather != nil {
		return s.gather
	}
	s.server.out.Reset()
	return &s.server.out
}

func (s *Session) putPart(out *http1.Segments) {
	list := out.List()
	switch {
	case s.gather == nil:
		s.conn.Writev(list)
	case len(list) > gatherMost:
		s.conn.Writev(list)
		out.Reset()
	}
}

var (
	chunkedField = []byte("Transfer-Encoding: chunked\r\n")
	closeField   = []byte("Connection: close\r\n")
	keepField    = []byte("Connection: keep-alive\r\n")
)

// SendBody sends a piece of the body, which is the caller's again when it
// returns. Who sends more than the client takes should wait for OnDrain: see
// Conn and its Pending.
func (s *Session) SendBody(piece []byte) {
	s.server.one[0] = piece
	s.SendParts(s.server.one[:])
	s.server.one[0] = nil
}

// SendParts is SendBody for a piece that lies in several places.
func (s *Session) SendParts(parts [][]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	a := &s.answer
	if a.noBody || n == 0 {
		return
	}
	switch {
	case a.framing == http1.Sized && a.left < int64(n):
		s.Abort() // the rest would be taken for the next answer
		return
	case a.framing == http1.Sized:
		a.left -= int64(n)
	}
	if a.framing != http1.Chunked && s.gather == nil && len(parts) == 1 {
		s.conn.Write(parts[0])
		return
	}
	out := s.part()
	if a.framing == http1.Chunked {
		out.Chunks(parts)
	} else {
		for _, p := range parts {
			out.Raw(p)
		}
	}
	s.putPart(out)
}

// EndBody ends the answer, with trailer lines if its framing allows any. The
// exchange is over then: OnDone comes before EndBody returns. Where less was
// sent than SendHead has said, it aborts instead, and OnDone comes later.
func (s *Session) EndBody(trailers []byte) {
	a := &s.answer
	if !s.open || !a.begun {
		panic(fmt.Sprintf("httpconn: the end of no answer (open: %t, phase %d)", s.open, s.phase))
	}
	switch {
	case a.noBody:
	case a.framing == http1.Chunked:
		out := s.part()
		out.LastChunk(trailers)
		s.putPart(out)
	case a.framing == http1.Sized && a.left != 0:
		s.Abort()
		return
	}
	s.endAnswer()
}

// Abort ends the connection where an answer cannot be finished: visibly, so
// that nobody takes what was sent for all.
func (s *Session) Abort() {
	s.Flush() // what was answered before goes out
	s.server.flush(s)
	s.phase = over
	s.conn.Abort()
}

// endAnswer ends the exchange.
func (s *Session) endAnswer() {
	s.done(nil)
	if s.answer.close {
		if s.gather != nil {
			s.conn.Finish(s.gather.List())
			s.gather = nil
		}
		s.close()
		return
	}
	s.phase = idle
	s.conn.SetDeadline(s.server.options.IdleTimeout)
	s.conn.ResumeRead() // who had the body paused is gone
	switch {
	case s.inData: // which goes on with what is there
	case s.conn.Held() > 0:
		s.conn.Again()
	case s.peerDone:
		s.close()
	}
}

func (s *Session) done(err error) {
	s.open = false
	s.handler.OnDone(s, err)
}

// HandOver gives the connection to another handler, after an answer that has
// switched protocols. The exchange is over: OnDone comes before HandOver
// returns, and the session must not be used any more. The new handler is
// offered what the client has already sent.
func (s *Session) HandOver(h netloop.Handler) {
	if !s.open || !s.answer.begun || !s.bodyDone {
		panic(fmt.Sprintf("httpconn: HandOver before the request is whole or the answer has begun (open: %t, phase %d)", s.open, s.phase))
	}
	s.phase = handed
	s.done(nil)
	s.conn.SetDeadline(0)
	s.conn.ResumeRead()
	s.conn.SetHandler(h)
	if !s.inData {
		s.release()
	}
}
