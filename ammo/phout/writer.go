package phout

import (
	"io"
	"sync"
)

// piece is how many bytes a Writer gathers before it writes them: some
// thousands of rows.
const piece = 256 << 10

// A Writer writes rows to a file in large pieces, each of whole lines, so that
// what a killed gun leaves behind can be read. Goroutines may share it.
type Writer struct {
	out      io.Writer
	numbered bool

	mu  sync.Mutex
	buf []byte
	err error // sticky: after it the file is not whole
}

// NewWriter writes to w. numbered makes tags TAG#N, as Tank's enum_ammo does.
func NewWriter(w io.Writer, numbered bool) *Writer {
	// A line beyond the piece ends it; most fit in what is added here.
	return &Writer{out: w, numbered: numbered, buf: make([]byte, 0, piece+1<<10)}
}

// Write adds rows, which are not kept; those of one call stay together, and
// calls of several goroutines come in any order. After an error of the
// underlying writer nothing more is written, and each call returns it.
func (w *Writer) Write(rows []Row) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range rows {
		if w.err != nil {
			break
		}
		w.buf = rows[i].Append(w.buf, w.numbered)
		if len(w.buf) >= piece {
			w.flush()
		}
	}
	return w.err
}

// Flush writes what has been gathered. It must be called at the end.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.err
}

func (w *Writer) flush() {
	if len(w.buf) == 0 { // always so after an error
		return
	}
	n, err := w.out.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	w.buf, w.err = w.buf[:0], err
}
