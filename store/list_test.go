package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"redoubt/store/arena"
)

func newTestStore(t testing.TB, c Config) *Store {
	t.Helper()
	if c.Now == 0 {
		c.Now = 1_500_000_000
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// checkList holds a list against the entries that it ought to have.
func checkList[E comparable](t *testing.T, l *lists[E], list arena.Ref, want []E) {
	t.Helper()
	var got []E
	for block := range blocks[E](l.heap, list) {
		if len(block) == 0 || len(block) > longestBlock {
			t.Fatalf("a block of %d entries", len(block))
		}
		got = append(got, block...)
	}
	if !slices.IsSortedFunc(got, l.compare) {
		t.Fatal("the list is out of order")
	}
	if list.Tagged() {
		chunks := arena.Slice[chunk](l.heap, list)
		if len(chunks) < 2 {
			t.Fatalf("a directory of %d chunks", len(chunks))
		}
		for i, c := range chunks {
			block := arena.Slice[E](l.heap, c.block)
			var marks uint32
			for _, e := range block {
				marks += l.mark(e)
			}
			if c.first != l.date(block[0]) || c.marks != marks {
				t.Fatalf("chunk %d is described as %+v, has first date %d, marks %d", i, c, l.date(block[0]), marks)
			}
		}
	}
	// Entries that compare equal may stand in any order among themselves.
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	counts := map[E]int{}
	for i := range want {
		counts[want[i]]++
		counts[got[i]]--
	}
	for e, n := range counts {
		if n != 0 {
			t.Fatalf("entry %v: %d too few", e, n)
		}
	}
}

// editRandomly grows a list to some thousand entries and shrinks it to none,
// comparing with a plain slice, and checks that all memory comes back.
func editRandomly[E comparable](t *testing.T, s *Store, l *lists[E], entry func(*rand.Rand) E) {
	random := rand.New(rand.NewPCG(7, 7))
	var want []E
	var list arena.Ref
	begin := s.Sizes()
	edit := func(remove, add *E) {
		t.Helper()
		w, err := s.begin()
		if err != nil {
			t.Fatal(err)
		}
		edited, err := l.edit(w, list, remove, add)
		if err != nil {
			t.Fatal(err)
		}
		if random.IntN(10) == 0 { // a write that fails later leaves no trace
			w.abort()
			edited, err = l.edit(w, list, remove, add)
			if err != nil {
				t.Fatal(err)
			}
		}
		list = edited
		w.commit()
		s.end()
	}
	check := func() {
		t.Helper()
		checkList(t, l, list, want)
	}
	for phase, grow := range []int{100, 70, 50, 20, 0} {
		for i := 0; i < 6000 && (grow > 0 || len(want) > 0); i++ {
			switch n := random.IntN(100); {
			case len(want) == 0 || n < grow:
				e := entry(random)
				edit(nil, &e)
				want = append(want, e)
			case n%2 == 0:
				k := random.IntN(len(want))
				e := want[k]
				want[k] = want[len(want)-1]
				want = want[:len(want)-1]
				edit(&e, nil)
			default:
				k := random.IntN(len(want))
				from, to := want[k], entry(random)
				want[k] = to
				edit(&from, &to)
			}
			if len(want) < 4 || i%199 == 0 {
				check()
			}
		}
		check()
		t.Logf("phase %d: %d entries", phase, len(want))
	}
	for i := len(want) - 1; i >= 0; i-- {
		e := want[i]
		want = want[:i]
		edit(&e, nil)
	}
	check()
	if list != 0 {
		t.Error("an empty list is not the zero word")
	}
	s.mu.Lock()
	s.epochs.reclaim(s.heap)
	s.mu.Unlock()
	if sizes := s.Sizes(); sizes.Waiting != 0 || sizes.Blocks-sizes.Free != begin.Blocks-begin.Free {
		t.Errorf("memory is lost: %+v, it was %+v", sizes, begin)
	}
}

func TestUserListEdits(t *testing.T) {
	s := newTestStore(t, Config{})
	// Ids beyond the dense ones arrive out of order.
	var far []uint32
	for _, id := range []uint32{1 << 31, 1 << 30, 1<<32 - 1, 1<<31 + 1} {
		if _, err := s.newSlot(&s.visitIDs, id); err != nil {
			t.Fatal(err)
		}
		s.visitIDs.commit(id)
		slot, _ := s.visitIDs.slot(id)
		far = append(far, slot)
	}
	next := uint32(0)
	editRandomly(t, s, s.userLists, func(r *rand.Rand) userEntry {
		e := userEntry{date: r.Int32N(300) - 150, place: r.Uint32N(1<<29)<<3 | r.Uint32N(6)}
		if r.IntN(50) == 0 {
			e.visit = far[r.IntN(len(far))]
			e.date = r.Int32() // the slot is drawn again, the date hardly
			return e
		}
		next++
		e.visit = next
		return e
	})
}

func TestPlaceListEdits(t *testing.T) {
	for _, dates := range []int32{1, 3, 1000} { // many visits of one date spread over chunks
		t.Run(fmt.Sprint("dates", dates), func(t *testing.T) {
			s := newTestStore(t, Config{})
			editRandomly(t, s, s.placeLists, func(r *rand.Rand) placeEntry {
				return newPlaceEntry(r.Int32N(dates)-dates/2, r.Uint32N(5)*700, uint8(r.IntN(6)), s.clock.traveller(r.Int32N(4)*86400, "mf"[r.IntN(2)]))
			})
		})
	}
}
