package coding

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"redoubt/proxy/subst"
)

// Why a body ends that is not whole.
var (
	// ErrCut is for input that its owner has called cut. All of it that could be decoded
	// has come out, and nothing that makes it look whole.
	ErrCut = errors.New("the body was cut short")
	// ErrStopped is for a body that was given up, by its owner or with the pool.
	ErrStopped = errors.New("the body was given up")
	// ErrTooLong is for one that is decoded to more than it may be.
	ErrTooLong = errors.New("the body is too long when it is decoded")
	// ErrWindow is for a body whose coding turns out to look farther back than the pool allows.
	ErrWindow = errors.New("the body's coding looks farther back than is allowed")
)

// Error says what is wrong with the coding of a body.
type Error struct {
	Coding Coding
	Err    error
}

func (e *Error) Error() string {
	return "the body is no good " + e.Coding.String() + ": " + e.Err.Error()
}

// Unwrap returns the decoder's error.
func (e *Error) Unwrap() error { return e.Err }

// How much a pipe holds before who fills it has to wait. Input may exceed that by one
// piece, as the owner does not wait. Of output it is the blocks that count, for after
// many flushes they are not full.
const (
	mostIn    = 64 << 10
	mostOut   = 64 << 10
	mostPiece = 256 << 10
)

// Body is a body under way. Its methods are its owner's, one goroutine's at a time, and
// do not wait for the worker.
type Body struct {
	pool *Pool
	job  Job
	wake func()
	cost int64

	admitted atomic.Bool // its turn has come

	mu      sync.Mutex
	more    sync.Cond // input, room for output, or the end
	in      []*block  // all but the last are full
	inSize  int
	ended   bool // no more input comes
	cut     bool // ... and it is not whole
	out     []*block
	stopped bool
	done    bool
	err     error
	spent   time.Duration
	told    bool // the owner was woken, and has not come
	waits   bool // the owner waits for room

	taken  []*block      // the owner's, until it takes more
	stream *subst.Stream // the worker's, until it is done
}

// Write adds input: a copy of it.
func (b *Body) Write(piece []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done || b.over() {
		return
	}
	b.inSize += len(piece)
	for len(piece) > 0 {
		n := len(b.in)
		if n == 0 || b.in[n-1].filled == blockSize {
			b.in = append(b.in, b.pool.block())
			n++
		}
		piece = piece[b.in[n-1].put(piece):]
	}
	b.more.Signal()
}

// Full tells that there is enough input for now; while the body waits for its turn any is.
// Where it is true the owner is woken when it is not any more.
func (b *Body) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := mostIn
	if !b.admitted.Load() {
		most = 1
	}
	b.waits = b.inSize >= most && !b.done
	return b.waits
}

// Waits tells that the body's turn has not come.
func (b *Body) Waits() bool { return !b.admitted.Load() }

// End says that the input is whole.
func (b *Body) End() { b.end(false) }

// Cut says that the input ends here, and is not whole. What can be decoded of it comes
// out, but for what may be the beginning of a match.
func (b *Body) Cut() { b.end(true) }

func (b *Body) end(cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended, b.cut = true, cut
	b.more.Signal()
}

// Take appends what there is of the output to dst. It is valid until the next Take, or
// Stop. done says that no more comes, and err why, if the body is not whole.
func (b *Body) Take(dst [][]byte) (out [][]byte, done bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = false
	for _, k := range b.taken {
		b.pool.blocks.Put(k)
	}
	b.taken, b.out = b.out, b.taken[:0]
	for _, k := range b.taken {
		dst = append(dst, k.text())
	}
	b.more.Signal()
	return dst, b.done, b.err
}

// Stream is what the text has gone through, when it is done; else nil.
func (b *Body) Stream() *subst.Stream {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		return nil
	}
	return b.stream
}

// Spent is how long the worker has worked, when it is done.
func (b *Body) Spent() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Stop gives the body up. The worker ends soon, if it has not.
func (b *Body) Stop() {
	waited := b.pool.forget(b)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.more.Signal()
	if waited || b.done {
		b.drop()
	}
}

// over tells that nobody wants the body any more. b.mu is held.
func (b *Body) over() bool { return b.stopped || b.pool.closed.Load() }

// refuse ends a body that never had its turn.
func (b *Body) refuse() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finish(ErrStopped)
}

// finish says that no worker has the body any more. b.mu is held.
func (b *Body) finish(err error) {
	b.done, b.err = true, err
	if b.stopped {
		b.drop()
		return
	}
	b.tell()
}

// drop gives memory back, where no worker has it any more.
func (b *Body) drop() {
	for _, list := range []*[]*block{&b.in, &b.out, &b.taken} {
		for _, k := range *list {
			b.pool.blocks.Put(k)
		}
		*list = nil
	}
}

// tell wakes the owner. b.mu is held, and not while it does.
func (b *Body) tell() {
	if b.told || b.stopped {
		return
	}
	b.told = true
	b.mu.Unlock()
	b.wake()
	b.mu.Lock()
}
