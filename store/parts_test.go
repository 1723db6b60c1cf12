package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"redoubt/store/arena"
)

// The byte table of docs/architecture.md.
func TestSizes(t *testing.T) {
	f := func(what string, got, want uintptr) {
		t.Helper()
		if got != want {
			t.Errorf("a %s takes %d bytes, not %d", what, got, want)
		}
	}
	f("user row", unsafe.Sizeof(userRow{}), 16)
	f("location row", unsafe.Sizeof(locationRow{}), 16)
	f("visit line", unsafe.Sizeof(visitLine{}), 64)
	f("user's entry", unsafe.Sizeof(userEntry{}), 12)
	f("location's entry", unsafe.Sizeof(placeEntry(0)), 8)
	f("chunk", unsafe.Sizeof(chunk{}), 16)
}

func TestText(t *testing.T) {
	for _, raw := range []string{"", "plain", "Русь", `"`, `\`, "a\"b\\c\nd\re\tf\bg\x00h\x1f\x7f", "☃\U0001F600\u2028</script>"} {
		kept, scratch := text([]byte(raw), []byte("before"))
		var back string
		if err := json.Unmarshal([]byte(`"`+string(kept)+`"`), &back); err != nil || back != raw {
			t.Errorf("%q is kept as %s, read back as %q, %v", raw, kept, back, err)
		}
		if !bytes.HasPrefix(scratch, []byte("before")) {
			t.Errorf("%q: the scratch buffer lost its start", raw)
		}
		if !strings.ContainsFunc(raw, func(r rune) bool { return needsEscape(byte(min(r, 255))) }) && len(scratch) != 6 {
			t.Errorf("%q was copied without need", raw)
		}
	}
}

// Against a map: adding, removing, growing, keys that collide.
func TestTable(t *testing.T) {
	heap, err := arena.NewHeap(64<<20, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer heap.Release()
	for _, keys := range []uint32{1, 50, 1 << 20, 1<<32 - 1} {
		tab := table{heap: heap}
		type entry struct{ key, slot uint32 }
		want := map[entry]bool{}
		var list []entry
		random := rand.New(rand.NewPCG(5, uint64(keys)))
		for i := range uint32(30_000) {
			key := random.Uint32N(keys)
			if keys == 1<<20 {
				key *= segments // all in one segment
			}
			if len(list) == 0 || random.IntN(3) > 0 && len(list) < 500+int(keys>>10) {
				old, err := tab.room(key, heap.Alloc)
				if err != nil {
					t.Fatal(err)
				}
				heap.Free(old)
				tab.add(key, i)
				want[entry{key, i}] = true
				list = append(list, entry{key, i})
			} else {
				k := random.IntN(len(list))
				e := list[k]
				list[k] = list[len(list)-1]
				list = list[:len(list)-1]
				tab.remove(e.key, e.slot)
				delete(want, e)
			}
			if i%97 == 0 {
				e := list[random.IntN(len(list))]
				if _, found := tab.find(e.key, func(s uint32) bool { return s == e.slot }); !found {
					t.Fatalf("entry %v is lost", e)
				}
				if s, found := tab.find(key, func(s uint32) bool { return !want[entry{key, s}] }); found {
					t.Fatalf("slot %d under key %d was removed or never added", s, key)
				}
			}
		}
		for e := range want {
			if _, found := tab.find(e.key, func(s uint32) bool { return s == e.slot }); !found {
				t.Fatalf("entry %v is lost", e)
			}
		}
	}
}

func TestIDKeysAreABijection(t *testing.T) {
	x := ids{keys: [2]uint32{0xdeadbeef, 0x12345679}}
	// A bijection of 32 bits, sampled: no two of a few million ids share a key.
	keys := map[uint32]uint32{}
	for i := range uint32(300_000) {
		for _, id := range []uint32{i, i << 13, ^i} {
			k := x.key(id)
			if other, taken := keys[k]; taken && other != id {
				t.Fatalf("ids %d and %d share a key", id, other)
			}
			keys[k] = id
		}
	}
}

func TestDict(t *testing.T) {
	heap, err := arena.NewHeap(8<<20, 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer heap.Release()
	var d dict
	if err := d.init(heap, maphash.MakeSeed(), 100); err != nil {
		t.Fatal(err)
	}
	defer d.release()
	if d.intern(nil) != 0 || d.intern(bytes.Repeat([]byte("x"), longestShared+1)) != 0 {
		t.Error("took an empty or overlong text")
	}
	var wg sync.WaitGroup
	numbers := make([][]uint32, 4)
	for g := range numbers {
		wg.Go(func() {
			for i := range 200 {
				numbers[g] = append(numbers[g], d.intern(fmt.Append(nil, "text ", i)))
			}
		})
	}
	wg.Wait()
	shared := 0
	for i := range 200 {
		text := fmt.Sprint("text ", i)
		n := d.find([]byte(text))
		if n != 0 {
			shared++
			if string(d.at(n)) != text {
				t.Errorf("number %d is %q, not %q", n, d.at(n), text)
			}
		}
		for g := range numbers {
			if got := numbers[g][i]; got != n && got != 0 {
				t.Errorf("%q has numbers %d and %d", text, got, n)
			}
		}
	}
	if shared != 99 { // numbers 1..99
		t.Errorf("%d texts shared in a dictionary of 100", shared)
	}
}

// Records whose strings find no place in a dictionary keep them in full.
func TestFullDictionaries(t *testing.T) {
	for _, ready := range []bool{false, true} {
		s := newTestStore(t, Config{Ready: ready})
		s.countries.limit, s.cities.limit, s.places.limit, s.firstNames.limit, s.lastNames.limit, s.domains.limit = 3, 3, 3, 3, 3, 3
		r := s.NewReader()
		defer r.Close()
		for i := range uint32(8) {
			n := fmt.Append(nil, "n", i)
			u, l := testUser(i), testLocation(i)
			u.FirstName, u.LastName, u.Email = n, n, fmt.Appendf(nil, "%d@d%d", i, i)
			l.Place, l.Country, l.City = n, n, n
			if err := errors.Join(s.CreateUser(u), s.CreateLocation(l), s.CreateVisit(testVisit(i, 0, i))); err != nil {
				t.Fatal(err)
			}
			if err := s.UpdateUser(i, &User{Has: Gender, Gender: 'f'}); err != nil {
				t.Fatal(err)
			}
			r.Enter()
			body, _ := r.User(i)
			if want := fmt.Sprintf(`{"id":%d,"email":"%d@d%d","first_name":"n%d","last_name":"n%d","gender":"f","birth_date":%d}`, i, i, i, i, i, u.BirthDate); string(body) != want {
				t.Errorf("got  %s\nwant %s", body, want)
			}
			body, _ = r.Location(i)
			if want := fmt.Sprintf(`{"id":%d,"distance":%d,"place":"n%d","country":"n%d","city":"n%d"}`, i, i, i, i, i); string(body) != want {
				t.Errorf("got  %s\nwant %s", body, want)
			}
			f := AllVisits
			f.InCountry, f.Country = true, n
			body, _ = r.UserVisits(0, &f)
			if strings.Count(string(body), "mark") != 1 || !strings.Contains(string(body), `"place":"n`) {
				t.Errorf("visits in country %s: %s", n, body)
			}
			r.Exit()
			if err := s.CreateUser(&User{ID: 100, Email: u.Email}); !errors.Is(err, ErrEmailTaken) {
				t.Errorf("email %s: %v", u.Email, err)
			}
		}
	}
}

