package store

import (
	"slices"
	"sync/atomic"

	"redoubt/store/arena"
)

// write is one change of the store on its way. It gathers new blocks, replaced
// blocks and the stores that will publish the ones and hide the others. Until
// commit nobody sees any of it, and abort gives the blocks back; what else it
// may have left, a text in a dictionary or a roomier hash table, means nothing
// to anyone.
type write struct {
	store    *Store
	made     []arena.Ref
	replaced []arena.Ref
	stores   []publication
}

type publication struct {
	word  *atomic.Uint64
	value uint64
}

// Alloc makes a block that is given back if the write fails.
func (w *write) Alloc(n int) (arena.Ref, error) {
	ref, err := w.store.heap.Alloc(n)
	if err == nil {
		w.made = append(w.made, ref)
	}
	return ref, err
}

// drop says that the block is no part of what will be published.
func (w *write) drop(ref arena.Ref) {
	if ref == 0 {
		return
	}
	ref = ref.Untagged()
	if i := slices.Index(w.made, ref); i >= 0 { // made by this write, seen by nobody
		w.made = slices.Delete(w.made, i, i+1)
		w.store.heap.Free(ref)
		return
	}
	w.retire(ref)
}

// retire is drop for a block that this write has not made.
func (w *write) retire(ref arena.Ref) { w.replaced = append(w.replaced, ref.Untagged()) }

// set stores value in word at commit, after all that was set before.
func (w *write) set(word *atomic.Uint64, value uint64) {
	w.stores = append(w.stores, publication{word, value})
}

// setBlock stores ref in word at commit and drops the block there now.
func (w *write) setBlock(word *atomic.Uint64, ref arena.Ref) {
	w.drop(arena.Ref(word.Load()))
	w.set(word, uint64(ref))
}

func (w *write) commit() {
	for _, p := range w.stores {
		p.word.Store(p.value)
	}
	e := &w.store.epochs
	for _, ref := range w.replaced {
		e.retire(ref)
	}
	if len(w.replaced) > 0 {
		e.now.Add(1)
	}
	w.reset()
}

func (w *write) abort() {
	for _, ref := range w.made {
		w.store.heap.Free(ref)
	}
	w.reset()
}

func (w *write) reset() {
	w.made, w.replaced, w.stores = w.made[:0], w.replaced[:0], w.stores[:0]
}

// reclaimAt is how many replaced blocks gather before their readers are looked
// at; looking is cheap, but not free.
const reclaimAt = 64

// begin enters the write section, and end leaves it, with the write undone
// unless it was committed.
func (s *Store) begin() (*write, error) {
	s.mu.Lock()
	e := &s.epochs
	if len(e.waiting)-e.next >= reclaimAt || e.bytes > e.limit {
		e.reclaim(s.heap)
	}
	if e.bytes > e.limit {
		s.mu.Unlock()
		return nil, ErrBusy
	}
	s.encoded = s.encoded[:0]
	return &s.w, nil
}

func (s *Store) end() {
	s.w.abort()
	if cap(s.encoded) > keepScratch || cap(s.rendered) > keepScratch || cap(s.entries)*arena.SizeOf[userEntry]() > keepScratch {
		s.encoded, s.rendered, s.entries = nil, nil, nil
	}
	s.mu.Unlock()
}

// The write's texts and bodies are made in scratch buffers of the store.

// text returns the kept form of raw, valid until the write ends.
func (s *Store) text(raw []byte) []byte {
	var kept []byte
	kept, s.encoded = text(raw, s.encoded)
	return kept
}
