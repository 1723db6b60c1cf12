package http1

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

func TestSegments(t *testing.T) {
	head := []byte("GET /a HTTP/1.1\r\nHost: a\r\nConnection: x\r\nX: 1\r\nY: 2\r\n\r\n")
	var r Request
	r.Parse(head)
	var s Segments
	for round := range 3 {
		s.Reset()
		s.RequestLine(r.Method(), r.Target())
		for _, f := range r.Fields() {
			if f.Known() != Connection {
				s.Raw(r.Line(f))
			}
		}
		s.Field("Via", []byte("1.1 b"))
		s.EndHead()
		want := []string{"GET /a HTTP/1.1\r\n", "Host: a\r\n", "X: 1\r\nY: 2\r\n", "Via: 1.1 b\r\n\r\n"}
		var got []string
		for _, segment := range s.List() {
			got = append(got, string(segment))
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d: %q", round, got)
		}
	}
}

// A view that ends before its memory does is not made longer than it may be.
func TestSegmentsLimited(t *testing.T) {
	var s Segments
	b := []byte("abcdef")
	s.Raw(b[:2:3])
	s.Raw(b[2:5])
	s.Raw(b[5:])
	if got := s.List(); len(got) != 2 || string(got[0]) != "ab" || string(got[1]) != "cdef" {
		t.Errorf("%q", got)
	}
}

// Segments of new bytes stay as they are when their memory is full.
func TestSegmentsGrow(t *testing.T) {
	var s Segments
	var want bytes.Buffer
	view := []byte("view")
	for i := range 3000 {
		text := []byte(fmt.Sprint(i, " "))
		s.Put(text)
		want.Write(text)
		if i%3 == 0 {
			s.Raw(view)
			want.Write(view)
		}
	}
	if got := bytes.Join(s.List(), nil); !bytes.Equal(got, want.Bytes()) || s.Len() != want.Len() {
		t.Errorf("%d bytes of %d, said to be %d", len(got), want.Len(), s.Len())
	}
}

func TestSegmentsKeepLittle(t *testing.T) {
	var s Segments
	s.Put(make([]byte, 10*keepOwn))
	s.Reset()
	if cap(s.own) > keepOwn {
		t.Errorf("%d bytes stay", cap(s.own))
	}
}

func TestSegmentsRefuse(t *testing.T) {
	var s Segments
	bad := []string{"a\r\nb: c", "a\nb", "a\rb", "a\x00b", "a\x7f", "\x01"}
	for _, text := range bad {
		if s.Field("X", []byte(text)) || s.Field(text, []byte("x")) || s.StatusLine(200, []byte(text)) ||
			s.RequestLine([]byte(text), []byte("/")) || s.RequestLine([]byte("GET"), []byte(text)) {
			t.Errorf("%q passes", text)
		}
	}
	if s.Field("", nil) || s.Field("a b", nil) || s.Field("a:", nil) || s.RequestLine(nil, []byte("/")) || s.RequestLine([]byte("GET"), nil) ||
		s.RequestLine([]byte("GET"), []byte("/ HTTP/1.1")) || s.StatusLine(99, nil) || s.StatusLine(1000, nil) {
		t.Error("a bad element passes")
	}
	if s.Len() != 0 || len(s.List()) != 0 {
		t.Errorf("%q is there", s.List())
	}
}
