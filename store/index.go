package store

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"redoubt/store/arena"
)

// indexing makes the lists in passes, each in parallel: count the visits of
// each user and location, make blocks of that size, put every visit in its
// blocks, sort them.
//
// Each worker counts and puts the same visits, with counters of its own: it
// puts them behind those of the workers before it. Shared counters would have
// to be atomic, and an atomic add waits for all loads before it: visits come in
// no order of users or locations, so nearly all of the time goes into waiting
// for memory, unless many such waits overlap.
type indexing struct {
	store   *Store
	who     arena.Column[traveller] // by user slot
	workers []indexer
}

// indexer is one worker.
type indexer struct {
	span     *arena.Span
	users    arena.Column[uint32] // by slot: visits counted, then where the next one goes
	places   arena.Column[uint32]
	chunks   []chunk
	replaced []arena.Ref
}

// mostIndexers bounds what counters take: 4 bytes a user and location each.
const mostIndexers = 8

func indexers() int { return min(runtime.GOMAXPROCS(0), mostIndexers) }

func newIndexing(s *Store) (ix *indexing, err error) {
	ix = &indexing{store: s, workers: make([]indexer, indexers())}
	users, places := int(s.size[userKind].Load()), int(s.size[locationKind].Load())
	ix.who, err = arena.NewColumn[traveller](s.users.Len(), users)
	for i := range ix.workers {
		w := &ix.workers[i]
		w.span = s.heap.Span()
		var err1, err2 error
		w.users, err1 = arena.NewColumn[uint32](s.users.Len(), users)
		w.places, err2 = arena.NewColumn[uint32](s.locations.Len(), places)
		err = errors.Join(err, err1, err2)
	}
	return ix, err
}

func (ix *indexing) release() error {
	err := ix.who.Release()
	for i := range ix.workers {
		w := &ix.workers[i]
		w.span.Close()
		err = errors.Join(err, w.users.Release(), w.places.Release())
	}
	for i := range ix.workers { // nobody may free while spans are in use
		for _, ref := range ix.workers[i].replaced {
			ix.store.heap.Free(ref)
		}
	}
	return err
}

func (ix *indexing) run(slots [3][]span) error {
	s := ix.store
	passes := []struct {
		kind int
		do   func(slot uint32, w *indexer) error
	}{
		{visitKind, func(slot uint32, w *indexer) error {
			if v, exists := s.visit(slot); exists {
				*w.users.At(v.user)++
				*w.places.At(v.location)++
			}
			return nil
		}},
		{userKind, func(slot uint32, w *indexer) error {
			row := s.users.At(slot)
			if block := arena.Ref(row.block.Load()); block != 0 {
				u := s.userBlock(block)
				*ix.who.At(slot) = s.clock.traveller(u.birth, u.gender)
			}
			n := ix.total(slot, func(w *indexer) *arena.Column[uint32] { return &w.users })
			return reserveList[userEntry](w, &row.list, n)
		}},
		{locationKind, func(slot uint32, w *indexer) error {
			n := ix.total(slot, func(w *indexer) *arena.Column[uint32] { return &w.places })
			return reserveList[placeEntry](w, &s.locations.At(slot).list, n)
		}},
		{visitKind, func(slot uint32, w *indexer) error {
			if v, exists := s.visit(slot); exists {
				next := w.users.At(v.user)
				arena.Slice[userEntry](s.heap, arena.Ref(s.userList(v).Load()))[*next] = v.userEntry(slot)
				*next++
				next = w.places.At(v.location)
				arena.Slice[placeEntry](s.heap, arena.Ref(s.placeList(v).Load()))[*next] = newPlaceEntry(v.date, v.user, v.mark, *ix.who.At(v.user))
				*next++
			}
			return nil
		}},
		{userKind, func(slot uint32, w *indexer) error {
			return sortList(w, s.userLists, &s.users.At(slot).list)
		}},
		{locationKind, func(slot uint32, w *indexer) error {
			return sortList(w, s.placeLists, &s.locations.At(slot).list)
		}},
	}
	for _, p := range passes {
		if err := ix.inParallel(slots[p.kind], p.do); err != nil {
			return err
		}
	}
	return nil
}

// total adds up what the workers have counted in a slot, and leaves with each
// where it begins.
func (ix *indexing) total(slot uint32, counters func(w *indexer) *arena.Column[uint32]) (sum uint32) {
	for i := range ix.workers {
		count := counters(&ix.workers[i]).At(slot)
		*count, sum = sum, sum+*count
	}
	return sum
}

// reserveList makes the block of a list that visits are about to fill.
func reserveList[E any](w *indexer, list *atomic.Uint64, n uint32) error {
	if n == 0 {
		return nil
	}
	if most := arena.MaxBlock / arena.SizeOf[E](); int(n) > most {
		return fmt.Errorf("%d visits of one user or location; a list may start with %d", n, most)
	}
	ref, err := w.span.Alloc(int(n) * arena.SizeOf[E]())
	list.Store(uint64(ref))
	return err
}

// sortList orders a list of one block, and cuts it in chunks if it is long.
func sortList[E comparable](w *indexer, l *lists[E], list *atomic.Uint64) error {
	ref := arena.Ref(list.Load())
	if ref == 0 {
		return nil
	}
	block := arena.Slice[E](l.heap, ref)
	slices.SortFunc(block, l.compare)
	if len(block) <= longestBlock {
		return nil
	}
	var err error
	if w.chunks, err = l.cut(w.chunks[:0], w.span, block); err != nil {
		return err
	}
	directory, err := newBlock(l.heap, w.span, w.chunks)
	list.Store(uint64(directory.WithTag()))
	w.replaced = append(w.replaced, ref)
	return err
}

// span is a range of slots, the end not in it.
type span struct{ start, end uint32 }

// slotsAtOnce is how many slots a worker takes at a time.
const slotsAtOnce = 1 << 15

// spans cuts [0, dense) and [far, end) in pieces.
func spans(dense, far, end uint32) (pieces []span) {
	for _, whole := range []span{{0, dense}, {far, end}} {
		for whole.start < whole.end {
			piece := span{whole.start, min(whole.end, whole.start+slotsAtOnce)}
			pieces = append(pieces, piece)
			whole.start = piece.end
		}
	}
	return pieces
}

// inParallel calls do for each slot of the pieces until one call fails. A piece
// goes to the same worker each time.
func (ix *indexing) inParallel(pieces []span, do func(slot uint32, w *indexer) error) error {
	var stop atomic.Bool
	failed := make([]error, len(ix.workers))
	var wg sync.WaitGroup
	for i := range ix.workers {
		w := &ix.workers[i]
		wg.Go(func() {
			for n := i; n < len(pieces) && !stop.Load(); n += len(ix.workers) {
				for slot := pieces[n].start; slot < pieces[n].end; slot++ {
					if failed[i] = do(slot, w); failed[i] != nil {
						stop.Store(true)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}
