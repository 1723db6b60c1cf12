package store

import (
	"cmp"
	"slices"
	"sync/atomic"

	"redoubt/store/arena"
)

// changeTraveller changes what the lists of the locations say of the user in
// slot, who has the given list of visits. It takes time in proportion to the
// visits and to the blocks they stand in.
func (s *Store) changeTraveller(w *write, slot uint32, list arena.Ref, was, is traveller) error {
	s.entries = s.entries[:0]
	for block := range blocks[userEntry](s.heap, list) {
		s.entries = append(s.entries, block...)
	}
	slices.SortFunc(s.entries, func(a, b userEntry) int { // by location slot, date, mark
		return cmp.Or(cmp.Compare(a.place>>3, b.place>>3), cmp.Compare(a.date, b.date), cmp.Compare(a.place, b.place))
	})
	for rest := s.entries; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].place>>3 == rest[0].place>>3 {
			n++
		}
		c := travellerChange{user: slot, was: was, is: is, entries: rest[:n]}
		if err := c.apply(w, s.placeLists, &s.locations.At(rest[0].place>>3).list); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// travellerChange is what changes in one location's list: the traveller of some
// entries of a user, which are ordered by date and mark.
type travellerChange struct {
	user    uint32
	was, is traveller
	entries []userEntry
}

// apply makes the change. A single entry changes in place: it keeps its rank.
// Several must change together, so their blocks are made anew, each once.
func (c *travellerChange) apply(w *write, l *lists[placeEntry], word *atomic.Uint64) error {
	list := arena.Ref(word.Load())
	l.open(list)
	if len(c.entries) == 1 {
		from, to := c.change(0)
		i, j := l.find(from)
		w.set(&arena.Slice[atomic.Uint64](l.heap, l.chunks[i].block)[j], uint64(to))
		return nil
	}
	l.own = append(l.own[:0], make([]bool, len(l.chunks))...)
	var i, j int
	var last placeEntry
	for n := range c.entries {
		from, to := c.change(n)
		if n == 0 || from != last {
			i, j = l.find(from)
		} else { // the same once more: go on behind the one that has changed
			i, j = l.findFrom(from, i, j+1)
		}
		last = from
		if !l.own[i] {
			old := l.chunks[i].block
			block, err := newBlock(l.heap, w, arena.Slice[placeEntry](l.heap, old))
			if err != nil {
				return err
			}
			w.retire(old)
			l.chunks[i].block, l.own[i] = block, true
		}
		arena.Slice[placeEntry](l.heap, l.chunks[i].block)[j] = to
	}
	if list.Tagged() {
		w.retire(list)
	}
	changed, err := l.directory(w)
	w.set(word, uint64(changed))
	return err
}

// change returns the n-th entry as it is and as it will be.
func (c *travellerChange) change(n int) (from, to placeEntry) {
	e := c.entries[n]
	return newPlaceEntry(e.date, c.user, uint8(e.mark()), c.was), newPlaceEntry(e.date, c.user, uint8(e.mark()), c.is)
}
