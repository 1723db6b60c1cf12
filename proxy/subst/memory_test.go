package subst

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// A body that has come to its end leaves nothing, once what was emitted is
// released.
func TestFinishedStreamHoldsNothing(t *testing.T) {
	set, err := Compile([]Rule{{"a[^<]*<", "", "g"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := set.NewStream()
	s.FeedTo([]byte(strings.Repeat("a", 8000)), func([]byte) {})
	s.FinishTo(func([]byte) {})
	if s.emitted == nil {
		t.Error("what was emitted is gone before it is released")
	}
	s.Release()
	if s.buffer != nil || s.emitted != nil || s.Held() != 0 {
		t.Errorf("%v, %v, %d held", s.buffer, s.emitted, s.Held())
	}
}

// heap is how much memory is in use.
func heap() int {
	runtime.GC()
	runtime.GC() // what pools held is gone by now
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// manyRules are rules of the usual kinds.
func manyRules(n int) []Rule {
	kinds := []string{`https?://(www\.)?example%d\.com`, `<a%d[^>]*>`, `\bword%d\b`, `(key%d)="([^"]*)"`, `[a-f0-9]{8}-%d`}
	rules := make([]Rule, n)
	for i := range rules {
		rules[i] = Rule{fmt.Sprintf(kinds[i%len(kinds)], i), "X", "g"}
	}
	return rules
}

// A stream that waits takes 1 KB, and up to three times what it holds. One that
// follows starts alone takes 2 KB more, for trails, and one that simulates some
// bytes for each node.
func TestIdleStreamIsSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	held := strings.Repeat("a", 8000)
	tests := []struct {
		why    string
		rules  []Rule
		o      Options
		pieces []string
	}{
		{"one rule, fresh", []Rule{{"a[^<]*<", "", "g"}}, Options{}, nil},
		{"one rule, nothing held", []Rule{{"a[^<]*<", "", "g"}}, Options{}, []string{"bbb"}},
		{"one rule, little held", []Rule{{"a[^<]*<", "", "g"}}, Options{}, []string{"ba"}},
		{"one rule, much held", []Rule{{"a[^<]*<", "", "g"}}, Options{}, []string{held}},
		{"one rule, much held in pieces", []Rule{{"a[^<]*<", "", "g"}}, Options{}, []string{held[:3000], held[:3000], held[:2000]}},
		{"one rule, much held once", []Rule{{"a[^<]*<", "", "g"}}, Options{}, []string{held, "<"}},
		{"one rule, much given up", []Rule{{"a[^<]*<", "", "g"}}, Options{}, []string{held, held, "<b"}},
		{"thirty rules, nothing held", manyRules(30), Options{}, []string{"some text, and more of it"}},
		{"a hundred rules, nothing held", manyRules(100), Options{}, []string{"some text, and more of it"}},
		{"a hundred rules, much held", manyRules(100), Options{}, []string{`key3="` + held}},
		{"followed alone, in vain", []Rule{{"[a-z].{1,200}@@", "X", "g"}, {"x", "Y", "g"}}, Options{}, []string{strings.Repeat("x", 20_000)}},
		{"... and one after the other", []Rule{{"a", "X", "g"}, {"a[^<]*<", "Y", "g"}}, Options{}, []string{held, held}},
		{"simulated", []Rule{{"[a-z].{1,1000}@@", "", "g"}}, Options{Memory: 1}, []string{held[:2000]}},
		{"simulated, nothing held", []Rule{{"[a-z].{1,1000}@@", "", "g"}}, Options{Memory: 1}, []string{held[:2000], "\n\n"}},
	}
	for _, test := range tests {
		set, err := Compile(test.rules, test.o)
		if err != nil {
			t.Fatal(err)
		}
		feed := func(s *Stream) {
			for _, piece := range test.pieces {
				s.FeedTo([]byte(piece), func([]byte) {})
			}
			s.Release()
		}
		feed(set.NewStream())
		n := 10_000
		switch {
		case test.o.Memory > 0: // slow
			n = 50
		case len(test.pieces) > 0 && len(test.pieces[0]) > 1000:
			n = 500
		}
		streams := make([]*Stream, n)
		before := heap()
		for i := range streams {
			streams[i] = set.NewStream()
			feed(streams[i])
		}
		each := (heap() - before) / n
		one := streams[0]
		buffers := 0
		for _, b := range []*buffer{one.buffer, one.emitted} {
			if b != nil {
				buffers += cap(b.bytes) + 24
			}
		}
		t.Logf("%s: %d bytes, %d of them for the stream itself and %d to hold, %d held", test.why, each, unsafe.Sizeof(*one), buffers, one.Held())
		if most := 3*one.Held() + 100; buffers > most {
			t.Errorf("%s: buffers of %d bytes, want at most %d", test.why, buffers, most)
		}
		most := 1024
		if one.search.simulation != nil { // what it knows of nodes, and of open starts
			most = 120 * len(set.program.nodes)
		}
		if one.search.trails != nil { // useful ones
			most += 2 << 10
		}
		if each-buffers > most {
			t.Errorf("%s: %d bytes besides %d to hold, want %d", test.why, each-buffers, buffers, most)
		}
		runtime.KeepAlive(streams)
	}
}

// All that a Set caches fits in its memory, whatever texts do.
func TestCacheKeepsItsLimit(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	size := 1 << 18
	if testing.Short() {
		size = 1 << 17
	}
	rnd := rand.New(rand.NewPCG(13, 14))
	text := make([]byte, size)
	for i := range text {
		text[i] = "aaaabbcx@<>\" 01\n\xe2\x98\x83"[rnd.IntN(19)]
	}
	tests := []struct {
		why   string
		rules []Rule
	}{
		{"counts", []Rule{{"[ab].{1,30}x", "", "g"}, {"a[^x]{3,20}b", "", "g"}}},
		{"many open starts", []Rule{{"[a-z].{1,50}@@", "", "g"}}},
		{"exponentially many states", []Rule{{"(a|b).{14}c", "", "g"}, {"b.{11}a", "", "g"}}},
		{"many rules", manyRules(100)},
		{"many classes", []Rule{{`[[:alpha:]].{1,9}☃|\pL{3}é|[0-9]\b.{5}x|[a-c]x@<?>"`, "", "g"}, {"(?i)[acegikmoqsuwy].{0,12}[bdfhjlnprtvxz]@", "", "g"}}},
		{"many actions", []Rule{{".", "", "g"}, {"..{3,30}<", "", "g"}}},
	}
	for _, test := range tests {
		for _, memory := range []int{100_000, 0} {
			before := heap()
			set, err := Compile(test.rules, Options{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			fixed := heap() - before
			s := set.NewStream()
			most := 0
			for at := 0; at < len(text); at += len(text) / 16 {
				s.FeedTo(text[at:at+len(text)/16], func([]byte) {})
				most = max(most, heap()-before-fixed)
			}
			limit := set.Options().Memory
			t.Logf("%s: up to %d KB of %d, %d flushes, %d nodes, %d classes", test.why, most>>10, limit>>10, s.Stats().Flushes, len(set.program.nodes), len(set.program.classes))
			// A stream, what steppers know of nodes, and rounding.
			if slack := 64<<10 + 64*len(set.program.nodes); most > limit+slack {
				t.Errorf("%s: %d bytes where %d are allowed", test.why, most, limit)
			}
			runtime.KeepAlive(s)
		}
	}
}
