package subst

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"redoubt/proxy/subst/prefilter"
)

// replaceIn feeds a text cut at the given places.
func replaceIn(s *Set, text string, cuts ...int) string {
	t := s.NewStream()
	var out []byte
	from := 0
	for _, cut := range append(cuts, len(text)) {
		out = t.Feed(out, []byte(text[from:cut]))
		from = cut
	}
	return string(t.Finish(out))
}

// streamAtoms are about what rules may hold, over few letters.
var streamAtoms = []string{"a", "b", "c", "[ab]", "[^a]", ".", "(a)", `\b`, `\B`, "^", "$", "(?m)^", "(?m)$", "☃", "é", "[é☃]", `\n`, `(?s:.)`, `\z`, ""}

// byteAtoms are for texts of random bytes.
var byteAtoms = []string{"a", "b", "[ab]", "[^a]", ".", "(?s:.)", `\b`, `\B`, "(?m)^", "☃", "é", "[☀-⛿]", "[à-ÿ]", "[^é]", `\pL`, "(a|)"}

// A case is rules, options and a text; what it is made of follows from a seed.
type streamCase struct {
	seed  uint64
	rules []Rule
	o     Options
	text  string
}

func (c *streamCase) String() string {
	return fmt.Sprintf("seed %d, %+v, rules %q, text %.300q", c.seed, c.o, c.rules, c.text)
}

// memories are caches of 5 states, the fewest; of about 6, 50; and as many as
// one likes.
var memories = []int{1, 2400, 20_000, 0}

// compile gives each case patience of its own kind, mostly little, as texts are
// short; and where anything can be skipped a kernel that does it, worth it or
// not.
func (c *streamCase) compile() (*Set, error) {
	set, err := Compile(c.rules, c.o)
	if err == nil {
		set.skipper = nil
		if kernel := prefilter.Kernel(c.seed / 5 % 5); prefilter.Supported(kernel) { // else none
			o := set.options
			o.Kernel = kernel
			set.skipper = set.program.newSkipper(set.program.signs(set.rules), o)
			if set.skipper != nil {
				set.skipper.loss = never
			}
		}
		set.patience = []patience{usual(), {0, 0, 1, 2, 3, 1, 1}, {0, 0, 2, 3, 200, 10, 2}, {2, 1, 1, 64, never / 100, 10, 3}, {0, 0, 8, 64, 200, 1, 500}}[c.seed%5]
	}
	return set, err
}

// newStreamCase makes a case with up to so many rules and letters.
func newStreamCase(seed uint64, rules, letters int) *streamCase {
	rnd := rand.New(rand.NewPCG(seed, 5))
	c := &streamCase{seed: seed, o: Options{Match: Match(rnd.IntN(2)), Memory: memories[rnd.IntN(len(memories))]}}
	if rnd.IntN(3) == 0 {
		c.o.Hold = 1 + rnd.IntN(12)
	}
	switch rnd.IntN(4) {
	case 0:
		c.rules = randomRules(rnd, asciiAtoms, rules)
		c.text = randomText(rnd, asciiLetters, letters)
	case 1:
		c.rules = randomRules(rnd, runeAtoms, rules)
		c.text = randomText(rnd, runeLetters, letters)
	case 2:
		c.rules = randomRules(rnd, byteAtoms, rules)
		c.text = randomBytes(rnd, letters)
	default:
		c.rules = randomRules(rnd, streamAtoms, rules)
		c.text = randomText(rnd, "aabbc \n☃é", letters)
	}
	return c
}

// randomBytes is up to most bytes: some of ASCII, some of UTF-8, some of neither.
func randomBytes(rnd *rand.Rand, most int) string {
	var b strings.Builder
	for n := rnd.IntN(most + 1); b.Len() < n; {
		switch rnd.IntN(4) {
		case 0:
			b.WriteByte(byte(rnd.IntN(256)))
		case 1:
			b.WriteString([]string{"☃", "é", "\xe2\x98", "\xc3", "\x83\xa9"}[rnd.IntN(5)])
		default:
			b.WriteByte("aab\n "[rnd.IntN(5)])
		}
	}
	return b.String()
}

// randomCuts are places in a text, in order, some twice.
func randomCuts(rnd *rand.Rand, text string) []int {
	one := 2 + rnd.IntN(6)
	if rnd.IntN(3) == 0 {
		one = 50
	}
	var cuts []int
	for at := 0; at <= len(text); at++ {
		for rnd.IntN(one) == 0 {
			cuts = append(cuts, at)
		}
	}
	return cuts
}

