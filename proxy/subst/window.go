package subst

// window is the part of a stream that a search may look at: what was kept of
// earlier pieces, and the piece at hand. Positions are counted from the
// beginning of the stream.
type window struct {
	kept   []byte
	piece  []byte
	begin  int // position of the first byte kept
	middle int // ... of the first byte of piece
	end    int
	back   [3]byte // the bytes before begin, the last one first
}

// from is what there is in one stretch from a position before end.
func (w *window) from(pos int) []byte {
	if pos < w.middle {
		return w.kept[pos-w.begin:]
	}
	return w.piece[pos-w.middle:]
}

// at is the byte at a position from begin on, and before end.
func (w *window) at(pos int) byte {
	if pos < w.middle {
		return w.kept[pos-w.begin]
	}
	return w.piece[pos-w.middle]
}

// byteBefore is the byte before a position from begin-2 on; -1 at the
// beginning of the stream.
func (w *window) byteBefore(pos int) int {
	switch {
	case pos == 0:
		return -1
	case pos > w.begin:
		return int(w.at(pos - 1))
	}
	return int(w.back[w.begin-pos])
}

// byteBehind is the byte at a position; -1 at the end.
func (w *window) byteBehind(pos int) int {
	if pos == w.end {
		return -1
	}
	return int(w.at(pos))
}

// inside tells whether a position lies inside a UTF-8 sequence: the byte behind
// it continues one, and the bytes before it are the beginning of one that is
// not whole.
func (w *window) inside(pos int) bool {
	if next := w.byteBehind(pos); next < 0 || next&0xc0 != 0x80 {
		return false
	}
	for n := 1; n <= 3 && n <= pos; n++ {
		if c := byte(w.byteBefore(pos - n + 1)); c&0xc0 != 0x80 {
			return announced(c) >= n
		}
	}
	return false
}
