package http1

import "strconv"

// Segments collects the bytes of one or more messages for writev: views of
// what lies elsewhere, and new bytes in memory of its own. Neighbours in memory
// become one segment. The zero value is ready; after the first few messages
// nothing is allocated any more.
//
// What would let a caller's bytes pass for another line or another message is
// refused: then the method returns false and nothing is added.
type Segments struct {
	list [][]byte
	size int
	made int
	// New bytes. Where there is no room left they go on in a new, larger
	// array; segments in the old one stay as they are.
	own []byte
}

const (
	firstOwn = 1024    // room for a usual head
	keepOwn  = 1 << 16 // what one long message needed does not stay for ever
)

// Reset forgets all segments. The views that List returned are gone.
func (s *Segments) Reset() {
	clear(s.list) // do not hold on to others' memory
	s.list, s.own, s.size, s.made = s.list[:0], s.own[:0], 0, 0
	if cap(s.own) > keepOwn {
		s.own = nil
	}
}

// List are the segments, valid until Reset; those of Raw as long as the views.
// It may be consumed in place.
func (s *Segments) List() [][]byte { return s.list }

// Len is the number of bytes in all segments.
func (s *Segments) Len() int { return s.size }

// Made is how many of those are new: no views.
func (s *Segments) Made() int { return s.made }

// Raw adds a view, unseen: what a reader of this package found, or a body.
func (s *Segments) Raw(view []byte) {
	if len(view) == 0 {
		return
	}
	s.size += len(view)
	if n := len(s.list); n > 0 {
		// Room behind the last segment is of the same array.
		if last := s.list[n-1]; cap(last)-len(last) >= len(view) && &last[:len(last)+1][len(last)] == &view[0] {
			s.list[n-1] = last[:len(last)+len(view)]
			return
		}
	}
	s.list = append(s.list, view)
}

// Put adds a copy of b, unseen.
func (s *Segments) Put(b []byte) {
	s.room(len(b))
	s.add(append(s.own, b...))
}

// room makes room for n new bytes in one piece.
func (s *Segments) room(n int) {
	if cap(s.own)-len(s.own) < n {
		s.own = make([]byte, 0, max(firstOwn, 2*cap(s.own), n))
	}
}

// add takes over what was appended to own, where there was room for it.
func (s *Segments) add(own []byte) {
	from := len(s.own)
	s.own = own
	s.made += len(own) - from
	s.Raw(own[from:])
}

const maxDigits = 20 // of an int64, with its sign

// StatusLine begins an answer of HTTP/1.1. A reason of nil is the usual one.
// It refuses codes that are not of three digits, and reasons that are no text.
func (s *Segments) StatusLine(code int, reason []byte) bool {
	if code < 100 || code > 999 || !all(reason, inValue) {
		return false
	}
	text := StatusText(code)
	s.room(len(text) + len(reason) + len("HTTP/1.1 200 \r\n"))
	line := append(s.own, "HTTP/1.1 "...)
	line = strconv.AppendInt(line, int64(code), 10)
	line = append(line, ' ')
	if reason == nil {
		line = append(line, text...)
	}
	line = append(line, reason...)
	s.add(append(line, "\r\n"...))
	return true
}

// RequestLine begins a request of HTTP/1.1. It refuses a method that is no
// token, and a target that is empty or has other bytes than a target may.
func (s *Segments) RequestLine(method, target []byte) bool {
	if !IsToken(method) || len(target) == 0 || targetEnd(target, 0) < len(target) {
		return false
	}
	s.room(len(method) + len(target) + len("  HTTP/1.1\r\n"))
	line := append(append(s.own, method...), ' ')
	line = append(line, target...)
	s.add(append(line, " HTTP/1.1\r\n"...))
	return true
}

// Field adds a field line. It refuses a name that is no token, and a value
// with control bytes other than HTAB.
func (s *Segments) Field(name string, value []byte) bool {
	if !IsToken(name) || valueEnd(value, 0) < len(value) {
		return false
	}
	s.room(len(name) + len(value) + len(": \r\n"))
	line := append(append(s.own, name...), ": "...)
	line = append(line, value...)
	s.add(append(line, "\r\n"...))
	return true
}

// ContentLength adds the field.
func (s *Segments) ContentLength(n int64) {
	s.room(len("Content-Length: \r\n") + maxDigits)
	line := append(s.own, "Content-Length: "...)
	line = strconv.AppendInt(line, n, 10)
	s.add(append(line, "\r\n"...))
}

// EndHead ends a head.
func (s *Segments) EndHead() { s.Put([]byte("\r\n")) }

// Chunk adds a chunk around a view of its data. Of no data there is none, for
// an empty chunk would be the last.
func (s *Segments) Chunk(data []byte) { s.Chunks([][]byte{data}) }

// Chunks adds one chunk around views of the parts of its data.
func (s *Segments) Chunks(parts [][]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n == 0 {
		return
	}
	s.room(maxDigits + len("\r\n\r\n")) // together with the line before
	s.add(append(strconv.AppendInt(s.own, int64(n), 16), "\r\n"...))
	for _, p := range parts {
		s.Raw(p)
	}
	s.add(append(s.own, "\r\n"...))
}

// LastChunk ends a chunked body, with trailers as Body.Trailers gives them, or
// none.
func (s *Segments) LastChunk(trailers []byte) {
	s.Put([]byte("0\r\n"))
	s.Raw(trailers)
	s.Put([]byte("\r\n"))
}
