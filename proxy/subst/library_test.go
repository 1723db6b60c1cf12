package subst

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"redoubt/proxy/subst/prefilter"
)

func TestLibrary(t *testing.T) {
	var l Library
	get := func(o Options, rules ...Rule) *Set {
		t.Helper()
		s, err := l.Compile(rules, o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one := get(Options{}, Rule{"a", "b", "gi"}, Rule{"c", "d", ""})
	for name, same := range map[string]*Set{
		"letter by letter":  get(Options{}, Rule{"a", "b", "gi"}, Rule{"c", "d", ""}),
		"flags turned":      get(Options{}, Rule{"a", "b", "ig"}, Rule{"c", "d", ""}),
		"defaults written":  get(Options{Hold: 8 << 10, Memory: 2 << 20}, Rule{"a", "b", "gi"}, Rule{"c", "d", ""}),
		"defaults below 0":  get(Options{Hold: -1}, Rule{"a", "b", "gi"}, Rule{"c", "d", ""}),
		"made from a slice": get(one.Options(), []Rule{{"a", "b", "gi"}, {"c", "d", ""}}...),
	} {
		if same != one {
			t.Errorf("%s: another set", name)
		}
	}
	others := []*Set{one}
	for name, other := range map[string]*Set{
		"order":   get(Options{}, Rule{"c", "d", ""}, Rule{"a", "b", "gi"}),
		"flags":   get(Options{}, Rule{"a", "b", "g"}, Rule{"c", "d", ""}),
		"put":     get(Options{}, Rule{"a", "b ", "gi"}, Rule{"c", "d", ""}),
		"fewer":   get(Options{}, Rule{"a", "b", "gi"}),
		"match":   get(Options{Match: First}, Rule{"a", "b", "gi"}, Rule{"c", "d", ""}),
		"hold":    get(Options{Hold: 9}, Rule{"a", "b", "gi"}, Rule{"c", "d", ""}),
		"memory":  get(Options{Memory: 9}, Rule{"a", "b", "gi"}, Rule{"c", "d", ""}),
		"borders": get(Options{}, Rule{"a", `b" "`, "gi"}, Rule{"c", "d", ""}),
		"none":    get(Options{}),
	} {
		for _, s := range others {
			if s == other {
				t.Errorf("%s: the same set", name)
			}
		}
		others = append(others, other)
	}
	if got := l.Len(); got != len(others) {
		t.Errorf("%d sets in use, want %d", got, len(others))
	}
	_, err := l.Compile([]Rule{{"(", "", ""}}, Options{})
	if bad, ok := err.(*RuleError); !ok || bad.Part != "find" {
		t.Errorf("%v", err)
	}
	if got := l.Len(); got != len(others) {
		t.Errorf("%d sets in use after an error, want %d", got, len(others))
	}
	runtime.KeepAlive(others)
}

// Sets that nobody uses go, and their entries with them; those in use stay.
func TestLibraryForgets(t *testing.T) {
	var l Library
	rule := func(i int) []Rule { return []Rule{{fmt.Sprintf("(x%d)\\b", i), "<$1>", "g"}} }
	used := make(map[int]*Set)
	for i := range 100 {
		s, err := l.Compile(rule(i), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := replaceIn(s, "x1 x2 x3", 2, 5); got != strings.ReplaceAll("x1 x2 x3", fmt.Sprintf("x%d", i), fmt.Sprintf("<x%d>", i)) {
			t.Fatalf("rule %d makes %q", i, got)
		}
		if i%10 == 0 {
			used[i] = s
		}
	}
	entries := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.sets)
	}
	for try := 0; (l.Len() > len(used) || entries() > len(used)) && try < 100; try++ {
		runtime.GC() // pools keep their set for two or three
		runtime.Gosched()
	}
	if l.Len() != len(used) || entries() != len(used) {
		t.Errorf("%d sets in use, %d entries, want %d", l.Len(), entries(), len(used))
	}
	for i, s := range used {
		if same, err := l.Compile(rule(i), Options{}); same != s || err != nil {
			t.Errorf("set %d is another, %v", i, err)
		}
	}
	runtime.KeepAlive(used)
}

// A set that goes while an equal one takes its place does not take that one's
// entry along.
func TestLibraryForgetsOnlyWhatIsGone(t *testing.T) {
	var l Library
	rules := []Rule{{"a", "b", "g"}}
	s, err := l.Compile(rules, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.forget(keyOf(rules, Options{}.filled())) // as if from the one before
	if same, _ := l.Compile(rules, Options{}); same != s {
		t.Error("the entry of a set in use is gone")
	}
}

// A kernel that is forced is part of what makes a set the one it is.
func TestLibraryKeepsKernelsApart(t *testing.T) {
	var l Library
	rules := []Rule{{"needle", "b", "g"}}
	auto, err := l.Compile(rules, Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := l.Compile(rules, Options{Kernel: prefilter.Plain})
	if err != nil {
		t.Fatal(err)
	}
	if plain.Info().Kernel != prefilter.Plain {
		t.Errorf("asked for plain, got %v", plain.Info().Kernel)
	}
	runtime.KeepAlive(auto)
}

func TestLibraryManyGoroutines(t *testing.T) {
	var l Library
	const goroutines, kinds = 16, 5
	got := make([][kinds]*Set, goroutines)
	var all sync.WaitGroup
	for g := range got {
		all.Go(func() {
			for round := range 50 {
				kind := (g + round) % kinds
				s, err := l.Compile([]Rule{{strings.Repeat("a", kind+1), "b", "g"}}, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if last := got[g][kind]; last != nil && last != s {
					t.Errorf("goroutine %d, kind %d: another set", g, kind)
				}
				got[g][kind] = s
				if round%20 == 0 {
					runtime.GC()
				}
			}
		})
	}
	all.Wait()
	for g := range got {
		if got[g] != got[0] {
			t.Errorf("goroutine %d has other sets", g)
		}
	}
}

// Equal sets are one: ten thousand hosts with the same rules keep one set's
// memory, not more than a pointer each.
func TestLibraryMemory(t *testing.T) {
	var l Library
	hosts := make([]*Set, 10_000)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	compile := func(i int) {
		s, err := l.Compile([]Rule{{`(https?:)?//(www\.)?origin\.example`, "$1//shop.example", "gi"}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		hosts[i] = s
	}
	compile(0)
	before := heap()
	for i := range hosts {
		compile(i)
	}
	if grown, most := heap()-before, int64(256<<10)+int64(len(hosts))*int64(unsafe.Sizeof(hosts[0])); grown > most {
		t.Errorf("%d bytes more for %d equal sets, want at most %d", grown, len(hosts), most)
	}
	runtime.KeepAlive(hosts)
}
