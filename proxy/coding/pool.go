package coding

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"redoubt/proxy/subst"
)

// Options are the limits of a pool.
type Options struct {
	Memory int64 // bytes that all bodies under way may take; 0: 256 MB
	Window int64 // bytes that a coding may look back; 0: 8 MB (RFC 9659)
}

func (o Options) filled() Options {
	if o.Memory <= 0 {
		o.Memory = 256 << 20
	}
	if o.Window <= 0 {
		o.Window = 8 << 20
	}
	return o
}

// Pool rewrites bodies. Any number of goroutines may use it.
type Pool struct {
	closed atomic.Bool // workers look at it with their body's mutex alone

	mu      sync.Mutex
	options Options
	running map[*Body]bool
	waiting []*Body // in the order in which they came
	used    int64

	workers sync.WaitGroup
	blocks  sync.Pool // of *block
	kept    machines
}

// Job says what is to be done with a body.
type Job struct {
	From, To Coding
	Window   int64 // as Inspect says; 0: the most that the pool allows
	// Stream is called on the worker's goroutine when the body's turn has come, and
	// returns what its text goes through; nil: nothing.
	Stream func() *subst.Stream
}

// NewPool returns one without bodies.
func NewPool(o Options) *Pool {
	return &Pool{options: o.filled(), running: make(map[*Body]bool)}
}

// SetLimits changes the limits for bodies that begin from now on.
func (p *Pool) SetLimits(o Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options = o.filled()
	p.admit()
}

// Window is how far back a coding may look.
func (p *Pool) Window() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options.Window
}

// Stats tells what a pool has to do.
type Stats struct {
	Running, Waiting int
	Memory           int64 // that those may take which are running
}

// Stats counts.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{len(p.running), len(p.waiting), p.used}
}

// Close gives up all bodies, whose owners are told so, and returns when no worker is left.
// Those that are started later end at once, with ErrStopped.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed.Store(true)
	waiting := p.waiting
	p.waiting = nil
	var running []*Body
	for b := range p.running {
		running = append(running, b)
	}
	p.mu.Unlock()
	for _, b := range waiting {
		b.refuse()
	}
	for _, b := range running {
		b.mu.Lock()
		b.more.Signal()
		b.mu.Unlock()
	}
	p.workers.Wait()
}

// Start takes a body on. wake is called, on any goroutine, when there is something new
// for its owner, and not again until the owner has called Take.
func (p *Pool) Start(j Job, wake func()) *Body {
	b := &Body{pool: p, job: j, wake: wake}
	b.more.L = &b.mu
	if !p.enqueue(b) {
		b.refuse()
	}
	return b
}

// enqueue is false if the pool is closed.
func (p *Pool) enqueue(b *Body) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return false
	}
	b.job.Window = allowed(b.job.Window, p.options.Window)
	b.cost = Cost(b.job.From, b.job.To, b.job.Window)
	p.waiting = append(p.waiting, b)
	p.admit()
	return true
}

// allowed is the window that a decoder may have. Those of 64 KB and powers of two above
// can be used again for many bodies.
func allowed(window, most int64) int64 {
	if window <= 0 || window >= most {
		return most
	}
	return min(1<<bits.Len64(uint64(max(window, 64<<10)-1)), most)
}

// admit begins with those that wait, as far as memory goes. One may always run.
func (p *Pool) admit() {
	for len(p.waiting) > 0 {
		b := p.waiting[0]
		if len(p.running) > 0 && p.used+b.cost > p.options.Memory {
			return
		}
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		p.used += b.cost
		p.running[b] = true
		p.workers.Add(1)
		go func() {
			defer p.workers.Done()
			b.work()
			p.leave(b)
		}()
	}
}

func (p *Pool) leave(b *Body) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used -= b.cost
	delete(p.running, b)
	p.admit()
}

// forget takes a body out of the queue. It is false if its turn had come.
func (p *Pool) forget(b *Body) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.waiting {
		if w == b {
			p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
			p.admit()
			return true
		}
	}
	return false
}

const blockSize = 16 << 10

// block is memory of a pipe.
type block struct {
	bytes  [blockSize]byte
	filled int
}

func (p *Pool) block() *block {
	if k, ok := p.blocks.Get().(*block); ok {
		k.filled = 0
		return k
	}
	return new(block)
}

// text is what a block holds; of none it is empty.
func (k *block) text() []byte {
	if k == nil {
		return nil
	}
	return k.bytes[:k.filled]
}

// put adds what there is room for, and tells how much that was.
func (k *block) put(p []byte) int {
	n := copy(k.bytes[k.filled:], p)
	k.filled += n
	return n
}
