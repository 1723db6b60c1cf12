//go:build linux

package httpconn

import "redoubt/netloop/http1"

// readWhole waits for a body to be whole. in begins with the head, as long as
// the body is not chunked.
func (s *Session) readWhole(in []byte) (used int, again bool) {
	if framing, _ := s.request.Framing(); framing == http1.Chunked {
		return s.collect(in)
	}
	end := s.headLen + int(s.size)
	if len(in) < end {
		s.askForBody(len(in) > s.headLen)
		return 0, false
	}
	s.request.Rebase(in)
	s.more = end < len(in)
	s.content = in[s.headLen:end:end]
	s.deliver()
	s.content = nil
	return end, true
}

// askForBody sends 100 Continue, once, to a client that waits for it.
func (s *Session) askForBody(arrived bool) {
	if !s.continued && !arrived {
		s.Continue()
	}
	s.continued = true
}

// WholeBody is the body of a request that OnRequest has brought with
// WholeBodies. It is valid until OnRequest returns.
func (s *Session) WholeBody() []byte { return s.content }

// collect decodes a chunked body into a block of the slab, behind its head.
func (s *Session) collect(in []byte) (used int, again bool) {
	if s.whole == nil {
		if !s.room(s.headLen) {
			return len(in), false
		}
		s.filled = copy(s.whole, in[:s.headLen])
		used = s.headLen
		s.askForBody(len(in) > used)
	}
	for {
		data, n, done, fault := s.body.Next(in[used:])
		used += n
		switch {
		case fault != 0:
			s.refuse(fault, s.whole[:s.headLen])
			return len(in), false
		case int64(s.filled-s.headLen+len(data)) > s.server.options.MaxBody:
			s.refuse(http1.BodyTooLong, s.whole[:s.headLen])
			return len(in), false
		}
		if !s.room(len(data)) {
			return len(in), false
		}
		s.filled += copy(s.whole[s.filled:], data)
		if done {
			break
		}
		if n == 0 {
			return used, false
		}
	}
	s.request.Rebase(s.whole[:s.headLen])
	s.more = used < len(in)
	s.content = s.whole[s.headLen:s.filled:s.filled]
	s.deliver()
	s.content = nil
	s.dropWhole()
	return used, true
}

// room makes room in whole for n more bytes, or refuses the request.
func (s *Session) room(n int) bool {
	if s.filled+n <= len(s.whole) {
		return true
	}
	memory := s.server.loop.Memory()
	block, err := memory.Get(max(s.filled+n, 2*len(s.whole)))
	if err != nil {
		s.turnAway(503, nil)
		return false
	}
	copy(block, s.whole[:s.filled])
	if s.whole != nil {
		memory.Put(s.whole)
	}
	s.whole = block
	return true
}

func (s *Session) dropWhole() {
	if s.whole != nil {
		s.server.loop.Memory().Put(s.whole)
		s.whole, s.filled = nil, 0
	}
}
