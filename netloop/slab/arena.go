package slab

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

const (
	// MinBlock is the size of the smallest block.
	MinBlock = 1 << unitShift
	// MaxBlock is the size of the largest block.
	MaxBlock = MinBlock << (Classes - 1)
	// Classes is how many sizes of blocks there are: each twice the one before.
	Classes = 13

	unitShift = 10
)

var (
	// ErrFull is returned when a block would exceed the arena's quota, or when
	// what is free lies in pieces that are too small.
	ErrFull = errors.New("slab: the quota is used up")
	// ErrTooLong is returned when more than MaxBlock is asked for.
	ErrTooLong = errors.New("slab: longer than the largest block")
	// ErrClosed is returned by a cache that has been closed.
	ErrClosed = errors.New("slab: the cache is closed")
)

// keepTouched is how many whole free blocks keep the memory they have used
// (16 MB), so that a few large bodies in turn do not fault it in each time.
const keepTouched = 4

// maxCaches is how many caches can be open at a time: their numbers share a
// word with other things.
const maxCaches = 1<<(32-ownerShift) - 1

// maxUnits bounds the quota (2 TB), so that a unit fits in 32 bits with room
// for what is no unit.
const maxUnits = 1 << 31

// An Arena is memory shared by the caches of all loops, limited by a quota.
type Arena struct {
	memory []byte
	units  []entry
	debug  tracker // no size without the tag slabdebug

	starving atomic.Uint32            // counts refusals: caches that see it change give up what is idle
	caches   atomic.Pointer[[]*Cache] // by number, from 1; nil where closed. Replaced as a whole, under mu

	mu      sync.Mutex
	buddy   *buddy
	out     [Classes]int64 // blocks that caches have, idle or not
	emptied int64          // bytes given back to the system so far
	past    counters       // of closed caches
}

// New returns an arena that hands out at most quota bytes, rounded down to
// MinBlock. It reserves address space, not memory: that is taken as blocks are
// used.
func New(quota int) (*Arena, error) {
	units := quota >> unitShift
	if units < 1 || uint64(units) > maxUnits {
		return nil, fmt.Errorf("slab: a quota of %d bytes; it must be from %d bytes to %d GB", quota, MinBlock, maxUnits>>(30-unitShift))
	}
	memory, err := reserve(units << unitShift)
	if err != nil {
		return nil, err
	}
	// The entries have a reservation of their own (8 bytes a kilobyte), since
	// most of a large quota is never used.
	table, err := reserve(units * int(unsafe.Sizeof(entry{})))
	if err != nil {
		return nil, errors.Join(err, release(memory))
	}
	a := &Arena{memory: memory, units: unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(table))), units)}
	a.buddy = newBuddy(a.units)
	a.caches.Store(&[]*Cache{nil})
	a.debug.init(units)
	return a, nil
}

// Close gives the memory back. All caches must be out of use: a block touched
// afterwards is a fault. With the build tag slabdebug it is an error that
// blocks still live; the memory is given back all the same.
func (a *Arena) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.memory == nil {
		return nil
	}
	var leaked error
	if leaks := a.Leaks(); len(leaks) > 0 {
		leaked = fmt.Errorf("slab: %d blocks still live:\n%s", len(leaks), strings.Join(leaks, "\n"))
	}
	size := len(a.units) * int(unsafe.Sizeof(entry{}))
	table := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a.units))), size)
	err := errors.Join(leaked, release(a.memory), release(table))
	a.memory, a.units, a.buddy = nil, nil, nil
	return err
}

// Leaks lists the blocks that live, each with its size, address and the stack
// that took it. Without the build tag slabdebug nobody noted that, and the
// list is empty.
func (a *Arena) Leaks() []string { return a.debug.leaks() }

// block is the memory of a block.
func (a *Arena) block(unit uint32, k int) []byte {
	from := int(unit) << unitShift
	to := from + MinBlock<<k
	return a.memory[from:to:to]
}

// take gets a block for a cache; a.mu is held.
func (a *Arena) take(k int, owner uint32) (unit uint32, ok bool) {
	if a.buddy == nil {
		return 0, false
	}
	if unit, ok = a.buddy.take(k); ok {
		a.units[unit].tag = uint32(k) | owner<<ownerShift
		a.out[k]++
	}
	return unit, ok
}

// give takes a block back from whoever had it; a.mu is held.
func (a *Arena) give(unit uint32) {
	k := int(a.units[unit].tag & tagClass)
	a.out[k]--
	a.buddy.give(unit, k)
}

// giveOne takes a single block back; a.mu is not held.
func (a *Arena) giveOne(unit uint32) {
	a.mu.Lock()
	a.give(unit)
	a.unlock()
}

// unlock ends a section that may have given blocks back.
func (a *Arena) unlock() {
	surplus := a.surplus()
	a.mu.Unlock()
	if surplus {
		a.trim()
	}
}

// surplus tells whether too many whole free blocks hold memory; a.mu is held.
func (a *Arena) surplus() bool { return a.buddy != nil && a.buddy.free[top].n > keepTouched }

// trim gives idle memory back to the system; a.mu is not held. The call takes
// a while and so happens outside of the lock, the block being in nobody's
// hands meanwhile. A Get can only miss it where all that trim keeps is gone at
// the same moment.
func (a *Arena) trim() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.surplus() {
		unit := a.buddy.takeUsed()
		a.emptied += MaxBlock
		memory := a.block(unit, top)
		a.mu.Unlock()
		discard(memory)
		a.debug.emptied(unit)
		a.mu.Lock()
		a.buddy.giveEmpty(unit)
	}
}
