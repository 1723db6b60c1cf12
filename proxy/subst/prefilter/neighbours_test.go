package prefilter

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestClasses(t *testing.T) {
	if len(named) != controls {
		t.Errorf("%d classes have names, not %d", len(named), controls)
	}
	for i := range named {
		if class := classOf(named[i]); class != i {
			t.Errorf("%q is of class %d, not %d", named[i], class, i)
		}
	}
	for class, bytes := range map[int]string{
		classOf('A'): "BZ", classOf('0'): "19", classOf('\n'): "\r", classOf('@'): "^~",
		controls: "\x00\b\x1f\x7f", continuation: "\x80\xbf", lead: "\xc0\xff",
	} {
		for i := range len(bytes) {
			if got := classOf(bytes[i]); got != class {
				t.Errorf("%q is of class %d, not %d", bytes[i], got, class)
			}
		}
	}
}

func TestFollows(t *testing.T) {
	for i, row := range follows {
		sum := 0.0
		for j := range len(row) {
			level := strings.IndexByte(levels, row[j])
			if level < 0 {
				t.Errorf("row %d has %q", i, row[j])
			}
			sum += math.Pow(2, -float64(level)/2)
		}
		if len(row) != classes || math.Abs(sum-1) > 0.17 {
			t.Errorf("row %d: %d classes, they make %g", i, len(row), sum)
		}
	}
}

// Above 1, a place more would make a rate rise.
func TestMeansAreOne(t *testing.T) {
	b := newNeighbours()
	var share [classes]float64
	for c, n := range frequencies {
		share[b.class[c]] += float64(n) / million
	}
	for i := range classes {
		front, behind := 0.0, 0.0
		for j := range classes {
			front += share[j] * b.lift[i][j]
			behind += share[j] * b.lift[j][i]
		}
		for _, mean := range []float64{front, behind} {
			if mean < 0.97 || mean > 1+1e-12 {
				t.Errorf("class %d: %g, %g", i, front, behind)
			}
		}
	}
}

// What was counted in the files that the tables are from.
func TestRateCounted(t *testing.T) {
	const (
		digit = "0123456789"
		upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		lower = "abcdefghijklmnopqrstuvwxyz"
	)
	high := Set{2: ^uint64(0), 3: ^uint64(0)}
	four := func(s Set) Window { return Window{s, s, s, s} }
	for _, test := range []struct {
		name    string
		window  Window
		counted float64
	}{
		{"e", literal("e"), 0.0625},
		{"[0-9]{2}", Window{setOf(digit), setOf(digit)}, 0.0284},
		{"[0-9]{4}", four(setOf(digit)), 0.0132},
		{`[0-9]\.[0-9]{2}`, Window{setOf(digit), setOf("."), setOf(digit), setOf(digit)}, 0.00063},
		{"20[0-2][0-9]", Window{setOf("2"), setOf("0"), setOf("012"), setOf(digit)}, 0.00013},
		{"blanks", literal("    "), 0.0284},
		{"white space", four(setOf(" \t\r\n\f")), 0.0371},
		{`="[a-z]`, Window{setOf("="), setOf(`"`), setOf(lower)}, 0.0048},
		{`me="`, literal(`me="`), 0.00009},
		{"</[a-z]", Window{setOf("<"), setOf("/"), setOf(lower)}, 0.0085},
		{"[a-z]{4}", four(setOf(lower)), 0.2184},
		{"[A-Z]{4}", four(setOf(upper)), 0.0065},
		{`\w{4}`, four(setOf(digit + upper + lower + "_")), 0.3013},
		{"[0-9a-f]{4}", four(setOf(digit + "abcdef")), 0.0200},
		{`[\x80-\xff]{4}`, four(high), 0.0139},
		{"(?i)the", Window{setOf("Tt"), setOf("Hh"), setOf("Ee")}, 0.0027},
		{"qu", literal("qu"), 0.00067},
		{"ing", literal("ing "), 0.00085},
		{" [A-Z][a-z]{2}", Window{setOf(" "), setOf(upper), setOf(lower), setOf(lower)}, 0.0028},
	} {
		if ratio := test.window.rate() / test.counted; ratio < 1.0/3 || ratio > 3 {
			t.Errorf("%s: %g times as often as counted", test.name, ratio)
		}
	}
}

// With more bytes in a set a rate does not fall; with more places, at either
// end, it does not rise.
func TestRateIsMonotone(t *testing.T) {
	const rounding = 1 + 1e-9
	rnd := random(t)
	pick := func() Set {
		if rnd.IntN(8) == 0 {
			return full
		}
		return randomSet(rnd, rnd.IntN(2) == 0)
	}
	for range 20000 {
		var stretch []Set
		for range 1 + rnd.IntN(12) {
			stretch = append(stretch, pick())
		}
		rate := Rate(stretch)
		if !(rate >= 0 && rate <= 1) {
			t.Fatalf("%g for %x", rate, stretch)
		}
		if again := Rate(slices.Clone(stretch)); again != rate {
			t.Fatalf("%g, then %g for %x", rate, again, stretch)
		}
		wider := slices.Clone(stretch)
		k, more := rnd.IntN(len(stretch)), pick()
		wider[k].join(&more)
		if r := Rate(wider); r*rounding < rate {
			t.Fatalf("%g, with %x at %d %g: %x", rate, more, k, r, stretch)
		}
		for _, longer := range [][]Set{append(slices.Clone(stretch), more), append([]Set{more}, stretch...)} {
			if r := Rate(longer); r > rate*rounding {
				t.Fatalf("%g, with a place more %g: %x", rate, r, longer)
			}
		}
	}
}
