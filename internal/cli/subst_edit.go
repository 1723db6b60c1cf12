package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"redoubt/proxy/subst"
)

// editor replaces in one text, and measures.
type editor struct {
	stream *subst.Stream
	pieces int // bytes a piece; 0: as they are read
	out    *bufio.Writer
	to     *measuredWriter
	in     int64
	took   time.Duration // in all, but for reading
}

// measuredWriter counts what is written, and the time that it takes.
type measuredWriter struct {
	io.Writer
	n    int64
	took time.Duration
}

func (w *measuredWriter) Write(b []byte) (int, error) {
	begin := time.Now()
	n, err := w.Writer.Write(b)
	w.took += time.Since(begin)
	w.n += int64(n)
	return n, err
}

const editorBuffer = 64 << 10 // a pipe holds as much

func newEditor(set *subst.Set, out io.Writer, pieces int) *editor {
	to := &measuredWriter{Writer: out}
	return &editor{stream: set.NewStream(), pieces: pieces, to: to, out: bufio.NewWriterSize(to, editorBuffer)}
}

// edit reads in to its end. What is certain of the output is written before
// more is waited for; at an error, or when ctx ends, the text ends.
func (e *editor) edit(ctx context.Context, in io.Reader) error {
	reads, free := readAhead(in)
	defer close(free)
	for {
		var r reading
		select {
		case r = <-reads:
		case <-ctx.Done():
			r.err = errInterrupted
		}
		begin := time.Now()
		e.in += int64(len(r.piece))
		if e.pieces > 0 {
			for piece := range slices.Chunk(r.piece, e.pieces) {
				e.stream.FeedTo(piece, e.emit)
			}
		} else {
			e.stream.FeedTo(r.piece, e.emit)
		}
		if r.err != nil {
			e.stream.FinishTo(e.emit)
		}
		err := e.out.Flush()
		e.took += time.Since(begin)
		switch {
		case err != nil:
			return fmt.Errorf("cannot write the output: %w", err)
		case errors.Is(r.err, io.EOF):
			return nil
		case r.err != nil:
			return r.err
		}
		free <- r.piece[:cap(r.piece)]
	}
}

func (e *editor) emit(piece []byte) { e.out.Write(piece) } // Flush returns its error

// reading is what a Read has brought.
type reading struct {
	piece []byte
	err   error
}

// readAhead reads on a goroutine of its own, since reading from a terminal or a
// pipe cannot be interrupted: it is left behind. Buffers go back through free.
func readAhead(in io.Reader) (<-chan reading, chan<- []byte) {
	const buffers = 2
	reads, free := make(chan reading, buffers), make(chan []byte, buffers)
	for range buffers {
		free <- make([]byte, editorBuffer)
	}
	go func() {
		for buf := range free {
			n, err := in.Read(buf)
			reads <- reading{buf[:n], err} // there is room for all buffers
			if err != nil {
				return
			}
		}
	}()
	return reads, free
}
