package subst

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// Work is counted in steps: bytes that a search has gone over. Each byte is one,
// and so are those that it goes over again.

// effort is what a stream has done per byte of a text.
type effort struct {
	steps  float64
	copied float64 // bytes of what was held back, moved to other memory
}

// effortOf feeds a text in pieces of one size, as long as it seems to lead
// somewhere.
func effortOf(t testing.TB, rules []Rule, o Options, text string, size int) effort {
	t.Helper()
	set, err := Compile(rules, o)
	if err != nil {
		t.Fatal(err)
	}
	s := set.NewStream()
	var memory uintptr // the end of what kept lies in
	copied, fed := 0, 0
	for fed < len(text) {
		piece := text[fed:min(fed+size, len(text))]
		fed += len(piece)
		s.FeedTo([]byte(piece), func([]byte) {})
		if kept := s.search.text.kept; len(kept) > 0 {
			end := uintptr(unsafe.Pointer(unsafe.SliceData(kept))) + uintptr(cap(kept))
			if copied += min(len(kept), len(piece)); end != memory {
				memory, copied = end, copied+len(kept)
			}
		}
		if s.search.steps > 1000*int64(fed+10_000) {
			break
		}
	}
	s.FinishTo(func([]byte) {})
	return effort{float64(s.search.steps) / float64(fed), float64(copied) / float64(fed)}
}

func TestNothingIsQuadratic(t *testing.T) {
	n := 1 << 18
	if testing.Short() || raceEnabled {
		n = 1 << 14
	}
	long := func(unit string) string { return strings.Repeat(unit, n/len(unit)) }
	rule := func(finds ...string) []Rule {
		rules := make([]Rule, len(finds))
		for i, find := range finds {
			rules[i] = Rule{find, "X", "g"}
		}
		return rules
	}
	// kinds begin each with a letter, and a match of one letter comes first.
	kinds := func(n int) []Rule {
		finds := []string{"[a-c]"}
		for i := range n {
			finds = append(finds, fmt.Sprintf("%c[^\n]*<%d", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[i], i))
		}
		return rule(finds...)
	}
	letters := func(from string, n int, seed uint64) string {
		rnd := rand.New(rand.NewPCG(seed, 0))
		text := make([]byte, n)
		for i := range text {
			text[i] = from[rnd.IntN(len(from))]
		}
		return string(text)
	}
	tests := []struct {
		why   string
		rules []Rule
		hold  int
		text  string
	}{
		{"every a is a match, when the long one has failed", rule("a", "a[^<]*<"), 0, long("a") + long("a") + long("a") + long("a")},
		{"... and the limit is out of reach", rule("a", "a[^<]*<"), 2 * n, long("a")},
		{"... and it does not fail at all", rule("a", "a[^<]*<"), 2 * n, long("a") + "<"},
		{"one start after the other is given up", rule("a[^<]*<"), 100, long("a")},
		{"... at the default limit", rule("a[^<]*<"), 8192, long("a")},
		{"... with a match in between", rule("a[^<]*<", "b"), 8192, long("ab")},
		{"... and a rare one", rule("a[^<]*<", "b"), 1000, long(strings.Repeat("a", 50) + "b")},
		{"no start is none", rule(".*<"), 1000, long("a")},
		{"two ways through each a", rule("(a|aa)*b"), 0, long("a")},
		{"... that end well", rule("(a|aa)*b"), 0, long(strings.Repeat("a", 5000) + "b")},
		{"... or a letter later", rule("(a|aa)*b"), 0, long(strings.Repeat("a", 5000) + "c")},
		{"nested stars", rule("((a*)*)*b"), 0, long("a")},
		{"a thousand matches per KB", rule("a"), 0, long("a")},
		{"a thousand empty ones", rule("x*"), 0, long("a")},
		{"five hundred", rule("ab", "b[^<]*<"), 0, long("ab")},
		{"two kinds of starts in turn", rule("a[^<]*<", "b[^<]*<"), 1000, long("aab")},
		{"... at the default limit", rule("a[^<]*<", "b[^<]*<"), 0, long("aab")},
		{"... that are far apart", rule(`"[^\n]*foo`, `'[^\n]*foo`), 0, long(`"k":'v',`)},
		{"ten kinds, and matches", kinds(10), 0, strings.Repeat(letters("abcdefghij", n/8, 1), 8)},
		{"twenty kinds", kinds(20)[1:], 0, letters("abcdefghijklmnopqrst", n/4, 2)},
		{"kinds that become one", rule("a[^<]{3}[^<]*<", "b[^<]*<", "[ab]"), 0, letters("ab", n, 3)},
		{"a match that stays open", rule("<[^>]*>"), 2 * n, "<" + long("a")},
		{"matches of many lengths", rule("<[^>]*>", "[a-z]+"), 0, long("<a b c> d <e")},
	}
	const most = 80
	for _, test := range tests {
		for _, mode := range []Match{Longest, First} {
			for _, memory := range []int{0, 1} {
				for _, size := range []int{16 << 10, 1} {
					o := Options{Match: mode, Hold: test.hold, Memory: memory}
					text := test.text
					if memory == 1 || size == 1 {
						text = text[:len(text)/8] // simulations are slow
					}
					e := effortOf(t, test.rules, o, text, size)
					t.Logf("%s, %+v, pieces of %d: %.1f steps and %.1f copied", test.why, o, size, e.steps, e.copied)
					if e.steps > most || e.copied > 20 {
						t.Errorf("%s: %v on %.20q..., %+v, in pieces of %d: %.1f steps a byte, and %.1f bytes copied", test.why, test.rules, text, o, size, e.steps, e.copied)
					}
				}
			}
		}
	}
}