// check feeds a case cut at each of some lists of places, in both forms, and
// compares with the reference.
func (c *streamCase) check(t testing.TB, set *Set, lists ...[]int) {
	t.Helper()
	want := refRun(t, c.rules, c.text, c.o)
	f := newFeeder(t, set)
	defer func() {
		if e := recover(); e != nil {
			t.Fatalf("%v: panic: %v", c, e)
		}
	}()
	for _, cuts := range lists {
		got := f.run(c.text, cuts...)
		if got.out != want.out {
			t.Fatalf("%v\ncut at %v\ngot  %q\nwant %q", c, cuts, got.out, want.out)
		}
		if fmt.Sprint(got.matches) != fmt.Sprint(want.matches) {
			t.Fatalf("%v\ncut at %v: matches %v, want %v", c, cuts, got.matches, want.matches)
		}
		if f.fail != "" {
			t.Fatalf("%v\ncut at %v: %s", c, cuts, f.fail)
		}
		if got := replaceIn(set, c.text, cuts...); got != want.out {
			t.Fatalf("%v\ncut at %v\nFeed   %q\nFeedTo %q", c, cuts, got, want.out)
		}
	}
}

// everyCut is whole, in bytes, and cut in two at every place.
func everyCut(text string) [][]int {
	lists := [][]int{nil, everyByte(text)}
	for at := 0; at <= len(text); at++ {
		lists = append(lists, []int{at})
	}
	return lists
}

func TestRandomRulesAtEveryCut(t *testing.T) {
	for round := range rounds(t, 2500) {
		c := newStreamCase(uint64(round), 4, 30)
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		c.check(t, set, everyCut(c.text)...)
	}
}

func TestRandomRulesAtRandomCuts(t *testing.T) {
	for round := range rounds(t, 1200) {
		rnd := rand.New(rand.NewPCG(uint64(round), 6))
		c := newStreamCase(1e6+uint64(round), 20, 60)
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		c.check(t, set, randomCuts(rnd, c.text), randomCuts(rnd, c.text), everyByte(c.text))
	}
}

// Long texts fill up small caches again and again, and let marks come to use.
func TestRandomRulesOnLongTexts(t *testing.T) {
	flushes, simulated := int64(0), 0
	for round := range rounds(t, 60) {
		rnd := rand.New(rand.NewPCG(uint64(round), 7))
		c := newStreamCase(2e6+uint64(round), 1+rnd.IntN(20), 40)
		unit := c.text
		if rnd.IntN(2) == 0 {
			for len(c.text) < 3000 && unit != "" {
				c.text += unit
			}
		} else {
			for len(c.text) < 3000 {
				c.text += newStreamCase(rnd.Uint64(), 1, 400).text
			}
		}
		if c.o.Hold == 0 {
			c.o.Hold = []int{20, 100, 200}[rnd.IntN(3)]
		}
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		c.check(t, set, randomCuts(rnd, c.text), nil, everyByte(c.text))
		flushes += set.flushes.Load()
		if set.simulations.Get() != nil {
			simulated++
		}
	}
	t.Logf("%d flushes, %d sets that simulated, or looked ahead at an end", flushes, simulated)
	if flushes == 0 && !testing.Short() {
		t.Error("no cache was ever flushed")
	}
}

// What is held back is exactly what belongs to an open match.
func TestHeldIsWhatIsOpen(t *testing.T) {
	held := 0
	for round := range rounds(t, 1000) {
		c := newStreamCase(3e6+uint64(round), 4, 30)
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		f := newFeeder(t, set)
		f.afterPiece = func(fed int) {
			want := refHeld(set.program, c.text[:fed], c.o.Match, c.o.filled().Hold)
			if got := f.stream.Held(); got != want {
				t.Fatalf("%v\nafter %d bytes, %q, %d are held, want %d\n%v", c, fed, c.text[:fed], got, want, set.program)
			}
			held += want
		}
		f.run(c.text, everyByte(c.text)...)
		f.run(c.text, randomCuts(rand.New(rand.NewPCG(uint64(round), 8)), c.text)...)
	}
	if held == 0 {
		t.Error("nothing was ever held")
	}
}

// longAtoms leave starts open for long, some of which outlive others.
var longAtoms = []string{"a", "b", "c", "[ab]", "a[^c]*c", "b[^c]*c", "a[^\\n]*\\n", "[^b]*c", "b.{9,20}a", "a.{12,40}c", "ab.{30,90}c", `\ba.*c\b`, "(?m)^.*b$", "(a[^b]*)c", "a.*?c", "c.{33}", "(?s:b.*c)"}

// Starts that are open for long, and searches that begin anew and meet marks of
// those before. Puts show where matches begin.
func TestRandomRulesOfLongMatches(t *testing.T) {
	for round := range rounds(t, 500) {
		c, rnd := newLongCase(uint64(round))
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		c.check(t, set, nil, randomCuts(rnd, c.text))
	}
}

