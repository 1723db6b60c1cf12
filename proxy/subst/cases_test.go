package subst

import (
	"slices"
	"strings"
	"testing"
)

// Cases that others have got wrong, each at every cut.

// want replaces in a text, whole, in bytes and cut in two at every place, with
// a cache that is large and one that is tiny.
func want(t *testing.T, o Options, text, want string, rules ...Rule) {
	t.Helper()
	for _, memory := range []int{0, 1} {
		o.Memory = memory
		set, err := Compile(rules, o)
		if err != nil {
			t.Fatal(err)
		}
		f := newFeeder(t, set)
		for _, cuts := range everyCut(text) {
			if got := f.run(text, cuts...).out; got != want {
				t.Errorf("%q on %q, %+v, cut at %v: %q, want %q", rules, text, o, cuts, got, want)
			}
			if f.fail != "" {
				t.Errorf("%q on %q, %+v, cut at %v: %s", rules, text, o, cuts, f.fail)
			}
		}
	}
	if got := refReplace(t, rules, text, o); got != want {
		t.Errorf("%q on %q, %+v: the reference makes %q of it, want %q", rules, text, o, got, want)
	}
}

var (
	longest = Options{Match: Longest}
	first   = Options{Match: First}
)

func TestLiteralCutAnywhere(t *testing.T) {
	const text = "text that will-be-replaced-text, and more will-be-replaced-tex"
	want(t, longest, text, "text that REPLACED, and more will-be-replaced-tex", Rule{"will-be-replaced-text", "REPLACED", "g"})
	want(t, first, text, "text that REPLACED, and more will-be-replaced-tex", Rule{"will-be-replaced-text", "REPLACED", "gl"})
}

func TestPerlPreferenceOverLines(t *testing.T) {
	want(t, first, "ABCabcABC\nABCabcABC\n", "XABC\nXABC\n", Rule{"(a.+?c){2}", "X", "gi"})
}

func TestBeginningIsThereOnce(t *testing.T) {
	want(t, longest, "12345", "X12345", Rule{"^", "X", "g"})
	want(t, first, "12345", "X2345", Rule{"^1", "X", "g"})
	want(t, longest, "1111", "X111", Rule{"^1", "X", "g"})
}

