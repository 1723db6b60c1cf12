package store

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"redoubt/store/arena"
)

// A list holds the visits of a user or of a location, ordered by date. It is
// one word: zero for an empty list, else a block of entries, or, with the tag
// set, a directory of such blocks. A writer never changes a block (but for the
// traveller in a location's entry, see placeEntry); it makes a new one.

// userEntry is a visit in its user's list, with what the answer needs, so that
// a location's change touches no list.
type userEntry struct {
	date  int32
	place uint32 // location slot<<3 | mark
	visit uint32 // visit slot
}

func (e userEntry) mark() uint32 { return e.place & 7 }

// placeEntry is a visit in its location's list: date 32 (biased, so that words
// sort as dates do), the lowest bits of the user's slot 11, mark 3, traveller
// 18. Entries are ordered by all but the traveller, which changes in place, so
// the word is read and written atomically. Visits that look the same need not
// be told apart. The bits of the user are there for the order alone: where
// thousands visit on one date, an entry is still found at once.
type placeEntry uint64

const (
	dateBias  = 1 << 31
	userBits  = 11
	userShift = travellerBits + 3
)

func newPlaceEntry(date int32, user uint32, mark uint8, t traveller) placeEntry {
	return placeEntry(uint64(uint32(date)+dateBias)<<32 |
		uint64(user%(1<<userBits))<<userShift | uint64(mark)<<travellerBits | uint64(t))
}

func (e placeEntry) date() int32          { return int32(uint32(e>>32) - dateBias) }
func (e placeEntry) traveller() traveller { return traveller(e) & (1<<travellerBits - 1) }
func (e placeEntry) mark() uint32         { return uint32(e>>travellerBits) & 7 }

// chunk is an entry of a directory. Readers skip chunks by date and take the
// sum of marks where they need no more.
type chunk struct {
	block arena.Ref
	first int32 // date of the first entry
	marks uint32
}

const (
	// longestBlock is how many entries a block holds at most. Copying it takes
	// less than a tenth of a microsecond.
	longestBlock = 512
	// joinBelow is the number of entries up to which neighbours become one.
	joinBelow = longestBlock / 2
)

// lists edits the lists of one kind.
type lists[E comparable] struct {
	heap    *arena.Heap
	compare func(a, b E) int
	date    func(E) int32
	mark    func(E) uint32
	merged  []E     // scratch
	chunks  []chunk // the list's, while it is edited
	fresh   []chunk // scratch
	own     []bool  // chunks that this write has made
}

func userLists(heap *arena.Heap, visits *ids) *lists[userEntry] {
	return &lists[userEntry]{
		heap:    heap,
		compare: func(a, b userEntry) int { return compareUserEntries(visits, a, b) },
		date:    func(e userEntry) int32 { return e.date },
		mark:    userEntry.mark,
	}
}

// compareUserEntries orders by date, then by the visit's id. Slots of the
// dense part are ids; those beyond are in order of arrival.
func compareUserEntries(visits *ids, a, b userEntry) int {
	if a.date != b.date {
		return cmp.Compare(a.date, b.date)
	}
	if a.visit < visits.dense || b.visit < visits.dense {
		return cmp.Compare(a.visit, b.visit)
	}
	return cmp.Compare(visits.id(a.visit), visits.id(b.visit))
}

func placeLists(heap *arena.Heap) *lists[placeEntry] {
	return &lists[placeEntry]{
		heap:    heap,
		compare: func(a, b placeEntry) int { return cmp.Compare(a>>travellerBits, b>>travellerBits) },
		date:    placeEntry.date,
		mark:    placeEntry.mark,
	}
}

// edit returns the list without the entry remove and with the entry add, of
// which either may be nil. The blocks it replaces are the write's to retire.
func (l *lists[E]) edit(w *write, list arena.Ref, remove, add *E) (arena.Ref, error) {
	if list.Tagged() {
		return l.editChunks(w, list, remove, add)
	}
	var old []E
	if list != 0 {
		old = arena.Slice[E](l.heap, list)
	}
	l.merge(old, remove, add)
	w.drop(list)
	if len(l.merged) <= longestBlock {
		return newBlock(l.heap, w, l.merged)
	}
	l.chunks = l.chunks[:0]
	if err := l.split(w, 0, l.merged); err != nil {
		return 0, err
	}
	return l.directory(w)
}

func (l *lists[E]) editChunks(w *write, list arena.Ref, remove, add *E) (arena.Ref, error) {
	l.open(list)
	w.drop(list)
	if remove != nil {
		i, _ := l.find(*remove)
		if err := l.rewrite(w, i, remove, nil); err != nil {
			return 0, err
		}
	}
	if add != nil {
		i := l.before(*add)
		if err := l.rewrite(w, i, nil, add); err != nil {
			return 0, err
		}
	}
	return l.directory(w)
}

// merge leaves in l.merged the entries of old without remove and with add.
func (l *lists[E]) merge(old []E, remove, add *E) {
	l.merged = append(l.merged[:0], old...)
	if remove != nil {
		i := l.index(l.merged, *remove)
		if i < 0 {
			panic(fmt.Sprintf("store: a list of %d entries lost the entry %v", len(old), *remove))
		}
		l.merged = slices.Delete(l.merged, i, i+1)
	}
	if add != nil {
		i, _ := slices.BinarySearchFunc(l.merged, *add, l.compare)
		l.merged = slices.Insert(l.merged, i, *add)
	}
}

