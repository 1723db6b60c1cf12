package body

import (
	"fmt"
	"testing"
)

func TestKeysDifferByEachPart(t *testing.T) {
	shelf := new(Shelf)
	two := shelf.Fill(1<<20, []Options{{Rules: words(1)}, {Rules: words(2)}})
	m := NewMemory(100)
	seen := make(map[Key]string)
	f := func(r *Rules, host, target string, coding byte, validator string) {
		t.Helper()
		what := fmt.Sprintf("%d %q %q %d %q", r.id, host, target, coding, validator)
		k := m.Key(r, []byte(host), []byte(target), coding, []byte(validator))
		if other := seen[k]; other != "" {
			t.Errorf("%s has the key of %s", what, other)
		}
		if k != m.Key(r, []byte(host), []byte(target), coding, []byte(validator)) {
			t.Errorf("%s has another key each time", what)
		}
		seen[k] = what
	}
	f(two[0], "a", "/x", 0, `"1"`)
	f(two[1], "a", "/x", 0, `"1"`)
	f(two[0], "b", "/x", 0, `"1"`)
	f(two[0], "A", "/x", 0, `"1"`) // the same host, but that need not be known
	f(two[0], "a", "/y", 0, `"1"`)
	f(two[0], "a", "/x", 1, `"1"`)
	f(two[0], "a", "/x", 0, `"2"`)
	// Nothing passes for its neighbour.
	f(two[0], "a/", "x", 0, `"1"`)
	f(two[0], "", "a/x", 0, `"1"`)
	f(two[0], "a/x", "", 0, `"1"`)
	f(two[0], "a", `/x"`, 0, `1"`)
	f(two[0], "a", `/x"1"`, 0, "")
	f(two[0], "a", "", 0, `/x"1"`)
	f(two[0], "", "", 0, "")
	f(two[0], "", "", 0, "\x00")
	// Other rules never have the number of those that were there.
	f(shelf.Fill(1<<20, []Options{{Rules: words(3)}})[0], "a", "/x", 0, `"1"`)
	f(shelf.Fill(1<<20, []Options{{Rules: words(1)}})[0], "a", "/x", 0, `"1"`)

	if k, other := m.Key(two[0], nil, nil, 0, nil), NewMemory(100).Key(two[0], nil, nil, 0, nil); k == other {
		t.Error("two memories have the same seeds")
	}
}

func TestMemoryForgets(t *testing.T) {
	const most = 100
	r := fill(t, Options{Rules: words(3)})
	m := NewMemory(most)
	key := func(n int) Key { return m.Key(r, nil, fmt.Appendf(nil, "/%d", n), 0, nil) }
	if m.Get(key(0)) != nil {
		t.Fatal("it knows what it was never told")
	}
	subset := func(n int) *Subset { return r.Subset([]uint64{uint64(n) % 7}) }
	for n := range 10 * most {
		m.Put(key(n), subset(n))
		if got := m.Get(key(n)); got != subset(n) {
			t.Fatalf("of file %d it knows %p, was told %p", n, got, subset(n))
		}
		if m.Get(key(0)) == nil { // which is asked for all the time
			t.Fatalf("file 0 is forgotten after %d others", n)
		}
		if m.Len() > most {
			t.Fatalf("it knows %d files, of at most %d", m.Len(), most)
		}
	}
	for n := 10*most - most/3; n < 10*most; n++ {
		if m.Get(key(n)) == nil {
			t.Errorf("file %d is forgotten, which is new", n)
		}
	}
	for n := 1; n < 8*most; n++ {
		if m.Get(key(n)) != nil {
			t.Errorf("file %d is known, which is old", n)
		}
	}
	m.Put(key(0), subset(1)) // another version
	m.Put(key(0), subset(2))
	if m.Get(key(0)) != subset(2) {
		t.Error("it knows the one before")
	}
	m.Clear()
	if m.Len() != 0 || m.Get(key(0)) != nil {
		t.Error("it knows something when all is forgotten")
	}
}
