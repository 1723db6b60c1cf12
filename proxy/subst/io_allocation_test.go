//go:build !race

// The race detector makes pools forget.

package subst

import (
	"io"
	"testing"
)

func TestIOAllocatesNothing(t *testing.T) {
	s := tags(t)
	text, _ := tagged(100)
	piece := []byte(text)
	w := NewWriter(io.Discard, s)
	if n := testing.AllocsPerRun(50, func() { w.Write(piece) }); n > 0 {
		t.Errorf("%v allocations a Write", n)
	}
	r := NewReader(&endless{text: piece}, s)
	into := make([]byte, 10_000)
	if n := testing.AllocsPerRun(200, func() { r.Read(into) }); n > 0 {
		t.Errorf("%v allocations a Read", n)
	}
}

// endless gives a text again and again.
type endless struct {
	text []byte
	at   int
}

func (r *endless) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}
