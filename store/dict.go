package store

import (
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"redoubt/store/arena"
)

// dict numbers the strings that repeat. Numbers start at 1. A string once in
// stays for good, so their number is limited, as is their length; one that
// finds no place has number 0, and its record keeps it in full.
//
// Any goroutine may look up; interning takes a lock only for a new string.
type dict struct {
	heap   *arena.Heap
	seed   maphash.Seed
	limit  uint32     // numbers are below it
	mask   uint32     // of the table, which has twice as many places or more
	mu     sync.Mutex // guards count and span
	count  uint32
	span   *arena.Span
	texts  arena.Column[atomic.Uint64] // number → block
	places arena.Column[atomic.Uint32] // open addressing: number, 0 is free
}

// longestShared is the length in bytes of the longest string a dict takes.
// Texts of the data are 7 to 30 bytes.
const longestShared = 128

func (d *dict) init(heap *arena.Heap, seed maphash.Seed, limit uint32) (err error) {
	d.heap, d.seed, d.limit, d.span = heap, seed, limit, heap.Span()
	size := uint32(2)
	for size < 2*limit {
		size *= 2
	}
	d.mask = size - 1
	if d.texts, err = arena.NewColumn[atomic.Uint64](int(limit), 0); err != nil {
		return err
	}
	d.places, err = arena.NewColumn[atomic.Uint32](int(size), 0)
	return err
}

func (d *dict) release() error {
	return errors.Join(d.texts.Release(), d.places.Release())
}

// at returns the string with number n > 0.
func (d *dict) at(n uint32) []byte {
	return d.heap.Bytes(arena.Ref(d.texts.At(n).Load()))
}

// find returns the number of a kept text, or 0.
func (d *dict) find(kept []byte) uint32 {
	n, _ := d.look(kept)
	return n
}

// look returns the number of kept, or 0 and the free place where it belongs.
func (d *dict) look(kept []byte) (number, place uint32) {
	place = uint32(maphash.Bytes(d.seed, kept)) & d.mask
	for {
		n := d.places.At(place).Load()
		if n == 0 || string(d.at(n)) == string(kept) {
			return n, place
		}
		place = (place + 1) & d.mask
	}
}

// intern returns the number of kept and adds it if it is new. 0 means that it
// cannot be shared.
func (d *dict) intern(kept []byte) uint32 {
	if len(kept) == 0 || len(kept) > longestShared {
		return 0
	}
	if n := d.find(kept); n != 0 {
		return n
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n, place := d.look(kept)
	if n != 0 || d.count+1 >= d.limit {
		return n
	}
	ref, err := d.span.Alloc(len(kept))
	if err != nil {
		return 0
	}
	copy(d.heap.Bytes(ref), kept)
	d.count++
	n = d.count
	d.texts.At(n).Store(uint64(ref))
	d.places.At(place).Store(n)
	return n
}
