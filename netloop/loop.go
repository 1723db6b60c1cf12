//go:build linux

package netloop

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"redoubt/netloop/slab"
)

// Loop is one thread with its connections.
type Loop struct {
	group *Group
	index int
	ep    int // epoll
	wake  int // eventfd that ends a sleep

	now     int64 // nanoseconds since the group's begin, read once an iteration
	unix    int64 // wall clock, seconds
	newUnix int64 // when unix has to be read anew

	wheel    wheel
	alarm    alarm
	memory   *slab.Cache
	objects  *slab.Objects[Conn]
	scratch  []byte // every read begins here, unless its connection has kept input
	readSize int    // of it, for one read
	vectors  [maxVectors]unix.Iovec
	small    [smallOutput]byte // where small segments are put together

	conns []*Conn // by slot; nil: free
	gens  []uint32
	free  []uint32
	open  atomic.Int64 // connections: accepted, dialled and lingering ones
	ready *Conn        // to be serviced once more, in order
	last  *Conn
	dead  []*Conn // ended in this iteration
	spent int     // bytes of work in this iteration

	copied int64 // bytes, in all

	listening   []*listening
	acceptTimer Timer

	rest    atomic.Int64 // see resting
	worked  int64        // what Busy has told; guarded by mu
	calm    bool         // few events at a time: a nap comes without a look before it
	asleep  atomic.Bool
	exact   bool         // the thread's sleeps are as exact as the system can
	coarse  bool         // the system has no sleeps of less than a millisecond
	waiting atomic.Int32 // functions in posted
	mu      sync.Mutex
	posted  []func()
	running []func()

	telling bool        // the loop drains: handlers are told
	drained atomic.Bool // ... and all accept queues have been empty since
	ending  error       // why the loop ends; nil while it does not
}

const (
	scratchSize = 256 << 10
	maxEvents   = 256
	maxVectors  = 1024 // the most that writev takes (UIO_MAXIOV)

	// tags of events that are no connection's; those have slots from 0
	tagWake     = 1 << 31
	tagListener = 1<<31 + 1
)

func newLoop(g *Group, index int) (l *Loop, err error) {
	l = &Loop{group: g, index: index, memory: g.memory.NewCache(), objects: slab.NewObjects[Conn](0), ep: -1, wake: -1}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return l, err
	}
	if l.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return l, err
	}
	e := tagged(unix.EPOLLIN, tagWake)
	if errno := controlEpoll(l.ep, unix.EPOLL_CTL_ADD, int32(l.wake), &e); errno != 0 {
		return l, errno
	}
	if l.scratch, err = l.memory.Get(scratchSize); err != nil {
		return l, err
	}
	l.acceptTimer.Func = l.resumeAccept
	l.readSize = scratchSize
	l.rest.Store(resting)
	l.readClock()
	return l, nil
}

// close releases what the loop has. Its connections are gone by then.
func (l *Loop) close() {
	l.mu.Lock() // a Post may be about to wake it
	defer l.mu.Unlock()
	for _, fd := range []*int{&l.ep, &l.wake} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
	l.posted = nil
	if l.scratch != nil {
		l.memory.Put(l.scratch)
		l.scratch = nil
	}
	l.memory.Close()
}

// Group is the loop's group.
func (l *Loop) Group() *Group { return l.group }

// Index is the loop's place in Group.Loops.
func (l *Loop) Index() int { return l.index }

// Now is the time since the group's begin, as it was when the iteration
// began, or the alarm rang in it.
func (l *Loop) Now() time.Duration { return time.Duration(l.now) }

// Unix is the wall clock in seconds, as it was when the iteration began.
func (l *Loop) Unix() int64 { return l.unix }

// Copied is how many bytes the loop has copied in user space so far: input that
// was left, output that the system did not take at once or that was corked, and
// small segments that were put together. It is the loop's thread's to ask.
func (l *Loop) Copied() int64 { return l.copied }

// SetReadSize bounds what one read brings, from 1 KB to 256 KB, which is the default.
// Where a peer does not take what comes of a read, that much has to be kept: while
// memory is scarce, many connections can go on with little each.
func (l *Loop) SetReadSize(n int) { l.readSize = min(max(n, 1<<10), scratchSize) }

