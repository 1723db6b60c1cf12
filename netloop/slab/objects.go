package slab

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Objects is a loop's pool of *T, for sessions and other things that hold Go
// pointers and so must live on the Go heap. It belongs to one thread at a
// time; an object that another pool gets back is posted home. Objects are made
// in batches and kept for ever: a pool is as large as its busiest moment was.
// It counts nothing against a quota.
type Objects[T any] struct {
	idle  *object[T] // those to hand out, the one freed last first
	batch int
	debug objectTracker[T] // no size without the tag slabdebug

	// Written by the owner, read by Stats.
	made, free, crossed atomic.Int64

	_       [64]byte // what others write shares no cache line with the rest
	posted  atomic.Pointer[object[T]]
	waiting atomic.Int64 // objects that are posted
	_       [64]byte
}

// object is what a *T of a pool points to the beginning of.
type object[T any] struct {
	value T
	mark  objectMark // no size without the tag slabdebug
	home  *Objects[T]
	next  *object[T] // below in a stack; a live object points to itself
}

// batchBytes is the size of a batch where the caller names no number.
const batchBytes = 16 << 10

// NewObjects returns an empty pool that makes batch objects at a time, or, for
// 0, some 16 KB of them.
func NewObjects[T any](batch int) *Objects[T] {
	if batch <= 0 {
		batch = max(1, batchBytes/int(unsafe.Sizeof(object[T]{})))
	}
	return &Objects[T]{batch: batch}
}

// Get returns an object: a new one is zero, a used one is as Put got it.
func (p *Objects[T]) Get() *T {
	if onHeap {
		return new(T)
	}
	o := p.idle
	if o == nil {
		o = p.refill()
	}
	p.idle = o.next
	p.free.Store(p.free.Load() - 1)
	o.next = o
	p.debug.took(o)
	return &o.value
}

// refill fills idle, which is empty, from what others posted or with a new
// batch, and returns it.
func (p *Objects[T]) refill() *object[T] {
	if p.Collect(); p.idle == nil {
		p.grow(p.batch)
	}
	return p.idle
}

func (p *Objects[T]) grow(count int) {
	batch := make([]object[T], count)
	for i := range batch {
		batch[i].home = p
		p.debug.made(&batch[i])
		p.push(&batch[i])
	}
	p.made.Store(p.made.Load() + int64(count))
}

func (p *Objects[T]) push(o *object[T]) {
	o.next = p.idle
	p.idle = o
	p.free.Store(p.free.Load() + 1)
}

// Put frees an object that a pool of this type gave. The caller has reset it:
// what it still points to stays alive with it, and the next Get returns it as
// it is. Freeing an object twice in a row panics.
func (p *Objects[T]) Put(x *T) {
	if onHeap {
		return
	}
	o := (*object[T])(unsafe.Pointer(x)) // value is the first field
	p.debug.check(o)
	if o.next != o {
		panic(fmt.Sprintf("slab: Put of a %T at %p that is already free%s", x, x, o.mark.freedAt()))
	}
	home := o.home
	home.debug.gave(o)
	if home == p {
		p.push(o)
		return
	}
	p.crossed.Store(p.crossed.Load() + 1)
	home.waiting.Add(1)
	for {
		o.next = home.posted.Load()
		if home.posted.CompareAndSwap(o.next, o) {
			return
		}
	}
}

// Collect takes home what others freed. Get does so when it runs out; a loop
// may do it once an iteration to keep its recent objects in use.
func (p *Objects[T]) Collect() {
	if p.posted.Load() == nil {
		return
	}
	for o := p.posted.Swap(nil); o != nil; {
		next := o.next
		p.waiting.Add(-1)
		p.push(o)
		o = next
	}
}

// Warm makes objects until count are free.
func (p *Objects[T]) Warm(count int) {
	p.Collect()
	if missing := count - int(p.free.Load()); missing > 0 {
		p.grow(missing)
	}
}

// ObjectStats counts a pool's objects. Made is the sum of Live and Free.
type ObjectStats struct {
	Made    int64
	Live    int64 // in users' hands
	Free    int64 // in the pool or on the way home
	Crossed int64 // objects of other pools that this one got back and posted home
}

// Stats may be called from anywhere. Objects that move at this moment may
// count twice or not at all.
func (p *Objects[T]) Stats() ObjectStats {
	s := ObjectStats{Made: p.made.Load(), Free: p.free.Load() + p.waiting.Load(), Crossed: p.crossed.Load()}
	s.Live = max(0, s.Made-s.Free)
	return s
}

// Leaks lists the objects that live, each with its address and the stack that
// took it; empty without the build tag slabdebug.
func (p *Objects[T]) Leaks() []string { return p.debug.leaks() }