// What is held is moved rarely, whatever the sizes of pieces and of memory that
// they lead to.
func TestHeldBytesAreMovedRarely(t *testing.T) {
	for _, hold := range []int{100, 1000, 8192} {
		for _, firstPiece := range []int{1, hold - 1, hold, hold + 1, 2 * hold} {
			set, err := Compile([]Rule{{"a[^<]*<", "", "g"}}, Options{Hold: hold})
			if err != nil {
				t.Fatal(err)
			}
			s := set.NewStream()
			s.FeedTo([]byte(strings.Repeat("a", firstPiece)), func([]byte) {})
			var memory uintptr
			copied, n := 0, 3*hold
			for range n {
				s.FeedTo([]byte("a"), func([]byte) {})
				kept := s.search.text.kept
				if end := uintptr(unsafe.Pointer(unsafe.SliceData(kept))) + uintptr(cap(kept)); end != memory {
					memory, copied = end, copied+len(kept)
				}
			}
			if copied > 20*n {
				t.Errorf("hold %d, first piece %d: %d bytes copied for each that was fed", hold, firstPiece, copied/n)
			}
		}
	}
}

// A match of 16 MB, under a limit of 32 MB.
func TestLargeOpenMatch(t *testing.T) {
	n := 16 << 20
	if testing.Short() || raceEnabled {
		n = 1 << 20
	}
	text := "<" + strings.Repeat("a", n)
	for _, size := range []int{16 << 10, 1 << 20} {
		e := effortOf(t, []Rule{{"<[^>]*>", "", "g"}, {"a", "b", ""}}, Options{Hold: 2 * n}, text, size)
		t.Logf("pieces of %d: %+v", size, e)
		if e.steps > 80 || e.copied > 20 {
			t.Errorf("pieces of %d: %.1f steps a byte, and %.1f bytes copied", size, e.steps, e.copied)
		}
	}
}

// A simulation's step goes over each node at most a few times, whatever it is in
// the middle of; and its steps are as few.
func TestSimulationIsLinear(t *testing.T) {
	n := 12_000
	if testing.Short() || raceEnabled {
		n = 2000
	}
	rnd := rand.New(rand.NewPCG(11, 12))
	var letters strings.Builder
	for letters.Len() < n {
		letters.WriteByte("abcxyz@ "[rnd.IntN(8)])
	}
	tests := []struct {
		why   string
		rules []Rule
		texts []string
		most  float64 // steps a byte
	}{
		{"nested counts", []Rule{{"((a{1,10}){1,10}){1,10}b", "X", "g"}}, []string{strings.Repeat("a", n), letters.String()}, 80},
		{"... of more than one letter", []Rule{{"(([ab]{1,10}c?){1,10}x?){1,10}@", "X", "g"}}, []string{strings.Repeat("aabc", n/4), letters.String()}, 80},
		{"every letter begins a long one", []Rule{{"[a-z].{1,1000}@@", "X", "g"}}, []string{strings.Repeat("a", n), letters.String()}, 80},
		// A count tells a search from the one before: it goes all the way again.
		{"begun anew after each match", []Rule{{"[a-z].{1,200}@@", "X", "g"}, {"x", "Y", "g"}}, []string{strings.Repeat("xab", n/3), strings.Repeat("x", n)}, 210},
	}
	for _, test := range tests {
		for _, mode := range []Match{Longest, First} {
			for i, text := range test.texts {
				set, err := Compile(test.rules, Options{Match: mode, Memory: 64 << 10})
				if err != nil {
					t.Fatal(err)
				}
				s := set.NewStream()
				most, simulated := 0, 0
				for at := range len(text) {
					s.FeedTo([]byte(text[at:at+1]), func([]byte) {})
					most = max(most, len(s.search.state.nodes))
					if s.search.simulation != nil {
						simulated++
					}
					if s.search.steps > 2000*int64(at+1000) {
						t.Logf("stopped at %d", at)
						break
					}
				}
				steps := float64(s.search.steps) / float64(s.search.text.end)
				t.Logf("%s, text %d, mode %d: %.1f steps a byte, %.0f%% simulated, up to %d of %d nodes, %d groups", test.why, i, mode, steps,
					100*float64(simulated)/float64(len(text)), most, len(set.program.nodes), len(s.search.starts))
				if most > len(set.program.nodes) {
					t.Errorf("%s: a state of %d nodes, but there are %d", test.why, most, len(set.program.nodes))
				}
				if steps > test.most {
					t.Errorf("%s, text %d, mode %d: %.1f steps a byte", test.why, i, mode, steps)
				}
			}
		}
	}
}

// What went well for long does not allow for much that does not.
func TestEasyTextSavesUpLittle(t *testing.T) {
	n := 4 << 20
	if raceEnabled {
		n = 1 << 19
	}
	set, err := Compile([]Rule{{"a", "X", "g"}, {"a[^<]*<", "X", "g"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := set.NewStream()
	s.FeedTo([]byte(strings.Repeat("b", n)), func([]byte) {})
	before := s.Stats().Steps
	s.FeedTo([]byte(strings.Repeat("a", 16<<10)), func([]byte) {})
	if steps := s.Stats().Steps - before; steps > 600_000 {
		t.Errorf("%d steps for 16 KB", steps)
	}
}