// A simulation goes on from a state of a cache that was given up; what trails
// keep of it must not be the simulation's own memory.
func TestTrailsKeepNoStateThatChanges(t *testing.T) {
	c, rnd := newLongCase(7003189)
	c.o.Memory = 1
	set, err := c.compile()
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		c.check(t, set, randomCuts(rnd, c.text))
	}
}

// ... also where another stream has given up the cache.
func TestStateOfAnOldCacheInATrail(t *testing.T) {
	const text = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaababbababbabbabbabbbbbbbbabbabbabbabbabbbbb<"
	rules := []Rule{{"a*(c|$)", "X", "g"}, {"b.*c", "X", "g"}}
	set, err := Compile(rules, Options{Match: First, Hold: 34, Memory: 1})
	if err != nil {
		t.Fatal(err)
	}
	one, two := set.NewStream(), set.NewStream()
	var got []byte
	for i := range len(text) {
		got = one.Feed(got, []byte{text[i]})
		two.Feed(nil, []byte{text[len(text)-1-i]})
	}
	if got = one.Finish(got); string(got) != text+"X" {
		t.Errorf("%q, want %q", got, text+"X")
	}
}

// Trails, caches that are given up all the time, and simulations: all at once.
func TestRandomRulesOfLongMatchesInTinyCaches(t *testing.T) {
	for round := range rounds(t, 250) {
		c, rnd := newLongCase(7e6 + uint64(round))
		c.o.Memory = []int{1, 2400, 6000}[round%3]
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		c.check(t, set, nil, randomCuts(rnd, c.text), everyByte(c.text), randomCuts(rnd, c.text))
	}
}

// A stream that is reset, wherever it was, begins anew, and others that take
// over what it had been lent are none the worse.
func TestResetAnywhere(t *testing.T) {
	for round := range rounds(t, 400) {
		c := newStreamCase(8e6+uint64(round), 4, 40)
		if round%2 == 0 {
			c, _ = newLongCase(8e6 + uint64(round))
		}
		set, err := c.compile()
		if err != nil {
			t.Fatal(c, err)
		}
		rnd := rand.New(rand.NewPCG(uint64(round), 3))
		want := refReplace(t, c.rules, c.text, c.o)
		streams := []*Stream{set.NewStream(), set.NewStream()}
		for range 5 {
			s := streams[rnd.IntN(2)]
			s.Reset()
			for at, end := 0, rnd.IntN(len(c.text)+1); at < end; {
				piece := []byte(c.text[at:min(end, at+1+rnd.IntN(30))])
				s.FeedTo(piece, func([]byte) {})
				at += len(piece)
				if rnd.IntN(3) == 0 {
					s.Release()
				}
			}
			if rnd.IntN(3) == 0 {
				s.FinishTo(func([]byte) {})
			}
			s.Reset()
			if s.Held() != 0 {
				t.Fatalf("%v: %d held after Reset", c, s.Held())
			}
			if got := string(s.Finish(s.Feed(nil, []byte(c.text)))); got != want {
				t.Fatalf("%v: %q, want %q", c, got, want)
			}
		}
	}
}

func TestFeedAfterFinishPanics(t *testing.T) {
	set, err := Compile([]Rule{{"a", "b", "g"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := set.NewStream()
	s.Finish(nil)
	if out := s.Finish(nil); len(out) != 0 {
		t.Errorf("a second Finish gives %q", out)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	s.Feed(nil, []byte("a"))
}

func newLongCase(seed uint64) (*streamCase, *rand.Rand) {
	rnd := rand.New(rand.NewPCG(seed, 17))
	c := &streamCase{seed: seed, o: Options{Match: Match(rnd.IntN(2)), Hold: []int{40, 64, 65, 100, 150, 1000}[rnd.IntN(6)]}}
	if rnd.IntN(3) == 0 {
		c.o.Memory = memories[rnd.IntN(len(memories))]
	}
	for range 1 + rnd.IntN(5) {
		find := longAtoms[rnd.IntN(len(longAtoms))]
		switch rnd.IntN(4) {
		case 0:
			find += "|" + longAtoms[rnd.IntN(len(longAtoms))]
		case 1:
			find += longAtoms[rnd.IntN(len(longAtoms))]
		}
		c.rules = append(c.rules, Rule{find, fmt.Sprintf("<%d$&>", len(c.rules)), "g"})
	}
	letters := []string{"aaaaaaaaab", "abababab \n", "aabb", "aaaaaaaaaaaaaaaaaaaaaaaaaaac", "bbbbbbbbbba\n"}[rnd.IntN(5)]
	for len(c.text) < 100+rnd.IntN(300) {
		unit := randomText(rnd, letters, 12)
		c.text += strings.Repeat(unit, 1+rnd.IntN(8))
		if rnd.IntN(8) == 0 {
			c.text += "c"
		}
	}
	return c, rnd
}