// Wall is the time of day, as it was when the iteration began. It is counted from
// the group's begin: a clock that is set later does not change it.
func (l *Loop) Wall() time.Time { return l.group.begin.Add(time.Duration(l.now)) }

// Memory is the loop's share of the group's memory.
func (l *Loop) Memory() *slab.Cache { return l.memory }

// Draining tells that the group shuts down: new work is not wanted.
func (l *Loop) Draining() bool { return l.group.draining.Load() }

// Arm lets t go off after d. An armed timer is set anew.
func (l *Loop) Arm(t *Timer, d time.Duration) { l.wheel.arm(t, l.after(d)) }

// after is the time in d, or in so many years that it makes no difference.
func (l *Loop) after(d time.Duration) int64 { return l.now + int64(min(max(d, 0), 1<<61)) }

// Disarm stops t, and lets go of it.
func (l *Loop) Disarm(t *Timer) { l.wheel.forget(t) }

// Post calls f on the loop's thread soon. It is safe from any goroutine. A
// loop that has ended calls nothing any more.
func (l *Loop) Post(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wake < 0 { // ended
		return
	}
	l.posted = append(l.posted, f)
	l.waiting.Add(1)
	// The loop says that it is asleep before it looks for posted work the last
	// time, so one of the two sees the other.
	if l.asleep.Swap(false) {
		one := [8]byte{1}
		_, _ = unix.Write(l.wake, one[:]) // it can only fail if it is awake already
	}
}

func (l *Loop) stop(why error) {
	l.Post(func() {
		if l.ending == nil {
			l.ending = why
		}
	})
}

func (l *Loop) readClock() {
	l.now = int64(time.Since(l.group.begin))
	if l.now >= l.newUnix {
		wall := time.Now()
		l.unix = wall.Unix()
		l.newUnix = l.now + int64(time.Second) - int64(wall.Nanosecond())
	}
}

// warmConns is how many connections a loop is ready for at the start: the first
// answers count as much as others.
const warmConns = 64

func (l *Loop) warm() {
	l.objects.Warm(warmConns)
	clear(l.scratch)                      // a page's first touch costs a microsecond
	_ = l.memory.Warm(minRoom, warmConns) // with a quota as small as that, it comes as it is needed
}

func (l *Loop) run() {
	l.readClock()
	l.endRest()
	l.warm()
	var events [maxEvents]epollEvent
	for l.ending == nil {
		n := l.wait(events[:])
		l.readClock()
		l.endRest()
		l.wheel.skip(l.now)
		l.spent = 0
		l.lookAtAlarm()
		for i := range events[:n] {
			l.dispatch(&events[i])
			l.lookAtAlarm()
		}
		l.wheel.advance(l.now)
		l.serviceReady()
		if l.waiting.Load() != 0 {
			l.runPosted()
		}
		if len(l.dead) != 0 {
			l.recycle()
		}
		l.memory.Collect()
	}
	l.cutAll()
	l.readClock()
	l.beginRest()
}

// dispatch takes an event to whom it is for. Its tag holds a slot and the
// generation that the slot's connection had when it was registered: earlier
// events of the same batch may have closed that connection, and a new one may
// have the slot, and even the descriptor.
func (l *Loop) dispatch(e *epollEvent) {
	tag := eventTag(e)
	slot := uint32(tag)
	switch {
	case slot == tagWake:
		var count [8]byte
		_, _ = unix.Read(l.wake, count[:])
	case slot >= tagListener:
		l.accept(l.listening[slot-tagListener])
	default:
		if c := l.conns[slot]; c != nil && l.gens[slot] == uint32(tag>>32) {
			if c.happened(e.Events); l.spent < turnWork {
				c.service()
			} else {
				l.enqueue(c)
			}
		}
	}
}

func (l *Loop) runPosted() {
	l.mu.Lock()
	l.running, l.posted = l.posted, l.running[:0]
	l.mu.Unlock()
	l.waiting.Add(int32(-len(l.running)))
	for i, f := range l.running {
		l.running[i] = nil
		f()
		l.lookAtAlarm()
	}
}
