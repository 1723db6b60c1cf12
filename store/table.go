package store

import (
	"sync/atomic"

	"redoubt/store/arena"
)

// table is a hash table from 32-bit keys to slots, by open addressing with
// linear probing. Two slots may share a key; the caller says which one it
// means. It is split in segments, so that growth copies a 256th of it.
//
// One writer; readers see every entry that was added before they came, while
// nobody removes (ids are never removed, emails have no readers).
type table struct {
	heap     *arena.Heap
	expect   int                     // entries
	segments [segments]atomic.Uint64 // blocks of entries
	used     [segments]uint32
}

// An entry is key<<32 | slot+1; zero is free.
const segments = 256

func (t *table) segment(key uint32) (int, []uint64) {
	s := int(key % segments)
	ref := arena.Ref(t.segments[s].Load())
	if ref == 0 {
		return s, nil
	}
	return s, arena.Slice[uint64](t.heap, ref)
}

// home is where key's search starts among n places.
func home(key uint32, n int) int {
	return int(uint64(key/segments) * uint64(n) >> 24)
}

// find returns the first slot under key for which same says yes.
func (t *table) find(key uint32, same func(slot uint32) bool) (slot uint32, found bool) {
	_, entries := t.segment(key)
	if len(entries) == 0 {
		return 0, false
	}
	for i := home(key, len(entries)); ; {
		e := atomic.LoadUint64(&entries[i])
		if e == 0 {
			return 0, false
		}
		if uint32(e>>32) == key && same(uint32(e)-1) {
			return uint32(e) - 1, true
		}
		if i++; i == len(entries) {
			i = 0
		}
	}
}

// room makes sure that one more entry under key fits. The segment's old block,
// if it had to be replaced, is returned: readers may still look at it.
func (t *table) room(key uint32, alloc func(n int) (arena.Ref, error)) (old arena.Ref, err error) {
	s, entries := t.segment(key)
	if uint64(t.used[s]+1)*5 <= uint64(len(entries))*4 { // at most four fifths full
		return 0, nil
	}
	size := len(entries) + len(entries)/4 + 8
	if len(entries) == 0 {
		size += t.expect / segments * 4 / 3 // three quarters full, as segments differ a little
	}
	ref, err := alloc(8 * size)
	if err != nil {
		return 0, err
	}
	grown := arena.Slice[uint64](t.heap, ref)
	clear(grown)
	for _, e := range entries {
		if e != 0 {
			place(grown, e)
		}
	}
	old = arena.Ref(t.segments[s].Load())
	t.segments[s].Store(uint64(ref))
	return old, nil
}

// add enters slot under key. There must be room.
func (t *table) add(key, slot uint32) {
	s, entries := t.segment(key)
	place(entries, uint64(key)<<32|uint64(slot+1))
	t.used[s]++
}

func place(entries []uint64, e uint64) {
	i := home(uint32(e>>32), len(entries))
	for entries[i] != 0 {
		if i++; i == len(entries) {
			i = 0
		}
	}
	atomic.StoreUint64(&entries[i], e)
}

// remove takes the entry of slot under key out and closes the gap.
func (t *table) remove(key, slot uint32) {
	s, entries := t.segment(key)
	n := len(entries)
	i := home(key, n)
	for entries[i] != uint64(key)<<32|uint64(slot+1) {
		if entries[i] == 0 {
			panic("store: a hash table lost an entry it was given")
		}
		i = (i + 1) % n
	}
	t.used[s]--
	for j := i; ; {
		j = (j + 1) % n
		if entries[j] == 0 {
			break
		}
		// The entry at j may fill the gap at i unless its home lies in (i, j].
		if h := home(uint32(entries[j]>>32), n); (j-h+n)%n >= (j-i+n)%n {
			entries[i] = entries[j]
			i = j
		}
	}
	entries[i] = 0
}
