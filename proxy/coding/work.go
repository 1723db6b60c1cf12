package coding

import (
	"io"
	"time"

	"redoubt/proxy/subst"
)

// worker is what rewrites one body. All of it is one goroutine's; what it has in common
// with the body's owner is guarded by the body's mutex.
type worker struct {
	body    *Body
	decoder decoder
	encoder encoder

	at     *block // of input, that is being read
	from   int
	to     *block // of output, that is being filled; nil: none
	dirty  bool   // the encoder has had something since it was flushed
	failed error  // of output
	waited time.Duration
}

// work rewrites a body from beginning to end.
func (b *Body) work() {
	begin := time.Now()
	w := &worker{body: b}
	stream, err := w.run()
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.to != nil {
		b.out, w.to = append(b.out, w.to), nil
	}
	if w.at != nil {
		b.pool.blocks.Put(w.at)
	}
	b.done, b.err, b.stream = true, err, stream
	b.spent = time.Since(begin) - w.waited
	if b.stopped {
		b.drop()
		return
	}
	b.told = false // whatever it was told, this is new
	b.tell()
}

func (w *worker) run() (stream *subst.Stream, err error) {
	b := w.body
	b.mu.Lock()
	stopped := b.stopped
	b.mu.Unlock()
	if stopped {
		return nil, ErrStopped
	}
	if b.job.Stream != nil {
		stream = b.job.Stream()
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
		kept.keep(b.job.From, b.job.Window, w.decoder, b.job.To, w.encoder)
	}
	return stream, err
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
		n, err := w.decoder.Read(buffer.bytes[:])
		switch {
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
	case b.stopped:
		return ErrStopped
	case b.cut:
		return ErrCut
	case err == io.ErrUnexpectedEOF || err == io.EOF:
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
	if w.to != nil {
		w.publish()
	}
}

// Read, and ReadByte, are the decoder's.
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

// ReadByte keeps decoders from reading ahead.
func (w *worker) ReadByte() (byte, error) {
	if w.from == len(w.at.text()) {
		if err := w.next(); err != nil {
			return 0, err
		}
	}
	w.from++
	return w.at.bytes[w.from-1], nil
}

// text is what a block holds; of none it is empty.
func (k *block) text() []byte {
	if k == nil {
		return nil
	}
	return k.bytes[:k.filled]
}

// next waits for input. Before, all that is known is given out: the next piece may be long
// in coming.
func (w *worker) next() error {
	b := w.body
	b.mu.Lock()
	defer b.mu.Unlock()
	for flushed := false; len(b.in) == 0; {
		switch {
		case b.stopped:
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
	if b.stopped {
		return ErrStopped
	}
	if w.at != nil {
		b.pool.blocks.Put(w.at)
	}
	w.at, w.from = b.in[0], 0
	b.in[0] = nil
	b.in = b.in[1:]
	b.inSize -= w.at.filled
	if b.waits && b.inSize < mostIn/2 {
		b.waits = false
		b.tell()
	}
	return nil
}

// wait waits for the owner. b.mu is held.
func (w *worker) wait() {
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
		n := copy(w.to.bytes[w.to.filled:], rest)
		w.to.filled += n
		rest = rest[n:]
		if w.to.filled == len(w.to.bytes) {
			if !w.publish() {
				return len(p) - len(rest), ErrStopped
			}
		}
	}
	return len(p), nil
}

// publish lets the owner have the block under way, and waits while it has too much
// already. It is false if the body was given up.
func (w *worker) publish() bool {
	b := w.body
	b.mu.Lock()
	defer b.mu.Unlock()
	b.out = append(b.out, w.to)
	b.outSize += w.to.filled
	w.to = nil
	b.tell()
	for b.outSize >= mostOut && !b.stopped {
		w.wait()
	}
	return !b.stopped
}
