package coding

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"redoubt/proxy/subst"
)

// Options are the limits of a pool.
type Options struct {
	Memory int64 // bytes that all bodies under way may take; 0: 256 MB
	Window int64 // bytes that a coding may look back; 0: 8 MB (RFC 9659)
	// Workers is how many work at a time: those who pass on what they make need a
	// processor, too. 0: half as many as there are processors.
	Workers int
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

	turns chan struct{} // one in it for each who works

	mu      sync.Mutex
	options Options
	running map[*Body]bool
	queues  [2]queue // of answers and of requests
	used    int64

	workers sync.WaitGroup
	blocks  sync.Pool // of *block
	kept    machines
}

// queue is those who wait for their turn, in the order in which they came, and those of
// their kind who have it.
type queue struct {
	waiting []*Body
	running int
	used    int64
}

// requestShare is what part of the memory bodies of requests may take: who sends them decides how
// long they take, and shall not keep answers from being rewritten.
const requestShare = 4

// Job says what is to be done with a body.
type Job struct {
	From, To Coding
	Window   int64 // as Inspect says; 0: the most that the pool allows
	Request  bool  // it is a request's
	Most     int64 // bytes that it may be decoded to; 0: no limit
	// Stream is called on the worker's goroutine when the body's turn has come, and
	// returns what its text goes through; nil: nothing.
	Stream func() *subst.Stream
}

// NewPool returns one without bodies.
func NewPool(o Options) *Pool {
	if o.Workers <= 0 {
		o.Workers = max(1, runtime.GOMAXPROCS(0)/2)
	}
	return &Pool{options: o.filled(), running: make(map[*Body]bool), turns: make(chan struct{}, o.Workers)}
}

// SetLimits changes the limits for bodies that begin from now on, but for Workers.
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
	return Stats{len(p.running), len(p.queues[0].waiting) + len(p.queues[1].waiting), p.used}
}

// Crowded tells that there is no room for another body, or hardly: better to have less to
// decode.
func (p *Pool) Crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used > p.options.Memory/4*3
}

// Close gives up all bodies, whose owners are told so, and returns when no worker is left.
// Those that are started later end at once, with ErrStopped.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed.Store(true)
	var waiting []*Body
	for i := range p.queues {
		waiting = append(waiting, p.queues[i].waiting...)
		p.queues[i].waiting = nil
	}
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
	q := p.queueOf(b)
	q.waiting = append(q.waiting, b)
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

func (p *Pool) queueOf(b *Body) *queue {
	if b.job.Request {
		return &p.queues[1]
	}
	return &p.queues[0]
}

// admit begins with those that wait, as far as memory goes. One of each kind may always
// run.
func (p *Pool) admit() {
	for i := len(p.queues) - 1; i >= 0; i-- { // requests first, for they have the smaller share
		most := p.options.Memory
		if i == 1 {
			most /= requestShare
		}
		for q := &p.queues[i]; len(q.waiting) > 0; {
			b := q.waiting[0]
			if q.running > 0 && (p.used+b.cost > p.options.Memory || q.used+b.cost > most) {
				break
			}
			q.waiting = slices.Delete(q.waiting, 0, 1)
			q.running++
			q.used += b.cost
			p.used += b.cost
			p.running[b] = true
			b.admitted.Store(true)
			p.workers.Add(1)
			go func() {
				defer p.workers.Done()
				b.work()
				p.leave(b)
			}()
		}
	}
}

func (p *Pool) leave(b *Body) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queueOf(b)
	q.running--
	q.used -= b.cost
	p.used -= b.cost
	delete(p.running, b)
	p.admit()
}

// forget takes a body out of the queue. It is false if its turn had come.
func (p *Pool) forget(b *Body) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queueOf(b)
	i := slices.Index(q.waiting, b)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	p.admit()
	return true
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
