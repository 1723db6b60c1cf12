//go:build slabdebug

package slab

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"unsafe"
)

// objectTracker knows of every live object of a pool who took it. Free ones
// keep a sum of their bytes, which must still be right at the next Get.
type objectTracker[T any] struct {
	mu   sync.Mutex
	live map[*object[T]]*event
}

// objectMark is what an object notes of itself.
type objectMark struct {
	own   uintptr // the complement of its address, so that a *T from elsewhere is found out
	seed  maphash.Seed
	sum   uint64
	freed *event
}

func (m objectMark) freedAt() string {
	if m.freed == nil {
		return ""
	}
	return "; " + m.freed.text("freed")
}

func (o *object[T]) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&o.value)), unsafe.Sizeof(o.value))
}

func (o *object[T]) String() string { return fmt.Sprintf("the %T at %p", &o.value, o) }

func (*objectTracker[T]) made(o *object[T]) { o.mark.own = ^uintptr(unsafe.Pointer(o)) }

// check panics unless the object is one of a pool. It looks behind the end of
// one that is not, which is more than a program should do, but not harmful.
func (*objectTracker[T]) check(o *object[T]) {
	if o.mark.own != ^uintptr(unsafe.Pointer(o)) {
		panic(fmt.Sprintf("slab: Put of %s, which no pool made", o))
	}
}

func (t *objectTracker[T]) took(o *object[T]) {
	if m := &o.mark; m.freed != nil && maphash.Bytes(m.seed, o.bytes()) != m.sum {
		panic(fmt.Sprintf("slab: %s was written after its free%s", o, m.freedAt()))
	}
	e := newEvent(o.String())
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		t.live = make(map[*object[T]]*event)
	}
	t.live[o] = e
}

func (t *objectTracker[T]) gave(o *object[T]) {
	seed := maphash.MakeSeed()
	o.mark.seed, o.mark.sum, o.mark.freed = seed, maphash.Bytes(seed, o.bytes()), newEvent(o.String())
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, o)
}

func (t *objectTracker[T]) leaks() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, e := range t.live {
		all = append(all, e.text("taken"))
	}
	slices.Sort(all)
	return all
}
