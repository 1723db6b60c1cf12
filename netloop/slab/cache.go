package slab

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// keepBytes is how much idle memory of each size a cache keeps, and refillBytes
// how much it takes from the arena at once.
const (
	keepBytes   = 256 << 10
	refillBytes = 64 << 10
)

// closed stands in Cache.posted instead of a stack when the cache is closed.
const closed = ^uint32(0)

// A Cache is one loop's part of an arena. It belongs to one thread at a time;
// other caches of the same arena may free its blocks.
type Cache struct {
	arena  *Arena
	memory []byte  // the arena's
	units  []entry // the arena's
	base   uintptr // address of memory
	number uint32
	starve uint32 // Arena.starving as last seen
	lists  [Classes]list
	counters

	_       [64]byte              // what others write shares no cache line with the rest
	posted  atomic.Uint32         // stack of blocks freed elsewhere: unit+1 of the uppermost, 0, or closed
	waiting [Classes]atomic.Int32 // how many of each class are posted
	_       [64]byte
}

// list holds the idle blocks of a class, the one freed last at the end. Only
// the owner uses it; the count is atomic for Stats (a store costs half a
// nanosecond more than a plain one).
type list struct {
	blocks []uint32 // as long as the bound
	n      atomic.Uint32
}

// pop takes a block from a list that is not empty.
func (l *list) pop() uint32 {
	left := l.n.Load() - 1
	l.n.Store(left)
	return l.blocks[left]
}

// push adds a block to a list that has room.
func (l *list) push(unit uint32) {
	n := l.n.Load()
	l.blocks[n] = unit
	l.n.Store(n + 1)
}

// NewCache returns an empty cache.
func (a *Arena) NewCache() *Cache {
	a.mu.Lock()
	defer a.mu.Unlock()
	table := append([]*Cache(nil), *a.caches.Load()...)
	number := 1
	for number < len(table) && table[number] != nil {
		number++
	}
	if number > maxCaches {
		panic(fmt.Sprintf("slab: more than %d caches of one arena", maxCaches))
	}
	if number == len(table) {
		table = append(table, nil)
	}
	c := &Cache{
		arena:  a,
		memory: a.memory,
		units:  a.units,
		base:   uintptr(unsafe.Pointer(unsafe.SliceData(a.memory))),
		number: uint32(number),
		starve: a.starving.Load(),
	}
	for k := range c.lists {
		c.lists[k].blocks = make([]uint32, keepBytes/(MinBlock<<k))
	}
	table[number] = c
	a.caches.Store(&table)
	return c
}

// classOf is the smallest class whose blocks hold n bytes, at most Classes-1
// for n up to MaxBlock.
func classOf(n int) int { return bits.Len(uint(max(n, 1)-1) >> unitShift) }

// Get returns a block of the smallest size that holds n bytes. Its length and
// its capacity are the block's, its content is whatever was there before.
// ErrFull is an error to survive: the next Put may help.
func (c *Cache) Get(n int) ([]byte, error) {
	k := classOf(n)
	if k >= Classes {
		return nil, ErrTooLong
	}
	if onHeap {
		return make([]byte, MinBlock<<k), nil
	}
	if l := &c.lists[k]; l.n.Load() > 0 {
		return c.hold(l.pop(), k), nil
	}
	return c.refill(k)
}

// hold makes an idle block a user's.
func (c *Cache) hold(unit uint32, k int) []byte {
	c.units[unit].next = held
	b := c.block(unit, k)
	c.arena.debug.took(unit, k, b)
	return b
}

func (c *Cache) block(unit uint32, k int) []byte {
	from := int(unit) << unitShift
	to := from + MinBlock<<k
	return c.memory[from:to:to]
}

// refill gets a block where the list of its class is empty: from what others
// posted, else from the arena, with some more for next time.
func (c *Cache) refill(k int) ([]byte, error) {
	l := &c.lists[k]
	if c.posted.Load() == closed {
		return nil, ErrClosed
	}
	c.takeHome()
	if l.n.Load() > 0 {
		return c.hold(l.pop(), k), nil
	}

	a := c.arena
	a.mu.Lock()
	unit, ok := a.take(k, c.number)
	if !ok {
		c.flush()
		a.gather()
		if unit, ok = a.take(k, c.number); !ok {
			c.starve = a.starving.Add(1)
			c.refused.Store(c.refused.Load() + 1)
			a.unlock()
			return nil, ErrFull
		}
	}
	for range min(refillBytes>>(unitShift+k), len(l.blocks)) - 1 {
		more, ok := a.take(k, c.number)
		if !ok {
			break
		}
		l.push(more)
	}
	a.unlock()
	return c.hold(unit, k), nil
}

