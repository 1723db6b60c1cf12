package store

import (
	"slices"
	"sync"
	"sync/atomic"

	"redoubt/store/arena"
)

// A replaced block may still be read. It waits until every reader that was
// inside its read section at that time has left.
//
// Epochs count write sections. A reader that enters notes the epoch; a block
// replaced in epoch e is free once every reader inside noted a later one: it
// entered after the block was out of reach. (Entering is a store with a full
// barrier, so a reader whose note the writer did not see finds only what was
// published before the writer looked.)
type epochs struct {
	now     atomic.Uint64 // from 1
	mu      sync.Mutex    // guards readers: who comes or goes does not wait for a writer
	readers []*Reader

	// The writer's:
	waiting []waiting // oldest first, those before next are gone
	next    int
	bytes   int64 // in waiting, with what it takes to wait
	limit   int64
}

type waiting struct {
	ref   arena.Ref
	epoch uint64
}

// DefaultWaiting is how many bytes of replaced blocks may wait for readers
// before writes are refused, where the configuration does not say.
const DefaultWaiting = 64 << 20

func (e *epochs) init(limit int64) {
	e.now.Store(1)
	e.limit = limit
	if limit <= 0 {
		e.limit = DefaultWaiting
	}
}

func (e *epochs) retire(ref arena.Ref) {
	e.waiting = append(e.waiting, waiting{ref, e.now.Load()})
	e.bytes += waitingBytes(ref)
}

func waitingBytes(ref arena.Ref) int64 {
	return int64(ref.Len()+7)&^7 + int64(arena.SizeOf[waiting]())
}

// reclaimMost is how many blocks a write frees at most, unless too many wait:
// after a reader has stood still, no single write should pay for all.
const reclaimMost = 4096

// oldest is the oldest epoch that a reader inside has noted, or the present.
func (e *epochs) oldest() uint64 {
	oldest := e.now.Load()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.readers {
		if noted := r.epoch.Load(); noted != 0 {
			oldest = min(oldest, noted)
		}
	}
	return oldest
}

// reclaim frees what no reader can see any more.
func (e *epochs) reclaim(heap *arena.Heap) {
	oldest := e.oldest()
	for n := 0; e.next < len(e.waiting) && e.waiting[e.next].epoch < oldest && (n < reclaimMost || e.bytes > e.limit); n++ {
		ref := e.waiting[e.next].ref
		e.bytes -= waitingBytes(ref)
		heap.Free(ref)
		e.next++
	}
	switch {
	case e.next == len(e.waiting) && cap(e.waiting)*arena.SizeOf[waiting]() > keepScratch:
		e.waiting, e.next = nil, 0
	case e.next > len(e.waiting)/2:
		e.waiting, e.next = slices.Delete(e.waiting, 0, e.next), 0
	}
}

// A Reader reads a store from one goroutine at a time. Between Enter and Exit
// it holds replaced memory back: sections should be short, and a thread that
// sleeps must be outside.
type Reader struct {
	_       [64]byte      // epochs of two readers share no cache line
	epoch   atomic.Uint64 // noted at Enter, 0 outside
	_       [56]byte
	store   *Store
	body    []byte   // what was formatted last
	words   []uint64 // location words of a user's visits
	country []byte   // a filter's country as it is kept
}

// NewReader returns a reader of the store. Close it when it is not needed any
// more.
func (s *Store) NewReader() *Reader {
	e := &s.epochs
	e.mu.Lock()
	defer e.mu.Unlock()
	r := &Reader{store: s}
	e.readers = append(e.readers, r)
	return r
}

// Close ends the reader, which must be outside its section.
func (r *Reader) Close() {
	e := &r.store.epochs
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := slices.Index(e.readers, r); i >= 0 {
		e.readers = slices.Delete(e.readers, i, i+1)
	}
}

// Enter begins a read section.
func (r *Reader) Enter() { r.epoch.Store(r.store.epochs.now.Load()) }

// keepScratch is how many bytes of capacity a scratch buffer keeps: long
// requests are rare, and what they needed should not stay with everyone who
// ever served one.
const keepScratch = 256 << 10

// Exit ends the read section. What the reader returned is gone.
func (r *Reader) Exit() {
	r.epoch.Store(0)
	if cap(r.body) > keepScratch || cap(r.words)*8 > keepScratch || cap(r.country) > keepScratch {
		r.body, r.words, r.country = nil, nil, nil
	}
}
