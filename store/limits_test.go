package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"redoubt/store/arena"
)

// Lists and texts that grow, all together or at random, leave nothing behind
// of the sizes they had.
func TestGrowthLeavesNothingBehind(t *testing.T) {
	n := uint32(400_000)
	if testing.Short() || !arena.Lazy {
		n = 40_000
	}
	const owners = 2000
	random := rand.New(rand.NewPCG(1, 1))
	for name, owner := range map[string]func(i uint32) uint32{
		"round robin":     func(i uint32) uint32 { return i % owners },
		"at random":       func(uint32) uint32 { return random.Uint32N(owners) },
		"one after other": func(i uint32) uint32 { return i / (n / owners) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t, Config{Users: owners, Locations: owners, Visits: int(n)})
			for id := range uint32(owners) {
				if err := errors.Join(s.CreateUser(testUser(id)), s.CreateLocation(testLocation(id))); err != nil {
					t.Fatal(err)
				}
			}
			for i := range n {
				if err := s.CreateVisit(testVisit(i, owner(i), owner(i))); err != nil {
					t.Fatal(err)
				}
			}
			checkMemory(t, s)
		})
	}
	t.Run("places", func(t *testing.T) {
		s := newTestStore(t, Config{})
		for id := range uint32(300) {
			if err := s.CreateLocation(testLocation(id)); err != nil {
				t.Fatal(err)
			}
		}
		for length := 1; length < 2000; length += 8 {
			for id := range uint32(300) {
				if err := s.UpdateLocation(id, &Location{Has: Place, Place: bytes.Repeat([]byte("x"), length)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		checkMemory(t, s)
	})
}

// checkMemory fails if blocks take much more than those that live.
func checkMemory(t *testing.T, s *Store) {
	t.Helper()
	s.mu.Lock()
	s.epochs.reclaim(s.heap)
	s.mu.Unlock()
	sizes := s.Sizes()
	live := sizes.Blocks - sizes.Free
	t.Logf("%d KB live in %d KB", live>>10, sizes.Blocks>>10)
	if sizes.Blocks > 2*live+1<<20 {
		t.Errorf("%d KB of blocks for %d KB that live", sizes.Blocks>>10, live>>10)
	}
}

// When memory is used up every write fails whole: nothing that is read changes
// and no block is lost; and when there is memory again, all goes on.
func TestFullStore(t *testing.T) {
	for _, ready := range []bool{false, true} {
		s := build(t, Config{Ready: ready}, 500, 1)
		type attempt struct {
			name  string
			write func() error
		}
		writes := func(round int) []attempt {
			long := bytes.Repeat([]byte{'a' + byte(round)}, 5000)
			u, l := testUser(501+uint32(round)), testLocation(501+uint32(round))
			l.Place = long
			u.Email = fmt.Append(nil, "new", round)
			return []attempt{
				{"UpdateUser", func() error {
					return s.UpdateUser(5, &User{Has: Email | Gender, Email: fmt.Append(nil, "changed", round), Gender: "mf"[round%2]})
				}},
				{"UpdateVisit", func() error {
					return s.UpdateVisit(5, &Visit{Has: ByUser | AtLocation, User: 7 + uint32(round%2), Location: 9 - uint32(round%2)})
				}},
				{"CreateVisit", func() error { return s.CreateVisit(testVisit(10_000+uint32(round), 1, 1)) }},
				{"UpdateLocation", func() error { return s.UpdateLocation(5, &Location{Has: Place, Place: long}) }},
				{"CreateUser", func() error { return s.CreateUser(u) }},
				{"CreateLocation", func() error { return s.CreateLocation(l) }},
			}
		}
		// Take all memory, down to the last free block of every class.
		var taken []arena.Ref
		take := func(size int) {
			for {
				ref, err := s.heap.Alloc(size)
				if err != nil {
					return
				}
				taken = append(taken, ref)
			}
		}
		for size := arena.MaxBlock; size > 1<<15; size /= 2 {
			take(size)
		}
		for size := 1 << 15; size > 0; size -= 8 {
			take(size)
		}
		// live is what blocks take, without hash tables: those may grow for a
		// write that fails later.
		live := func() int64 {
			sizes := s.Sizes()
			n := sizes.Blocks - sizes.Free
			for _, table := range []*table{&s.emails, &s.userIDs.far, &s.locationIDs.far, &s.visitIDs.far} {
				for i := range table.segments {
					n -= int64(arena.Ref(table.segments[i].Load()).Len())
				}
			}
			return n
		}
		// try makes the writes and returns how many succeed. One that fails
		// changes nothing and takes nothing.
		try := func(round int) (succeeded int) {
			t.Helper()
			for _, a := range writes(round) {
				s.mu.Lock()
				s.epochs.reclaim(s.heap) // else the write itself would
				s.mu.Unlock()
				before, held := everything(t, s, 530), live()
				err := a.write()
				switch {
				case err == nil:
					succeeded++
				case !errors.Is(err, ErrFull):
					t.Errorf("ready %v: %s: %v", ready, a.name, err)
				case everything(t, s, 530) != before:
					t.Errorf("ready %v: %s failed, and has changed something", ready, a.name)
				case live() > held:
					t.Errorf("ready %v: %s failed, and keeps %d bytes", ready, a.name, live()-held)
				}
			}
			return succeeded
		}
		if n := try(0); n != 0 {
			t.Errorf("ready %v: %d writes without any memory", ready, n)
		}
		// Blocks of all sizes that writes need come back one by one: writes fail
		// at every later step, and then succeed.
		small := slices.IndexFunc(taken, func(r arena.Ref) bool { return r.Len() <= 8192 })
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(taken)-small, func(i, j int) {
			taken[small+i], taken[small+j] = taken[small+j], taken[small+i]
		})
		total := 0
		for round := 1; round <= 20; round++ {
			for range 25 {
				if last := len(taken) - 1; last >= small {
					s.heap.Free(taken[last])
					taken = taken[:last]
				}
			}
			total += try(round)
		}
		t.Logf("ready %v: %d of 120 writes succeeded with little memory", ready, total)
		if total == 0 {
			t.Errorf("ready %v: no write succeeded", ready)
		}
		for _, ref := range taken {
			s.heap.Free(ref)
		}
		if n := try(21); n != len(writes(21)) {
			t.Errorf("ready %v: %d writes succeed with memory again", ready, n)
		}
		for id := range uint32(500) { // every list is still sound
			if err := s.UpdateUser(id+1, &User{Has: BirthDate, BirthDate: int32(id)}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A user's change shows in all of a location's entries at once.
func TestTravellersChangeWhole(t *testing.T) {
	s := newTestStore(t, Config{})
	if err := errors.Join(s.CreateUser(testUser(0)), s.CreateUser(testUser(1)), s.CreateLocation(testLocation(0)), s.CreateLocation(testLocation(1))); err != nil {
		t.Fatal(err)
	}
	// User 0 was twice at location 0, with marks 1 and 3, and once at location
	// 1 with mark 3; user 1, a woman for good, once at each with mark 5.
	for i, v := range []Visit{{User: 0, Mark: 1}, {User: 0, Mark: 3}, {User: 1, Mark: 5}, {User: 0, Location: 1, Mark: 3}, {User: 1, Location: 1, Mark: 5}} {
		v.Has, v.ID, v.VisitedAt = WholeVisit, uint32(i), int32(i*1000)
		if err := s.CreateVisit(&v); err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			r := s.NewReader()
			defer r.Close()
			f := AllMarks
			f.Gender = 'f'
			for !stop.Load() {
				r.Enter()
				twice, _ := r.LocationAverage(0, &f)
				if got := string(twice); got != `{"avg":5}` && got != `{"avg":3}` { // none or both of 1 and 3
					t.Errorf("location 0: %s", got)
				}
				once, _ := r.LocationAverage(1, &f)
				if got := string(once); got != `{"avg":5}` && got != `{"avg":4}` {
					t.Errorf("location 1: %s", got)
				}
				r.Exit()
			}
		})
	}
	for i := range rounds() {
		if err := s.UpdateUser(0, &User{Has: Gender | BirthDate, Gender: "mf"[i%2], BirthDate: int32(i)}); err != nil {
			t.Fatal(err)
		}
	}
	stop.Store(true)
	readers.Wait()
}

// A visit in a country is found there while its location takes up a country
// that nobody had before.
func TestNewCountryIsFound(t *testing.T) {
	s := newTestStore(t, Config{})
	flips := int64(rounds() / 200)
	country := func(i int64) []byte { return fmt.Append(nil, "country ", i) }
	if err := errors.Join(s.CreateUser(testUser(0)), s.CreateLocation(testLocation(0)), s.CreateVisit(testVisit(0, 0, 0))); err != nil {
		t.Fatal(err)
	}
	var now, asked atomic.Int64 // the country is now's, for certain
	var reader sync.WaitGroup
	reader.Go(func() {
		r := s.NewReader()
		defer r.Close()
		for now.Load() < flips {
			i := now.Load()
			f := AllVisits
			f.InCountry, f.Country = true, country(i)
			r.Enter()
			body, _ := r.UserVisits(0, &f)
			r.Exit()
			if i > 0 && now.Load() == i && !strings.Contains(string(body), "mark") {
				t.Errorf("no visit in %s", f.Country)
			}
			asked.Add(1)
		}
	})
	for i := int64(1); i <= flips; i++ {
		// Too far to be packed: the country has no number yet. Then it gets one.
		far := &Location{Has: Distance | Country, Distance: 1 << 25, Country: country(i)}
		near := &Location{Has: Distance, Distance: 5}
		if err := s.UpdateLocation(0, far); err != nil {
			t.Fatal(err)
		}
		now.Store(i)
		for before := asked.Load(); asked.Load() == before && i < flips; {
			runtime.Gosched()
		}
		if err := s.UpdateLocation(0, near); err != nil {
			t.Fatal(err)
		}
		for before := asked.Load(); asked.Load() == before && i < flips; {
			runtime.Gosched()
		}
		now.Store(-i)
	}
	now.Store(flips)
	reader.Wait()
}

// An answer is refused before it takes the memory of the machine.
func TestAnswerTooLarge(t *testing.T) {
	s := newTestStore(t, Config{})
	place := testLocation(0)
	place.Place = bytes.Repeat([]byte("x"), 1<<20)
	if err := errors.Join(s.CreateUser(testUser(0)), s.CreateLocation(place)); err != nil {
		t.Fatal(err)
	}
	r := s.NewReader()
	defer r.Close()
	for i := range uint32(20) {
		if err := s.CreateVisit(testVisit(i, 0, 0)); err != nil {
			t.Fatal(err)
		}
		r.Enter()
		body, err := r.UserVisits(0, &AllVisits)
		if fits := i < 15; fits != (err == nil) || err != nil && !errors.Is(err, ErrTooLarge) || len(body) > MaxBody {
			t.Errorf("%d visits: %d bytes, %v", i+1, len(body), err)
		}
		r.Exit()
		if cap(r.body) > keepScratch {
			t.Errorf("the reader keeps %d bytes", cap(r.body))
		}
	}
}

// Adders that race for an id or an email: one of them gets it.
func TestAddersRace(t *testing.T) {
	b, err := NewBuilder(Config{Users: 3000, Locations: 3000, Visits: 3000})
	if err != nil {
		t.Fatal(err)
	}
	const n = 2000
	var added, refused [3]atomic.Int64
	race := func(add func(a *Adder, kind int, i uint32) error, kinds ...int) {
		var wg sync.WaitGroup
		for range 3 {
			a := b.Adder()
			wg.Go(func() {
				for i := range uint32(n) {
					for _, kind := range kinds {
						switch err := add(a, kind, i); {
						case err == nil:
							added[kind].Add(1)
						case errors.Is(err, ErrExists), errors.Is(err, ErrEmailTaken):
							refused[kind].Add(1)
						default:
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
	}
	id := func(i uint32) uint32 {
		if i%3 == 0 {
			return 1<<31 + i // beyond the dense ones
		}
		return i
	}
	race(func(a *Adder, kind int, i uint32) error {
		if kind == userKind {
			return a.AddUser(testUser(id(i)))
		}
		return a.AddLocation(testLocation(id(i)))
	}, userKind, locationKind)
	race(func(a *Adder, _ int, i uint32) error { return a.AddVisit(testVisit(id(i), id(i), id(i))) }, visitKind)
	for kind := range added {
		if added[kind].Load() != n || refused[kind].Load() != 2*n {
			t.Errorf("kind %d: %d added, %d refused", kind, added[kind].Load(), refused[kind].Load())
		}
	}
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := s.NewReader()
	r.Enter()
	for i := range uint32(n) {
		if body, err := r.UserVisits(id(i), &AllVisits); err != nil || strings.Count(string(body), "mark") != 1 {
			t.Fatalf("user %d: %s, %v", id(i), body, err)
		}
	}
}
