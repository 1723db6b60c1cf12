package subst

import (
	"bufio"
	"errors"
	"io"
)

// pieceSize is how much is read, or taken of what is written, at a time.
const pieceSize = 32 << 10

// reader is what NewReader returns.
type reader struct {
	from   io.Reader
	stream *Stream
	piece  []byte
	out    []byte // what is certain of the output
	given  int    // ... and how much of that has been read
	err    error  // of from: nothing more comes from there
}

// NewReader returns a reader of r's text with everything replaced. It gives out
// what is certain as soon as r has given what makes it so. Where r ends, by
// io.EOF or another error, the text ends: what was held back comes before the
// error.
//
// It keeps the output of one piece of 32 KB at a time.
func NewReader(r io.Reader, s *Set) io.Reader {
	return &reader{from: r, stream: s.NewStream()}
}

func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	const patience = 100 // readings in a row that give neither a byte nor an error
	for idle := 0; r.given == len(r.out); {
		if r.err != nil {
			return 0, r.err
		}
		if r.piece == nil {
			r.piece = make([]byte, pieceSize)
		}
		var n int
		n, r.err = r.from.Read(r.piece)
		if idle++; n > 0 {
			idle = 0
		}
		if idle == patience && r.err == nil {
			return 0, io.ErrNoProgress
		}
		r.out, r.given = r.stream.Feed(r.out[:0], r.piece[:n]), 0
		if r.err != nil {
			r.out = r.stream.Finish(r.out)
		}
	}
	n := copy(p, r.out[r.given:])
	r.given += n
	return n, nil
}

// Writer replaces in what is written to it.
type Writer struct {
	stream *Stream
	to     *bufio.Writer
	emit   func([]byte)
	closed bool
	err    error // the first
}

// ErrClosed is the error of a Write after Close.
var ErrClosed = errors.New("subst: the Writer is closed")

// NewWriter returns a Writer that writes to w. Close ends the text.
func NewWriter(w io.Writer, s *Set) *Writer {
	out := &Writer{stream: s.NewStream(), to: bufio.NewWriterSize(w, pieceSize)}
	out.emit = func(piece []byte) {
		if _, err := out.to.Write(piece); err != nil && out.err == nil {
			out.err = err
		}
	}
	return out
}

// Write takes the next piece of the text. What is certain of the output has
// been written when it returns, so there is no Flush; only Held bytes are held
// back. After an error of the underlying writer, every Write returns that one.
func (w *Writer) Write(p []byte) (int, error) {
	if w.closed && w.err == nil {
		return 0, ErrClosed
	}
	if w.err == nil {
		w.stream.FeedTo(p, w.emit)
		w.flush()
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close ends the text and writes what was held back. It does not close the
// underlying writer. A second Close does nothing.
func (w *Writer) Close() error {
	if !w.closed && w.err == nil {
		w.stream.FinishTo(w.emit)
		w.flush()
	}
	w.closed = true
	return w.err
}

func (w *Writer) flush() {
	if err := w.to.Flush(); err != nil && w.err == nil {
		w.err = err
	}
}

// Held is how many bytes are held back: those of a match that is still open.
func (w *Writer) Held() int { return w.stream.Held() }

// Stats is what was met so far.
func (w *Writer) Stats() Stats { return w.stream.Stats() }