// Against time.AddDate, with 29 February put right.
func TestBornDay(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		now := random.Int64N(8e9) - 4e9
		c := newClock(now)
		years := random.Int64N(140) - 40
		bound := time.Unix(now, 0).UTC()
		if y := bound.Year() - int(years); bound.Month() == time.February && bound.Day() == 29 && bound.AddDate(-int(years), 0, 0).Month() != time.February {
			bound = time.Date(y, time.February, 28, bound.Hour(), bound.Minute(), bound.Second(), 0, time.UTC)
		} else {
			bound = bound.AddDate(-int(years), 0, 0)
		}
		birth := random.Int32()
		if random.IntN(3) == 0 && bound.Unix() > -1<<31+2 && bound.Unix() < 1<<31-2 {
			birth = int32(bound.Unix() + random.Int64N(3) - 1)
		}
		who := c.traveller(birth, 'm')
		day := c.bornDay(years)
		before := who.day() < day
		after := who.day() > day || who.day() == day && who&startBit == 0
		if before != (int64(birth) < bound.Unix()) || after != (int64(birth) > bound.Unix()) {
			t.Fatalf("now %v, %d years: bound %v, born %v: before %v, after %v", time.Unix(now, 0).UTC(), years, bound, time.Unix(int64(birth), 0).UTC(), before, after)
		}
	}
}

// Against exact fractions.
func TestAverage(t *testing.T) {
	f := func(sum, count uint64) {
		t.Helper()
		want := "0"
		if count > 0 {
			x := new(big.Rat).SetFrac64(int64(sum), int64(count))
			x.Add(x, big.NewRat(1, 200_000)) // half up, then cut
			n := new(big.Int).Div(new(big.Int).Mul(x.Num(), big.NewInt(100_000)), x.Denom())
			want = strings.TrimRight(strings.TrimRight(new(big.Rat).SetFrac(n, big.NewInt(100_000)).FloatString(5), "0"), ".")
		}
		if got := string(appendAverage(nil, sum, count)); got != want {
			t.Errorf("%d/%d: %s, want %s", sum, count, got, want)
		}
	}
	f(0, 0)
	f(1, 64)
	f(5*1<<32, 1<<32)
	for count := uint64(1); count < 200; count++ {
		for sum := uint64(0); sum <= 5*count; sum += 1 + count/20 {
			f(sum, count)
		}
	}
}
