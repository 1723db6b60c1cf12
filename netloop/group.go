//go:build linux

package netloop

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"redoubt/netloop/slab"
)

// Wait is what a loop does while nothing happens.
type Wait uint8

const (
	// Block sleeps until an event, a timer or a Post.
	Block Wait = iota
	// Busy asks again and again. Answers come sooner by what a wake-up takes
	// (some 25 µs), for a whole processor: there must be one to spare besides
	// those of the loops, and no quota.
	Busy
)

// Options of a Group. Zero means the default.
type Options struct {
	Loops        int           // 1
	Wait         Wait          // Block
	Memory       int           // most bytes that buffers may take in all; 256 MB
	MaxConns     int           // accepted connections at a time, over all loops; no limit
	WriteTimeout time.Duration // how long a peer may take for the next 64 KB, or the rest, of what is to be sent; no limit
	MaxInput     int           // about how many bytes may be left unconsumed before no more is read; 64 KB, at most 4 MB
}

// Group is a number of loops that serve the same listeners.
type Group struct {
	options Options
	memory  *slab.Arena
	loops   []*Loop
	begin   time.Time // the loops' clock counts from here

	conns    atomic.Int64 // accepted and not closed yet
	draining atomic.Bool
	naps     bool // there is a processor for others while the loops nap
	running  sync.WaitGroup

	mu        sync.Mutex
	started   bool // ... or closed
	closed    bool // before it was started
	listeners []*Listener
	failed    error // of the first loop that failed
	ended     chan struct{}
}

// New returns a group whose loops do not run yet.
func New(o Options) (*Group, error) {
	o.Loops = max(o.Loops, 1)
	if o.Memory <= 0 {
		o.Memory = 256 << 20
	}
	if o.MaxConns <= 0 {
		o.MaxConns = math.MaxInt
	}
	if o.MaxInput <= 0 {
		o.MaxInput = 64 << 10
	}
	o.MaxInput = min(o.MaxInput, slab.MaxBlock)
	memory, err := slab.New(o.Memory)
	if err != nil {
		return nil, err
	}
	g := &Group{options: o, memory: memory, begin: time.Now(), ended: make(chan struct{})}
	for i := range o.Loops {
		l, err := newLoop(g, i)
		if err != nil {
			_ = g.release()
			return nil, fmt.Errorf("cannot make an event loop: %w", err)
		}
		g.loops = append(g.loops, l)
	}
	return g, nil
}

// Loops returns the group's loops.
func (g *Group) Loops() []*Loop { return g.loops }

// Memory is where all buffers come from.
func (g *Group) Memory() *slab.Arena { return g.memory }

// MaxInput is Options.MaxInput, as it counts.
func (g *Group) MaxInput() int { return g.options.MaxInput }

// Clock is the time on the loops' clock, to any goroutine.
func (g *Group) Clock() time.Duration { return time.Since(g.begin) }

// Draining tells that Shutdown has been called.
func (g *Group) Draining() bool { return g.draining.Load() }

// Ended is closed when Run has returned, or Close was called first.
func (g *Group) Ended() <-chan struct{} { return g.ended }

// Conns is the number of accepted connections that are not closed yet.
func (g *Group) Conns() int { return int(g.conns.Load()) }

// Run runs all loops and returns when they have ended, by Shutdown or by a
// failure. Everything the group has is released then. A group runs once, and
// not at all if Shutdown or Close came first: that is no error.
func (g *Group) Run() error {
	g.mu.Lock()
	if g.started {
		defer g.mu.Unlock()
		if g.closed {
			return nil
		}
		return errors.New("netloop: a group runs once")
	}
	g.started = true
	g.naps = runtime.GOMAXPROCS(0) > len(g.loops)
	for _, l := range g.loops {
		g.running.Add(1)
		go func() {
			defer g.running.Done()
			// The thread ends with the goroutine.
			runtime.LockOSThread()
			l.run()
		}()
	}
	g.mu.Unlock()
	g.running.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.release(); g.failed == nil {
		g.failed = err
	}
	close(g.ended)
	return g.failed
}

// Close releases a group that was never run.
func (g *Group) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closeUnlessStarted()
}

func (g *Group) closeUnlessStarted() {
	if !g.started {
		g.started, g.closed = true, true
		_ = g.release()
		close(g.ended)
	}
}

func (g *Group) release() error {
	for _, ls := range g.listeners {
		ls.closeSockets()
	}
	for _, l := range g.loops {
		l.close()
	}
	return g.memory.Close()
}

// fail ends all loops because of one.
func (g *Group) fail(err error) {
	g.mu.Lock()
	if g.failed == nil {
		g.failed = err
	}
	g.mu.Unlock()
	for _, l := range g.loops {
		l.stop(err)
	}
}
