package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"redoubt/store/arena"
)

func testUser(id uint32) *User {
	return &User{Has: WholeUser, ID: id, Email: fmt.Appendf(nil, "user%d@mail%d.ru", id, id%10), FirstName: []byte("Анна"),
		LastName: fmt.Appendf(nil, "Имярек%d", id%100), Gender: "mf"[id%2], BirthDate: int32(id % 1000 * 86400)}
}

func testLocation(id uint32) *Location {
	return &Location{Has: WholeLocation, ID: id, Distance: id % 100, Place: fmt.Appendf(nil, "Место%d", id%30),
		Country: fmt.Appendf(nil, "Страна%d", id%60), City: fmt.Appendf(nil, "Город%d", id%400)}
}

func testVisit(id, user, location uint32) *Visit {
	return &Visit{Has: WholeVisit, ID: id, User: user, Location: location, VisitedAt: int32(id*7919%100_000_000) + 1_000_000_000, Mark: uint8(id % 6)}
}

// build makes a store of n users and locations and 10n visits with ids from 1.
func build(t testing.TB, c Config, n uint32, workers int) *Store {
	t.Helper()
	c.Now, c.Users, c.Locations, c.Visits = 1_500_000_000, int(n), int(n), int(10*n)
	b, err := NewBuilder(c)
	if err != nil {
		t.Fatal(err)
	}
	inWorkers := func(count uint32, add func(a *Adder, id uint32) error) {
		var wg sync.WaitGroup
		for w := range uint32(workers) {
			a := b.Adder()
			wg.Go(func() {
				for id := 1 + w; id <= count; id += uint32(workers) {
					if err := add(a, id); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	inWorkers(n, func(a *Adder, id uint32) error {
		return errors.Join(a.AddUser(testUser(id)), a.AddLocation(testLocation(id)))
	})
	inWorkers(10*n, func(a *Adder, id uint32) error {
		return a.AddVisit(testVisit(id, 1+id*31%n, 1+id*17%n))
	})
	s, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// everything is what a reader can see of ids up to n.
func everything(t testing.TB, s *Store, n uint32) string {
	t.Helper()
	r := s.NewReader()
	defer r.Close()
	r.Enter()
	defer r.Exit()
	var all strings.Builder
	for id := range n + 1 {
		for _, read := range []func() ([]byte, bool){
			func() ([]byte, bool) { return r.User(id) },
			func() ([]byte, bool) { return r.Location(id) },
			func() ([]byte, bool) { return r.Visit(id) },
			func() ([]byte, bool) { body, err := r.UserVisits(id, &AllVisits); return body, err == nil },
			func() ([]byte, bool) { return r.LocationAverage(id, &AllMarks) },
			func() ([]byte, bool) {
				return r.LocationAverage(id, &AverageFilter{FromDate: 1_020_000_000, ToDate: 1_050_000_000, HasFromAge: true, FromAge: 46, Gender: 'f'})
			},
		} {
			body, exists := read()
			fmt.Fprintln(&all, string(body), exists)
			if exists && !json.Valid(body) {
				t.Fatalf("not JSON: %s", body)
			}
		}
	}
	return all.String()
}

// A store that was built holds the same as one to which all was posted.
func TestBuiltIsAsPosted(t *testing.T) {
	for _, ready := range []bool{false, true} {
		const n = 700
		posted := newTestStore(t, Config{Ready: ready})
		for id := uint32(1); id <= n; id++ {
			if err := errors.Join(posted.CreateUser(testUser(id)), posted.CreateLocation(testLocation(id))); err != nil {
				t.Fatal(err)
			}
		}
		for id := uint32(1); id <= 10*n; id++ {
			if err := posted.CreateVisit(testVisit(id, 1+id*31%n, 1+id*17%n)); err != nil {
				t.Fatal(err)
			}
		}
		want := everything(t, posted, n+5)
		for _, workers := range []int{1, 3} {
			if got := everything(t, build(t, Config{Ready: ready}, n, workers), n+5); got != want {
				t.Errorf("ready %v, %d workers: the built store differs", ready, workers)
			}
		}
	}
}

// A built store with lists long enough for chunks and ids beyond the dense
// ones, then changed.
func TestBuiltWithLongListsAndFarIDs(t *testing.T) {
	for _, ready := range []bool{false, true} {
		b, err := NewBuilder(Config{Now: 1, Ready: ready, Visits: 5000, Users: 2, Locations: 1})
		if err != nil {
			t.Fatal(err)
		}
		a := b.Adder()
		last := uint32(1<<32 - 1)
		if err := errors.Join(a.AddUser(testUser(1)), a.AddUser(testUser(last)), a.AddLocation(testLocation(last-1))); err != nil {
			t.Fatal(err)
		}
		var marks, count int
		for i := range uint32(5000) {
			id := i
			if i%10 == 0 {
				id = last - i
			}
			v := testVisit(id, []uint32{1, last}[i%2], last-1)
			if err := a.AddVisit(v); err != nil {
				t.Fatal(err)
			}
			marks, count = marks+int(v.Mark), count+1
		}
		s, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r := s.NewReader()
		average := func() string {
			r.Enter()
			defer r.Exit()
			body, _ := r.LocationAverage(last-1, &AllMarks)
			return string(body)
		}
		want := string(appendAverage([]byte(`{"avg":`), uint64(marks), uint64(count))) + "}"
		if got := average(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if err := s.UpdateUser(last, &User{Has: Gender, Gender: 'm'}); err != nil {
			t.Fatal(err)
		}
		r.Enter()
		body, _ := r.LocationAverage(last-1, &AverageFilter{FromDate: AllMarks.FromDate, ToDate: AllMarks.ToDate, Gender: 'f'})
		if string(body) != `{"avg":0}` && testUser(1).Gender == 'm' {
			t.Errorf("both are men now, but women's average is %s", body)
		}
		list, _ := r.UserVisits(last, &AllVisits)
		if n := strings.Count(string(list), "mark"); n != 2500 {
			t.Errorf("%d visits of 2500", n)
		}
		r.Exit()
		slot, _ := s.userSlot(last)
		var entries []userEntry
		for block := range blocks[userEntry](s.heap, arena.Ref(s.users.At(slot).list.Load())) {
			entries = append(entries, block...)
		}
		checkList(t, s.userLists, arena.Ref(s.users.At(slot).list.Load()), entries)
		if err := s.UpdateVisit(last-10, &Visit{Has: ByUser | Mark, User: 1, Mark: 5}); err != nil {
			t.Error(err)
		}
		r.Close()
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, ready := range []bool{false, true} {
		b, err := NewBuilder(Config{Ready: ready})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Abandon()
		a, other := b.Adder(), b.Adder()
		far := uint32(1<<32 - 9)
		f := func(want, got error) {
			t.Helper()
			if !errors.Is(got, want) || want == nil && got != nil {
				t.Errorf("%v, want %v", got, want)
			}
		}
		for _, id := range []uint32{0, 5, far} {
			f(nil, a.AddUser(testUser(id)))
			f(ErrExists, other.AddUser(testUser(id)))
			f(nil, a.AddLocation(testLocation(id)))
			f(ErrExists, other.AddLocation(testLocation(id)))
		}
		twin := testUser(6)
		twin.Email = testUser(5).Email
		f(ErrEmailTaken, other.AddUser(twin))
		for _, id := range []uint32{0, 3, far} {
			f(nil, a.AddVisit(testVisit(id, far, 5)))
			f(ErrExists, other.AddVisit(testVisit(id, far, 5)))
		}
		f(ErrNoUser, a.AddVisit(testVisit(9, far-1, 5)))
		f(ErrNoUser, a.AddVisit(testVisit(9, 7, 5)))
		f(ErrNoLocation, a.AddVisit(testVisit(9, 5, 7)))
	}
}

// While a reader stays inside, what it looks at stays; while too much waits
// for it, writes are refused; when it leaves, memory comes back.
func TestReaderThatStandsStill(t *testing.T) {
	for _, ready := range []bool{false, true} {
		s := newTestStore(t, Config{Ready: ready, Waiting: 100_000})
		for id := range uint32(3) {
			if err := errors.Join(s.CreateUser(testUser(id)), s.CreateLocation(testLocation(id)), s.CreateVisit(testVisit(id, 0, 0))); err != nil {
				t.Fatal(err)
			}
		}
		r, free := s.NewReader(), s.NewReader()
		defer free.Close()
		r.Enter()
		slot, _ := s.userSlot(0)
		held := s.heap.Bytes(arena.Ref(s.users.At(slot).block.Load()))
		before := string(held)
		var err error
		writes := 0
		for ; err == nil && writes < 100_000; writes++ {
			free.Enter()
			err = s.UpdateUser(0, &User{Has: FirstName | Email, FirstName: fmt.Appendf(nil, "n%d", writes), Email: fmt.Appendf(nil, "e%d", writes)})
			free.Exit()
		}
		if !errors.Is(err, ErrBusy) {
			t.Fatalf("after %d writes: %v", writes, err)
		}
		for _, err := range []error{
			s.CreateUser(testUser(9)), s.CreateLocation(testLocation(9)), s.CreateVisit(testVisit(9, 1, 1)),
			s.UpdateLocation(0, &Location{Has: City, City: []byte("x")}), s.UpdateVisit(0, &Visit{Has: Mark, Mark: 1}),
		} {
			if !errors.Is(err, ErrBusy) {
				t.Errorf("a write passed: %v", err)
			}
		}
		if waiting := s.Sizes().Waiting; waiting > 101_000 {
			t.Errorf("%d bytes wait, the limit is 100,000", waiting)
		}
		if string(held) != before {
			t.Error("a block changed under its reader")
		}
		r.Exit()
		if err := s.UpdateUser(0, &User{Has: Gender, Gender: 'm'}); err != nil {
			t.Errorf("the reader has left: %v", err)
		}
		if waiting := s.Sizes().Waiting; waiting > 1000 {
			t.Errorf("%d bytes still wait", waiting)
		}
		r.Close()
		r.Enter() // a closed reader holds nothing back
		for range 5000 {
			if err := s.UpdateUser(0, &User{Has: FirstName, FirstName: []byte("x")}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A million updates of a thousand records do not grow memory.
func TestUpdatesDoNotGrowMemory(t *testing.T) {
	updates := 1_000_000
	if testing.Short() || !arena.Lazy {
		updates = 100_000
	}
	for _, ready := range []bool{false, true} {
		s := build(t, Config{Ready: ready}, 1000, 2)
		r := s.NewReader()
		random := rand.New(rand.NewPCG(1, 1))
		text := func() []byte { return []byte(strings.Repeat("ж", random.IntN(40))) }
		update := func(i int) error {
			id := 1 + random.Uint32N(1000)
			r.Enter()
			defer r.Exit()
			switch i % 5 {
			case 0:
				return s.UpdateUser(id, &User{Has: BirthDate | Email | LastName, BirthDate: int32(i), Email: fmt.Appendf(text(), "%d", i), LastName: text()})
			case 1:
				return s.UpdateLocation(id, &Location{Has: Distance | Place, Distance: random.Uint32(), Place: text()})
			default:
				return s.UpdateVisit(id, &Visit{Has: ByUser | AtLocation | VisitedAt, User: 1 + random.Uint32N(1000), Location: 1 + random.Uint32N(1000), VisitedAt: random.Int32()})
			}
		}
		var after [2]int64
		for half := range after {
			for i := range updates / 2 {
				if err := update(i); err != nil {
					t.Fatal(err)
				}
			}
			after[half] = s.Sizes().Blocks
		}
		t.Logf("ready %v: %d KB of blocks after %d updates, %d KB after %d", ready, after[0]>>10, updates/2, after[1]>>10, updates)
		if after[1] > after[0]+after[0]/20 {
			t.Errorf("ready %v: memory grew from %d to %d bytes", ready, after[0], after[1])
		}
		r.Close()
	}
}

// scatteredBytes is what a record with a far id may cost in all.
const scatteredBytes = 128

// A million records with ids scattered over 32 bits stay within 128 MB, or 256 MB if
// the store is ready.
func TestScatteredIDs(t *testing.T) {
	n := uint32(1_000_000)
	if testing.Short() || !arena.Lazy {
		n = 60_000
	}
	for _, ready := range []bool{false, true} {
		s := newTestStore(t, Config{Ready: ready})
		before := resident(t)
		id := func(i uint32) uint32 { return i * 2654435769 } // an odd factor: all differ
		var err error
		for i := range n {
			switch i % 3 {
			case 0:
				err = s.CreateUser(testUser(id(i)))
			case 1:
				err = s.CreateLocation(testLocation(id(i)))
			default:
				err = s.CreateVisit(testVisit(id(i), id(i-2), id(i-1)))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r := s.NewReader()
		r.Enter()
		for i := range n {
			var exists bool
			switch i % 3 {
			case 0:
				_, exists = r.User(id(i))
			case 1:
				_, exists = r.Location(id(i))
			default:
				_, exists = r.Visit(id(i))
			}
			if !exists || r.HasUser(id(i)) != (i%3 == 0) {
				t.Fatalf("id %d is lost", id(i))
			}
		}
		r.Exit()
		r.Close()
		grown := resident(t) - before
		limit := int64(n) * scatteredBytes
		if ready {
			limit *= 2
		}
		t.Logf("ready %v: %d records, %d bytes each, %d of them in blocks", ready, n, grown/int64(n), s.Sizes().Blocks/int64(n))
		if arena.Lazy && grown > limit {
			t.Errorf("ready %v: %d scattered records take %d MB, more than %d", ready, n, grown>>20, limit>>20)
		}
	}
}

// resident returns the memory of this process, in bytes, where the system
// tells.
func resident(t *testing.T) int64 {
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// The estimate is what tables and blocks come to, within a fifth.
func TestEstimate(t *testing.T) {
	const n = 10_000
	for _, ready := range []bool{false, true} {
		c := Config{Ready: ready, Users: n, Locations: n, Visits: 10 * n}
		s := build(t, c, n, 1)
		rows := n*(arena.SizeOf[userRow]()+arena.SizeOf[locationRow]()) + 10*n*arena.SizeOf[visitLine]()/visitsPerLine
		if ready {
			rows = n*(arena.SizeOf[userRow]()+arena.SizeOf[locationRow]()+16) + 10*n*8
		}
		sizes := s.Sizes()
		real := int64(rows) + sizes.Blocks - sizes.Free
		if got := Estimate(c); got < real*4/5 || got > real*6/5 {
			t.Errorf("ready %v: estimated %d bytes, took %d", ready, got, real)
		}
	}
}

// What the collector has to scan does not grow with the records.
func TestRecordsAreNotScanned(t *testing.T) {
	n := uint32(100_000)
	if testing.Short() || !arena.Lazy {
		n = 2000
	}
	scan := func() uint64 {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/scan/heap:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := scan()
	s := build(t, Config{}, n, 2)
	after := scan()
	if after > before+256<<10 {
		t.Errorf("%d records: %d bytes to scan, %d without them", s.Sizes().Visits, after, before)
	}
	runtime.KeepAlive(s)
}

// Readers see every record whole, old or new, and a visit that moves in one
// list at most.
func TestReadersSeeWholeRecords(t *testing.T) {
	for _, ready := range []bool{false, true} {
		s := newTestStore(t, Config{Ready: ready})
		const last = 6 // users and locations 0..last; the visit moves from 0 to last, then starts anew
		for id := range uint32(last + 1) {
			if err := errors.Join(s.CreateUser(testUser(id)), s.CreateLocation(testLocation(id))); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.CreateVisit(&Visit{Has: WholeVisit, ID: 1, VisitedAt: 10, Mark: 0}); err != nil {
			t.Fatal(err)
		}
		var stop atomic.Bool
		var round atomic.Int64 // odd while the visit jumps back
		var readers, writers sync.WaitGroup
		writer := func(write func(i int)) {
			writers.Go(func() {
				for i := 0; i < rounds(); i++ {
					write(i)
				}
			})
		}
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		writer(func(i int) { // a name, an email and a date that belong together
			n := fmt.Appendf(nil, "%d", i)
			must(s.UpdateUser(0, &User{Has: FirstName | LastName | Email | BirthDate, FirstName: n, LastName: n, Email: n, BirthDate: int32(i)}))
		})
		writer(func(i int) {
			n := fmt.Appendf(nil, "%d", i)
			must(s.UpdateLocation(0, &Location{Has: WholeLocation &^ ID, Distance: uint32(i), Place: n, Country: n, City: n}))
		})
		writer(func(i int) {
			step := i % (last + 1)
			if step == 0 {
				round.Add(1)
			}
			must(s.UpdateVisit(1, &Visit{Has: ByUser | AtLocation | Mark | VisitedAt, User: uint32(step), Location: uint32(step), Mark: uint8(min(5, step)), VisitedAt: int32(step)}))
			if step == 0 {
				round.Add(1)
			}
		})
		reader := func(read func(r *Reader)) {
			readers.Go(func() {
				r := s.NewReader()
				defer r.Close()
				for !stop.Load() {
					r.Enter()
					read(r)
					r.Exit()
				}
			})
		}
		same := func(body []byte, values ...any) {
			for _, v := range values {
				if fmt.Sprint(v) != fmt.Sprint(values[0]) {
					t.Errorf("torn: %s", body)
				}
			}
		}
		reader(func(r *Reader) {
			var u struct {
				Email, FirstName, LastName string
				BirthDate                  int
			}
			body, _ := r.User(0)
			text := strings.NewReplacer("first_name", "FirstName", "last_name", "LastName", "birth_date", "BirthDate").Replace(string(body))
			if err := json.Unmarshal([]byte(text), &u); err != nil {
				t.Errorf("%s: %v", body, err)
			} else if u.FirstName != "Анна" {
				same(body, u.Email, u.FirstName, u.LastName, u.BirthDate)
			}
		})
		reader(func(r *Reader) {
			var l struct {
				Distance             int
				Place, Country, City string
			}
			body, _ := r.Location(0)
			if err := json.Unmarshal(body, &l); err != nil {
				t.Errorf("%s: %v", body, err)
			} else if l.City != "Город0" {
				same(body, l.Distance, l.Place, l.Country, l.City)
			}
		})
		reader(func(r *Reader) {
			var v struct{ ID, Location, User, Mark, VisitedAt int }
			body, _ := r.Visit(1)
			if err := json.Unmarshal([]byte(strings.Replace(string(body), "visited_at", "VisitedAt", 1)), &v); err != nil {
				t.Errorf("%s: %v", body, err)
			} else if v.VisitedAt != 10 {
				same(body, v.Location, v.User, v.VisitedAt, max(v.Mark, v.User*(v.User/6)))
			}
		})
		reader(func(r *Reader) {
			// Seen in a later list, the visit has left all earlier ones.
			before := round.Load()
			seen := -1
			for id := last; id >= 0; id-- {
				users, _ := r.UserVisits(uint32(id), &AllVisits)
				inUsers := strings.Contains(string(users), "mark")
				if inUsers && seen >= 0 && before%2 == 0 && round.Load() == before {
					t.Errorf("the visit of user %d stands in the list of user %d as well", seen, id)
				}
				if inUsers {
					seen = id
				}
			}
			seen = -1
			before = round.Load()
			for id := last; id >= 0; id-- {
				marks, _ := r.LocationAverage(uint32(id), &AllMarks)
				found := string(marks) != `{"avg":0}`
				if found && seen >= 0 && before%2 == 0 && round.Load() == before {
					t.Errorf("the visit of location %d counts in location %d as well", seen, id)
				}
				if found {
					seen = id
				}
			}
		})
		writers.Wait()
		stop.Store(true)
		readers.Wait()
	}
}

func rounds() int {
	if testing.Short() || !arena.Lazy {
		return 20_000
	}
	return 200_000
}
