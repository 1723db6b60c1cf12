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

// indexing makes the lists in four passes, each in parallel: count the visits
// of each user and location, make blocks of that size, put every visit in its
// blocks, sort them.
type indexing struct {
	store  *Store
	users  arena.Column[opening] // by slot
	places arena.Column[opening]
}

// opening is a list that is being filled. All of it in one place: visits come
// in no order of users or locations, so each look is a cache miss.
type opening struct {
	list arena.Ref
	left atomic.Uint32 // visits counted, then those still to be put
	who  traveller     // a user's
}

func newIndexing(s *Store) (ix *indexing, err error) {
	ix = &indexing{store: s}
	var err1, err2 error
	ix.users, err1 = arena.NewColumn[opening](s.users.Len(), 0)
	ix.places, err2 = arena.NewColumn[opening](s.locations.Len(), 0)
	return ix, errors.Join(err1, err2)
}

func (ix *indexing) release() error {
	return errors.Join(ix.users.Release(), ix.places.Release())
}

func (ix *indexing) run(slots [3][]span) error {
	s := ix.store
	err := inParallel(slots[visitKind], s.heap, func(slot uint32, _ *indexer) error {
		if v, exists := s.visit(slot); exists {
			ix.users.At(v.user).left.Add(1)
			ix.places.At(v.location).left.Add(1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = inParallel(slots[userKind], s.heap, func(slot uint32, w *indexer) error {
		row, o := s.users.At(slot), ix.users.At(slot)
		if block := arena.Ref(row.block.Load()); block != 0 {
			u := s.userBlock(block)
			o.who = s.clock.traveller(u.birth, u.gender)
		}
		return reserveList[userEntry](w, &row.list, o)
	})
	if err != nil {
		return err
	}
	err = inParallel(slots[locationKind], s.heap, func(slot uint32, w *indexer) error {
		return reserveList[placeEntry](w, &s.locations.At(slot).list, ix.places.At(slot))
	})
	if err != nil {
		return err
	}
	err = inParallel(slots[visitKind], s.heap, func(slot uint32, _ *indexer) error {
		if v, exists := s.visit(slot); exists {
			user, place := ix.users.At(v.user), ix.places.At(v.location)
			arena.Slice[userEntry](s.heap, user.list)[user.left.Add(^uint32(0))] = v.userEntry(slot)
			arena.Slice[placeEntry](s.heap, place.list)[place.left.Add(^uint32(0))] = newPlaceEntry(v.date, v.user, v.mark, user.who)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = inParallel(slots[userKind], s.heap, func(slot uint32, w *indexer) error {
		return sortList(w, s.userLists, &s.users.At(slot).list)
	})
	if err != nil {
		return err
	}
	return inParallel(slots[locationKind], s.heap, func(slot uint32, w *indexer) error {
		return sortList(w, s.placeLists, &s.locations.At(slot).list)
	})
}

// reserveList makes the block of a list that visits are about to fill.
func reserveList[E any](w *indexer, list *atomic.Uint64, o *opening) (err error) {
	n := int(o.left.Load())
	if n == 0 {
		return nil
	}
	if most := arena.MaxBlock / arena.SizeOf[E](); n > most {
		return fmt.Errorf("%d visits of one user or location; a list may start with %d", n, most)
	}
	o.list, err = w.span.Alloc(n * arena.SizeOf[E]())
	list.Store(uint64(o.list))
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

// slotsAtOnce is how many slots a goroutine takes at a time.
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

// indexer is one goroutine of a pass.
type indexer struct {
	span     *arena.Span
	chunks   []chunk
	replaced []arena.Ref
}

// inParallel calls do for each slot of the pieces, on all processors, until
// one call fails.
func inParallel(pieces []span, heap *arena.Heap, do func(slot uint32, w *indexer) error) error {
	var next atomic.Int64
	work := func(w *indexer) error {
		defer w.span.Close()
		for {
			i := int(next.Add(1)) - 1
			if i >= len(pieces) {
				return nil
			}
			for slot := pieces[i].start; slot < pieces[i].end; slot++ {
				if err := do(slot, w); err != nil {
					next.Add(int64(len(pieces)))
					return err
				}
			}
		}
	}
	workers := make([]indexer, min(runtime.GOMAXPROCS(0), len(pieces)))
	failed := make([]error, len(workers))
	var wg sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		w.span = heap.Span()
		wg.Go(func() { failed[i] = work(w) })
	}
	wg.Wait()
	for i := range workers { // nobody may free while spans are in use
		for _, ref := range workers[i].replaced {
			heap.Free(ref)
		}
	}
	return errors.Join(failed...)
}