// Put frees a block: b is any slice of it that starts at its first byte. The
// block goes home if it is another cache's. Put panics when b is no live block
// of the arena.
func (c *Cache) Put(b []byte) {
	if onHeap {
		return
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - c.base
	unit := at >> unitShift
	if unit >= uintptr(len(c.units)) || at%MinBlock != 0 || c.units[unit].next != held {
		c.refuse(b)
	}
	tag := c.units[unit].tag
	k := tag & tagClass
	c.arena.debug.gave(uint32(unit), int(k), c.block(uint32(unit), int(k)))
	c.units[unit].next = 0
	if tag>>ownerShift != c.number {
		c.post(uint32(unit), tag)
		return
	}
	l := &c.lists[k]
	if int(l.n.Load()) == len(l.blocks) {
		c.spill(uint32(unit), l)
		return
	}
	l.push(uint32(unit))
}

// refuse panics because b is not what Put takes.
func (c *Cache) refuse(b []byte) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	unit := (at - c.base) >> unitShift
	what := "begins inside of a block"
	switch {
	case unit >= uintptr(len(c.units)):
		what = "is not of this arena"
	case at%MinBlock != c.base%MinBlock:
	case c.units[unit].tag != 0:
		what = fmt.Sprintf("is already free, a block of %d bytes%s", MinBlock<<(c.units[unit].tag&tagClass), c.arena.debug.freedAt(uint32(unit)))
	default: // merged into a larger block, or never one
		what += ", or is already free" + c.arena.debug.freedAt(uint32(unit))
	}
	panic(fmt.Sprintf("slab: Put of %d bytes at %#x: it %s (the arena has %#x to %#x)",
		cap(b), at, what, c.base, c.base+uintptr(len(c.memory))))
}

// spill frees a block for which the list has no room: the half of the list
// that has been idle longest goes to the arena, or, where lists are not kept,
// the block itself.
func (c *Cache) spill(unit uint32, l *list) {
	a := c.arena
	a.mu.Lock()
	defer a.unlock()
	if len(l.blocks) == 0 {
		a.give(unit)
		return
	}
	n := l.n.Load()
	half := (n + 1) / 2
	for _, old := range l.blocks[:half] {
		a.give(old)
	}
	copy(l.blocks, l.blocks[half:n])
	l.n.Store(n - half)
	l.push(unit)
}

// Collect takes home what others freed, and gives all idle blocks back to the
// arena if it had to refuse someone since the last call. A loop calls it once
// an iteration, and always before it sleeps; it costs two loads where nothing
// happened.
func (c *Cache) Collect() {
	if c.posted.Load() == closed {
		return
	}
	c.takeHome()
	a := c.arena
	if starving := a.starving.Load(); starving != c.starve {
		c.starve = starving
		a.mu.Lock()
		c.flush()
		a.unlock()
	}
}

// flush gives all idle blocks back; the arena's lock is held.
func (c *Cache) flush() {
	for k := range c.lists {
		l := &c.lists[k]
		for _, unit := range l.blocks[:l.n.Load()] {
			c.arena.give(unit)
		}
		l.n.Store(0)
	}
}

// Warm makes the cache ready to hand out count blocks of size bytes without
// asking the arena: it takes them, touches all their pages, and keeps that
// many of them idle from now on. When memory is short they go the way of other
// idle blocks.
func (c *Cache) Warm(size, count int) error {
	const page = 4096
	k := classOf(size)
	if k >= Classes {
		return ErrTooLong
	}
	blocks := make([][]byte, 0, max(count, 0))
	var err error
	for len(blocks) < count {
		var b []byte
		if b, err = c.Get(size); err != nil {
			err = fmt.Errorf("slab: %d of %d blocks of %d bytes: %w", len(blocks), count, size, err)
			break
		}
		for i := 0; i < len(b); i += page {
			b[i] = 0
		}
		blocks = append(blocks, b)
	}
	if err == nil && len(c.lists[k].blocks) < count {
		idle := make([]uint32, count)
		copy(idle, c.lists[k].blocks)
		c.lists[k].blocks = idle
	}
	for _, b := range blocks {
		c.Put(b)
	}
	return err
}

// Close gives all idle blocks back. Blocks that users still hold may be freed
// by this or any other cache, and then go to the arena.
func (c *Cache) Close() {
	a := c.arena
	a.mu.Lock()
	defer a.unlock()
	head := c.posted.Swap(closed)
	if head == closed {
		return
	}
	a.giveStack(c, head)
	c.flush()
	for k := range c.lists {
		c.lists[k].blocks = nil
	}
	table := append([]*Cache(nil), *a.caches.Load()...)
	table[c.number] = nil
	a.caches.Store(&table)
	a.past.add(&c.counters)
}
