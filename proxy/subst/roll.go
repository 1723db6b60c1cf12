package subst

import "math/bits"

// A stream keeps what it holds back in a buffer that its Set lends it, so that
// one that holds nothing, and waits, has none.

const (
	smallest    = 6  // 64 bytes, as a power of two
	bufferSizes = 26 // larger ones than 2 GB are not used again
)

type buffer struct{ bytes []byte }

// lend returns an empty buffer with room for n bytes.
func (s *Set) lend(n int) *buffer {
	size := max(bits.Len(uint(n-1)), smallest)
	if size-smallest >= bufferSizes {
		return &buffer{make([]byte, 0, n)}
	}
	if b, ok := s.buffers[size-smallest].Get().(*buffer); ok {
		return b
	}
	return &buffer{make([]byte, 0, 1<<size)}
}

// giveBack takes a buffer that nobody looks at any more; nil is none.
func (s *Set) giveBack(b *buffer) {
	if b == nil {
		return
	}
	size := bits.Len(uint(cap(b.bytes) - 1))
	if size-smallest < bufferSizes {
		b.bytes = b.bytes[:0]
		s.buffers[size-smallest].Put(b)
	}
}

// keep keeps the text from a position on. What was emitted of the text kept so
// far stays as it is until the next piece: kept text is appended to, or moved
// to another buffer.
func (t *Stream) keep(from int) {
	w := &t.search.text
	var back [len(w.back)]byte
	for n := range back {
		if pos := from - n; pos > 0 {
			back[n] = byte(w.byteBefore(pos))
		}
	}
	w.back = back

	piece, rest := w.piece, w.kept[len(w.kept):]
	if from >= w.middle {
		piece = w.piece[from-w.middle:]
	} else {
		rest = w.kept[from-w.begin:]
	}
	need := len(rest) + len(piece)
	fits := need <= cap(rest) && t.buffer != nil
	large := fits && cap(t.buffer.bytes) > 8*max(need, 1<<smallest)
	if fits && need > 0 && !large {
		w.kept = append(rest, piece...)
	} else {
		t.emitted, t.buffer = t.buffer, nil
		w.kept = nil
		if need > 0 {
			t.buffer = t.search.set.lend(need + need/4) // or small pieces would move all each time
			w.kept = append(append(t.buffer.bytes, rest...), piece...)
		}
	}
	w.begin, w.middle, w.piece = from, w.end, nil
}

// Release says that the slices that were emitted are not looked at any more. A
// stream that then waits has no memory but for what it holds back. Who does not
// call it releases them with the next piece.
func (t *Stream) Release() {
	t.search.set.giveBack(t.emitted)
	t.emitted = nil
}
