package prefilter

import (
	"bytes"
)

// Stop looks for bytes of a set: for the end of a stretch that the others leave
// a matcher's state as it is. It does not change: all may use it at once.
type Stop struct {
	kernel Kernel
	single int // the set's only byte, or -1
	in     [256]bool

	// For vectors: by the lower half of a byte, a bit for each upper half that makes
	// a byte of the set of it; of bytes below 0x80, of the others. Then, by the
	// upper half, its bit.
	halves [3][16]byte
}

// NewStop looks for bytes of a set. A kernel that this processor lacks is not
// for asking: see Supported.
func NewStop(set Set, kernel Kernel) *Stop {
	s := &Stop{kernel: kernel.resolve(), single: -1}
	count := 0
	for c := range 256 {
		if !set.has(byte(c)) {
			continue
		}
		count++
		s.single = c
		s.in[c] = true
		s.halves[c>>7][c&15] |= 1 << (c >> 4 & 7)
	}
	for half := range 16 {
		s.halves[2][half] = 1 << (half & 7)
	}
	if count != 1 {
		s.single = -1
	}
	return s
}

// Next returns where the first byte of the set is, not before from. If there is
// none, it is the length of the text, or from if that is beyond.
func (s *Stop) Next(text []byte, from int) int {
	switch {
	case from >= len(text):
		return from
	case s.single >= 0:
		if i := bytes.IndexByte(text[from:], byte(s.single)); i >= 0 {
			return from + i
		}
		return len(text)
	case s.kernel != Plain:
		return s.nextVector(text, from)
	}
	return s.nextPlain(text, from)
}

func (s *Stop) nextPlain(text []byte, from int) int {
	for i, c := range text[from:] {
		if s.in[c] {
			return from + i
		}
	}
	return len(text)
}