func TestLinesBegin(t *testing.T) {
	const text = "abc\ndef\nxyz"
	set, err := Compile([]Rule{{"(?m)^", ">", "g"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var starts []int
	set.FindAll([]byte(text), func(start, end, _ int) bool {
		starts = append(starts, start)
		return true
	})
	if !slices.Equal(starts, []int{0, 4, 8}) {
		t.Errorf("lines begin at %v, want 0, 4, 8", starts)
	}
	want(t, longest, text, ">abc\n>def\n>xyz", Rule{"(?m)^", ">", "g"})
	want(t, first, text, "abc<\ndef<\nxyz<", Rule{"(?m)$", "<", "g"})
	want(t, longest, "\n\n", "<>\n<>\n<>", Rule{"(?m)^", "<>", "g"})
}

func TestEmptyMatchesAsGo(t *testing.T) {
	for _, c := range []struct{ find, text string }{{"a?|b", "aba"}, {"[a-z]*", "aaa00bbb"}, {"x*", "☃"}, {"x*", ""}, {"(?:)", "aé☃😀"}, {`\b`, "ab cd"}, {"a*", "baac"}} {
		r := Rule{c.find, "[$&]", "g"}
		want(t, longest, c.text, stdReplace(t, r, c.text, Longest), r)
		want(t, first, c.text, stdReplace(t, r, c.text, First), r)
	}
	want(t, first, "aba", "XbX", Rule{"a?|b", "X", "g"})
	want(t, longest, "aba", "XXX", Rule{"a?|b", "X", "g"})
	want(t, longest, "aaa00bbb", "X0X0X", Rule{"[a-z]*", "X", "g"})
	want(t, longest, "☃", "X☃X", Rule{"x*", "X", "g"})
}

func TestSpaceAtBeginningLosesAndDoublesNothing(t *testing.T) {
	const text = "any gosh darn string"
	want(t, longest, text, text, Rule{`^\s*`, "", "g"})
	want(t, first, text, text, Rule{`^\s*`, "$&", "g"})
	want(t, longest, "  \t"+text, text, Rule{`^\s*`, "", "g"})
}

func TestBinaryComesOutAsItIs(t *testing.T) {
	const pdf = "\x25\x50\x44\x46\xff\xfe\x80"
	want(t, longest, pdf, "xxxxxxx", Rule{"(?s).", "x", "g"})
	want(t, longest, pdf, pdf, Rule{"☃", "x", "g"})
	want(t, first, pdf, pdf, Rule{"(?s)(.)", "$1", "g"})
}

func TestLongerRuleAroundAnother(t *testing.T) {
	want(t, longest, "abcd", "1", Rule{"abcd", "1", "g"}, Rule{"bc", "2", "g"})
	want(t, longest, "abcd", "1", Rule{"bc", "2", "g"}, Rule{"abcd", "1", "g"})
	want(t, longest, "abce", "a2e", Rule{"abcd", "1", "g"}, Rule{"bc", "2", "g"})
}

func TestFirstModeLeftmostThenEarlier(t *testing.T) {
	want(t, first, "abc", "1c", Rule{"bc", "2", "g"}, Rule{"ab", "1", "g"})
	want(t, first, "abc", "2c", Rule{"abX", "1", "g"}, Rule{"ab", "2", "g"})
	want(t, first, "abX", "1", Rule{"abX", "1", "g"}, Rule{"ab", "2", "g"})
	want(t, first, "abX", "2X", Rule{"ab", "2", "g"}, Rule{"abX", "1", "g"})
}

func TestRuleThatActsOnceShields(t *testing.T) {
	want(t, longest, "ab ab b", "X ab Y", Rule{"ab", "X", ""}, Rule{"b", "Y", "g"})
	want(t, first, "ab ab b", "X ab Y", Rule{"ab", "X", ""}, Rule{"b", "Y", "g"})
}

func TestGroupsInTrueContext(t *testing.T) {
	want(t, longest, "axfoo", "a[|xfoo]", Rule{`(\bx|)(x?foo)`, "[$1|$2]", "g"})
	want(t, first, "axfoo xfoo", "a[|xfoo] [x|foo]", Rule{`(\bx|)(x?foo)`, "[$1|$2]", "g"})
}

func TestHoldLimitActsAtStartPlusLimit(t *testing.T) {
	o := func(m Match, hold int) Options { return Options{Match: m, Hold: hold} }
	want(t, o(Longest, 3), "abaz", "abX", Rule{"a[^z]*z", "X", "g"})
	want(t, o(First, 3), "abaz", "abX", Rule{"a[^z]*z", "X", "g"})
	want(t, o(Longest, 2), "aaaaa", "XXX", Rule{"a+", "X", "g"})
	want(t, o(First, 2), "abc", "Xc", Rule{"a.*c|ab", "X", "g"})
	want(t, o(Longest, 2), "aaa aa", "aX X", Rule{`aa\b`, "X", "g"})
	want(t, o(Longest, 1), "aé☃b", "Xé☃b", Rule{"a|☃", "X", "g"})
	want(t, o(Longest, 4), strings.Repeat("abcd", 5)+"abcde", strings.Repeat("abcd", 5)+"aX", Rule{"bcd.*e|x", "X", "g"})
}

// A younger match waits for older starts, which are given up one after the other
// by going to where the one before had come to: the match comes along.
func TestMatchThatWaitsForManyGivenUp(t *testing.T) {
	rules := []Rule{{"a[^c\n]*c", "A", "g"}, {"bd([^e\n]*e)?", "<$&>", "g"}, {"p[^q\n]*q([^e\n]*e)?", "{$&}", "g"}}
	for starts := 1; starts <= 5; starts++ {
		for _, before := range []int{31, 40, 50} {
			for after := 8; after < 36; after++ {
				text := strings.Repeat("a", starts) + "pbd" + strings.Repeat("x", before) + "q" + strings.Repeat("x", after) + "\nbde"
				if after%2 == 0 {
					text = strings.Repeat("a", starts) + strings.Repeat("x", before) + "bd" + strings.Repeat("x", after) + "\nbde"
				}
				for _, mode := range []Match{Longest, First} {
					o := Options{Match: mode, Hold: 60}
					set, err := Compile(rules, o)
					if err != nil {
						t.Fatal(err)
					}
					want := refReplace(t, rules, text, o)
					for _, cuts := range [][]int{nil, {starts + before + 3}, everyByte(text)} {
						if got := replaceIn(set, text, cuts...); got != want {
							t.Fatalf("%q, %+v, cut at %v: %q, want %q", text, o, cuts, got, want)
						}
					}
				}
			}
		}
	}
}
