package coding

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"redoubt/proxy/subst"
)

// worker is what rewrites one body. All of it is one goroutine's; what it has in common
// with the body's owner is guarded by the body's mutex.
type worker struct {
	body    *Body
	decoder decoder
	encoder encoder

	at     *block // of input, that is being read; nil: there was none yet
	from   int
	to     *block // of output, that is being filled; nil: none yet
	dirty  bool   // the encoder has had something since it was flushed
	failed error  // of output
	waited time.Duration
	turn   bool  // it is this one's to work
	got    int64 // bytes of text
}

// work rewrites a body from beginning to end.
func (b *Body) work() {
	begin := time.Now()
	w := &worker{body: b}
	stream, err := w.run()
	w.leaveTurn()
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.to != nil {
		b.out = append(b.out, w.to)
	}
	if w.at != nil {
		b.pool.blocks.Put(w.at)
	}
	b.stream, b.spent = stream, time.Since(begin)-w.waited
	b.finish(err)
}

func (w *worker) run() (stream *subst.Stream, err error) {
	b := w.body
	if w.over() {
		return nil, ErrStopped
	}
	if b.job.Stream != nil {
		stream = b.job.Stream()
	}
	if b.job.From == Brotli {
		if err := w.inspect(); err != nil {
			return stream, w.wrong(err)
		}
	}
	kept := &b.pool.kept
	if w.decoder, err = kept.decoder(b.job.From, b.job.Window, w); err != nil {
		return stream, w.wrong(err)
	}
	if w.encoder, err = kept.encoder(b.job.To, output{w}); err != nil {
		return stream, err
	}
	err = w.pump(stream)
	if err == nil {
		kept.keepDecoder(b.job.From, b.job.Window, w.decoder)
		kept.keepEncoder(b.job.To, w.encoder)
	}
	return stream, err
}

// inspect sees to it that brotli's window is not larger than was said: its decoder knows no
// limit. Its first byte tells.
func (w *worker) inspect() error {
	if err := w.next(); err != nil {
		return err
	}
	if window, _ := Inspect(Brotli, w.at.text()); window > w.body.job.Window {
		return ErrWindow
	}
	return nil
}

// pump lets the body go through.
func (w *worker) pump(stream *subst.Stream) error {
	b := w.body
	buffer := b.pool.block()
	defer b.pool.blocks.Put(buffer)
	emit := func(piece []byte) {
		if w.failed == nil {
			w.dirty = true
			_, w.failed = w.encoder.Write(piece)
		}
	}
	for {
		w.takeTurn()
		n, err := w.read(buffer.bytes[:])
		w.got += int64(n)
		switch {
		case w.over():
			return ErrStopped
		case b.job.Most > 0 && w.got > b.job.Most:
			return ErrTooLong
		case n == 0:
		case stream != nil:
			stream.FeedTo(buffer.bytes[:n], emit)
			stream.Release()
		default:
			emit(buffer.bytes[:n])
		}
		switch {
		case w.failed != nil:
			return w.failed
		case err == io.EOF && w.at == nil && b.job.From != Identity: // nothing is no text in a coding
			return w.wrong(io.ErrUnexpectedEOF)
		case err == io.EOF:
			if err := w.drain(); err != nil {
				return w.wrong(err)
			}
			if stream != nil {
				stream.FinishTo(emit)
				stream.Release()
			}
			if w.failed == nil {
				w.failed = w.encoder.Close()
			}
			return w.failed
		case err != nil:
			return w.wrong(err)
		}
	}
}

// read has text decoded. Decoders are other people's work, fed by strangers: what should
// panic in one costs a body, and not the process.
func (w *worker) read(p []byte) (n int, err error) {
	defer func() {
		if why := recover(); why != nil {
			n, err = 0, fmt.Errorf("the decoder has panicked: %v", why)
		}
	}()
	return w.decoder.Read(p)
}

// drain reads what comes behind the end of the coding, which others pass over as well.
// The body may turn out to be cut.
func (w *worker) drain() error {
	for {
		w.from = len(w.at.text())
		if err := w.next(); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// wrong gives out what is known, and says what has gone wrong.
func (w *worker) wrong(err error) error {
	w.flush()
	b := w.body
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.over():
		return ErrStopped
	case errors.Is(err, ErrWindow):
		return ErrWindow
	case b.cut:
		return ErrCut
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return &Error{b.job.From, err}
}

// flush gives out all that the encoder has.
func (w *worker) flush() {
	if w.dirty && w.failed == nil {
		w.dirty = false
		w.failed = w.encoder.Flush()
	}
	if w.to != nil && w.to.filled > 0 {
		w.publish()
	}
}

// Read is the decoder's.
func (w *worker) Read(p []byte) (int, error) {
	if w.from == len(w.at.text()) {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.at.text()[w.from:])
	w.from += n
	return n, nil
}

// next waits for input. Before, all that is known is given out: the next piece may be long
// in coming.
func (w *worker) next() error {
	b := w.body
	b.mu.Lock()
	defer b.mu.Unlock()
	for flushed := false; len(b.in) == 0; {
		switch {
		case b.over():
			return ErrStopped
		case b.cut:
			return ErrCut
		case b.ended:
			return io.EOF
		case !flushed:
			flushed = true
			b.mu.Unlock()
			w.flush()
			b.mu.Lock()
			if w.failed != nil {
				return w.failed
			}
			continue
		}
		w.wait()
	}
	if b.over() {
		return ErrStopped
	}
	if w.at != nil {
		b.pool.blocks.Put(w.at)
	}
	w.at, w.from = b.in[0], 0
	b.in = slices.Delete(b.in, 0, 1)
	b.inSize -= w.at.filled
	if b.waits && b.inSize < mostIn/2 {
		b.waits = false
		b.tell()
	}
	return nil
}

// over tells that nobody wants the body any more.
func (w *worker) over() bool {
	b := w.body
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over()
}

// takeTurn lets others work who wait for it, and waits until it is this one's turn.
func (w *worker) takeTurn() {
	w.leaveTurn()
	select {
	case w.body.pool.turns <- struct{}{}:
	default:
		begin := time.Now()
		w.body.pool.turns <- struct{}{}
		w.waited += time.Since(begin)
	}
	w.turn = true
}

func (w *worker) leaveTurn() {
	if w.turn {
		w.turn = false
		<-w.body.pool.turns
	}
}

// wait waits for the owner, and lets others work meanwhile. b.mu is held.
func (w *worker) wait() {
	w.leaveTurn()
	begin := time.Now()
	w.body.more.Wait()
	w.waited += time.Since(begin)
}

// output is where encoders write to.
type output struct{ w *worker }

func (o output) Write(p []byte) (int, error) {
	w := o.w
	for rest := p; len(rest) > 0; {
		if w.to == nil {
			w.to = w.body.pool.block()
		}
		rest = rest[w.to.put(rest):]
		if w.to.filled == blockSize && !w.publish() {
			return len(p) - len(rest), ErrStopped
		}
	}
	return len(p), nil
}

// publish lets the owner have what is in the block under way, and waits while it has too
// much already. It is false if the body was given up.
func (w *worker) publish() bool {
	b := w.body
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.out); n > 0 && blockSize-b.out[n-1].filled >= w.to.filled {
		b.out[n-1].put(w.to.text())
		w.to.filled = 0
	} else {
		b.out, w.to = append(b.out, w.to), nil
	}
	b.tell()
	for len(b.out) >= mostOut/blockSize && !b.over() {
		w.wait()
	}
	return !b.over()
}