// index returns where e stands in a block, or -1.
func (l *lists[E]) index(block []E, e E) int {
	i, _ := slices.BinarySearchFunc(block, e, l.compare)
	for ; i < len(block) && l.compare(block[i], e) == 0; i++ {
		if block[i] == e {
			return i
		}
	}
	return -1
}

// before returns the chunk of l.chunks into which e belongs: the last one that
// starts before e, or the first.
func (l *lists[E]) before(e E) int {
	i, _ := slices.BinarySearchFunc(l.chunks, e, func(c chunk, e E) int {
		return l.compare(arena.Slice[E](l.heap, c.block)[0], e)
	})
	return max(0, i-1)
}

// open fills l.chunks with the chunks of a list that is not empty; a list of
// one block is one chunk, whose date and marks are not filled in.
func (l *lists[E]) open(list arena.Ref) {
	if !list.Tagged() {
		l.chunks = append(l.chunks[:0], chunk{block: list})
		return
	}
	l.chunks = append(l.chunks[:0], arena.Slice[chunk](l.heap, list)...)
}

// find returns the chunk of l.chunks, and the index in it, where e stands.
func (l *lists[E]) find(e E) (chunk, index int) {
	i := l.before(e)
	j, _ := slices.BinarySearchFunc(arena.Slice[E](l.heap, l.chunks[i].block), e, l.compare)
	return l.findFrom(e, i, j)
}

// findFrom is find from a known place on, before which e does not stand.
// Entries that compare equal may spread over several chunks.
func (l *lists[E]) findFrom(e E, i, j int) (chunk, index int) {
	for ; i < len(l.chunks); i, j = i+1, 0 {
		block := arena.Slice[E](l.heap, l.chunks[i].block)
		for ; j < len(block) && l.compare(block[j], e) == 0; j++ {
			if block[j] == e {
				return i, j
			}
		}
		if j < len(block) {
			break
		}
	}
	panic(fmt.Sprintf("store: a list of %d chunks lost the entry %v", len(l.chunks), e))
}

// rewrite makes chunk i of l.chunks anew.
func (l *lists[E]) rewrite(w *write, i int, remove, add *E) error {
	old := l.chunks[i].block
	l.merge(arena.Slice[E](l.heap, old), remove, add)
	w.drop(old)
	l.chunks = slices.Delete(l.chunks, i, i+1)
	if i < len(l.chunks) && len(l.merged)+l.length(i) <= joinBelow {
		next := l.chunks[i].block
		l.merged = append(l.merged, arena.Slice[E](l.heap, next)...)
		w.drop(next)
		l.chunks = slices.Delete(l.chunks, i, i+1)
	}
	if len(l.merged) == 0 {
		return nil
	}
	return l.split(w, i, l.merged)
}

func (l *lists[E]) length(i int) int {
	return len(arena.Slice[E](l.heap, l.chunks[i].block))
}

// split inserts chunks for the entries before chunk i.
func (l *lists[E]) split(w *write, i int, entries []E) (err error) {
	l.fresh, err = l.cut(l.fresh[:0], w, entries)
	l.chunks = slices.Insert(l.chunks, i, l.fresh...)
	return err
}

// cut appends chunks with copies of the entries, evenly filled.
func (l *lists[E]) cut(chunks []chunk, a allocator, entries []E) ([]chunk, error) {
	for n := (len(entries) + longestBlock - 1) / longestBlock; n > 0; n-- {
		part := entries[:len(entries)/n]
		entries = entries[len(part):]
		block, err := newBlock(l.heap, a, part)
		if err != nil {
			return chunks, err
		}
		c := chunk{block: block, first: l.date(part[0])}
		for _, e := range part {
			c.marks += l.mark(e)
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// directory makes the list of l.chunks.
func (l *lists[E]) directory(w *write) (arena.Ref, error) {
	switch len(l.chunks) {
	case 0:
		return 0, nil
	case 1:
		return l.chunks[0].block, nil
	}
	ref, err := newBlock(l.heap, w, l.chunks)
	return ref.WithTag(), err
}

// allocator is where new blocks come from: a write, or the span of someone who
// builds the store.
type allocator interface {
	Alloc(n int) (arena.Ref, error)
}

// newBlock is a block with a copy of the elements, or the zero Ref where
// there are none.
func newBlock[T any](heap *arena.Heap, a allocator, elements []T) (arena.Ref, error) {
	if len(elements) == 0 {
		return 0, nil
	}
	ref, err := a.Alloc(len(elements) * arena.SizeOf[T]())
	if err != nil {
		return 0, err
	}
	copy(arena.Slice[T](heap, ref), elements)
	return ref, nil
}

// blocks yields the blocks of a list in order.
func blocks[E any](heap *arena.Heap, list arena.Ref) iter.Seq[[]E] {
	return func(yield func([]E) bool) {
		if list == 0 {
			return
		}
		if !list.Tagged() {
			yield(arena.Slice[E](heap, list))
			return
		}
		for _, c := range arena.Slice[chunk](heap, list) {
			if !yield(arena.Slice[E](heap, c.block)) {
				return
			}
		}
	}
}
