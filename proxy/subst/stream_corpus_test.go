package subst

import (
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
)

// Run the whole of re2-exhaustive.txt.bz2 and not one expression in 997:
//
//	go test ./proxy/subst -run StreamOnRE2Exhaustive -exhaustive -timeout 2h -v
var exhaustive = flag.Bool("exhaustive", false, "test with all of re2-exhaustive.txt.bz2")

// What no text of the corpora has in it.
const beginMark, endMark = "<\x01\x03<", ">\x03\x01>"

// streamFinder asks streams for corpora's answers.
type streamFinder struct {
	t    testing.TB
	cuts func(text string) [][]int

	rule Rule
	sets [2]*Set // by match mode
	feed [2]*feeder
	runs int

	compiled, skipping int
}

// find is the first match, found the same way for all cuts.
func (f *streamFinder) find(rule Rule, text string, mode Match) [2]int {
	rule.Put, rule.Flags = beginMark+"$&"+endMark, strings.ReplaceAll(rule.Flags, "g", "")
	if f.rule != rule || f.sets[mode] == nil {
		if f.rule != rule {
			f.rule, f.sets = rule, [2]*Set{}
		}
		set, err := Compile([]Rule{rule}, Options{Match: mode})
		if err != nil {
			f.t.Fatalf("%q: %v", rule.Find, err)
		}
		if f.compiled++; f.compiled%2 == 0 { // skip and keep trails, whether that is worth it or not
			set.patience = patience{0, 0, 1, 4, 50, 1, 2}
			if set.skipper = set.program.newSkipper(set.program.signs(set.rules), set.options); set.skipper != nil {
				set.skipper.loss = never
				f.skipping++
			}
		}
		f.sets[mode], f.feed[mode] = set, newFeeder(f.t, set)
	}
	var first string
	for i, cuts := range f.cuts(text) {
		f.runs++
		out := f.feed[mode].run(text, cuts...).out
		if broken := f.feed[mode].fail; broken != "" {
			f.t.Errorf("%q on %q, mode %d, cut at %v: %s", rule.Find, text, mode, cuts, broken)
			f.feed[mode].fail = ""
		}
		switch {
		case i == 0:
			first = out
		case out != first:
			f.t.Errorf("%q on %q, mode %d, cut at %v: %q, whole %q", rule.Find, text, mode, cuts, out, first)
		}
	}
	return markedSpan(f.t, first, text)
}

// markedSpan is what lies between the marks in a text.
func markedSpan(t testing.TB, out, text string) [2]int {
	if out == text {
		return [2]int{-1, -1}
	}
	before, rest, marked := strings.Cut(out, beginMark)
	if within, after, ok := strings.Cut(rest, endMark); marked && ok && before+within+after == text {
		return [2]int{len(before), len(before) + len(within)}
	}
	t.Errorf("%q is not %q with a match marked", out, text)
	return [2]int{-2, -2}
}

func TestStreamOnRE2Search(t *testing.T) {
	var tally corpusTally
	f := streamFinder{t: t, cuts: everyCut}
	for g := range re2Groups(t, "re2-search.txt", 0, 1) {
		tally.checkGroup(t, g, f.find)
	}
	tally.log(t)
	t.Logf("%d runs of streams, %d of %d sets skip", f.runs, f.skipping, f.compiled)
}

func TestStreamOnRE2Exhaustive(t *testing.T) {
	from, n := 7, 997
	switch {
	case *exhaustive:
		from, n = 0, 1
	case testing.Short():
		t.Skip("unpacks 59 MB")
	}
	var tally corpusTally
	rnd := rand.New(rand.NewPCG(9, 10))
	f := streamFinder{t: t, cuts: func(text string) [][]int {
		return [][]int{nil, everyByte(text), {rnd.IntN(len(text) + 1)}}
	}}
	for g := range re2Groups(t, "re2-exhaustive.txt.bz2", from, n) {
		tally.checkGroup(t, g, f.find)
	}
	tally.log(t)
	t.Logf("%d runs of streams, %d of %d sets skip", f.runs, f.skipping, f.compiled)
}

func TestStreamOnPOSIX(t *testing.T) {
	for _, name := range []string{"basic.dat", "nullsubexpr.dat", "repetition.dat"} {
		t.Run(name, func(t *testing.T) {
			var tally corpusTally
			f := streamFinder{t: t, cuts: everyCut}
			for g := range posixGroups(t, name) {
				tally.checkGroup(t, g, f.find)
			}
			tally.log(t)
			t.Logf("%d runs of streams, %d of %d sets skip", f.runs, f.skipping, f.compiled)
		})
	}
}
