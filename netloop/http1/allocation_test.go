//go:build !race

package http1

import (
	"strings"
	"testing"
)

func TestNothingIsAllocated(t *testing.T) {
	request, answer, chunks := []byte(strings.Replace(browserGet, "\r\n\r\n", "\r\n"+strings.Repeat("N", 100)+": x\r\n\r\n", 1)), []byte(answerHead), []byte("5\r\nhello\r\n0\r\nA: 1\r\nB: 2\r\n\r\n")
	long := []byte("a value that is longer than what fits into a small buffer on the stack")
	text := string(long)
	longName := strings.Repeat("n", 100)
	var r Request
	var a Response
	var b Body
	var s Segments
	var date []byte
	size := 0
	work := func() {
		r.Reset()
		for n := range request {
			r.Parse(request[:n+1])
		}
		for _, f := range r.Fields() {
			size += len(r.Name(f)) + len(r.Value(f)) + len(r.Line(f))
		}
		for e := range r.Elements(Connection) {
			size += len(e)
		}
		v, _ := r.Find("x-none")
		r.Find(longName)
		size += len(v) + len(r.Path()) + len(r.Query()) + len(r.Authority()) + len(r.Get(UserAgent))
		a.Reset()
		a.Parse(answer)
		a.Framing(r.Method())
		b.Reset(Chunked, 0)
		for rest, done := chunks, false; !done; {
			var n int
			_, n, done, _ = b.Next(rest)
			rest = rest[n:]
		}
		for name, value := range b.EachTrailer {
			size += len(name) + len(value)
		}
		s.Reset()
		s.StatusLine(200, nil)
		s.Field("X-Long", long)
		s.Field("X-Text", []byte(text))
		s.ContentLength(12345)
		s.RequestLine(r.Method(), r.Target())
		s.EndHead()
		s.Chunk(request)
		s.LastChunk(b.Trailers())
		date = AppendDate(date[:0], 1718093551)
	}
	if n := testing.AllocsPerRun(100, work); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
