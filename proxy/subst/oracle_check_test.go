package subst

import (
	"math/rand/v2"
	"testing"
)

// The oracles against each other, and against the library's ReplaceAll.

func TestReferenceFindsWhatStdlibFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range rounds(t, 4000) {
		rules := randomRules(rnd, asciiAtoms, 4)
		p, _ := mustProgram(t, rules)
		text := randomText(rnd, asciiLetters, 12)
		for _, mode := range []Match{Longest, First} {
			from := rnd.IntN(len(text) + 1)
			got, ok := refFind(p, text, from, mode, defaultHold)
			want, wantOK := stdFind(t, rules, text, from, mode)
			if got != want || ok != wantOK {
				t.Fatalf("%q on %q from %d, mode %d: %v %v, stdlib %v %v\n%v", rules, text, from, mode, got, ok, want, wantOK, p)
			}
		}
	}
}

// Without assertions, a hold limit at a start is the same as a text that ends
// there.
func TestReferenceHold(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range rounds(t, 4000) {
		rules := randomRules(rnd, plainAtoms, 3)
		p, _ := mustProgram(t, rules)
		text := randomText(rnd, asciiLetters, 12)
		hold := 1 + rnd.IntN(4)
		for _, mode := range []Match{Longest, First} {
			var want refMatch
			wantOK := false
			for start := 0; start <= len(text) && !wantOK; start++ {
				want, wantOK = stdFind(t, rules, text[:min(start+hold, len(text))], start, mode)
				wantOK = wantOK && want.start == start
			}
			if !wantOK {
				want = refMatch{}
			}
			if got, ok := refFind(p, text, 0, mode, hold); got != want || ok != wantOK {
				t.Fatalf("%q on %q, hold %d, mode %d: %v %v, stdlib %v %v\n%v", rules, text, hold, mode, got, ok, want, wantOK, p)
			}
		}
	}
}

func TestReferenceReplacesAsReplaceAll(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, of := range []struct {
		atoms   []string
		letters string
	}{{asciiAtoms, asciiLetters}, {runeAtoms, runeLetters}} {
		for range rounds(t, 8000) {
			rule := randomRules(rnd, of.atoms, 1)[0]
			rule.Flags = "g"
			text := randomText(rnd, of.letters, 12)
			for _, mode := range []Match{Longest, First} {
				got := refReplace(t, []Rule{rule}, text, Options{Match: mode})
				if want := stdReplace(t, rule, text, mode); got != want {
					p, _ := mustProgram(t, []Rule{rule})
					t.Fatalf("%q on %q, mode %d: %q, stdlib %q\n%v", rule, text, mode, got, want, p)
				}
			}
		}
	}
}

func TestReferenceReplace(t *testing.T) {
	tests := []struct {
		why   string
		rules []Rule
		o     Options
		text  string
		want  string
	}{
		{"Perl's preference", []Rule{{`(a.+?c){2}`, "X", "gi"}}, Options{Match: First}, "ABCabcABC\nABCabcABC\n", "XABC\nXABC\n"},
		{"the beginning is there once", []Rule{{`^`, "X", "g"}}, Options{}, "12345", "X12345"},
		{"lines begin thrice", []Rule{{`(?m)^`, ">", "g"}}, Options{}, "abc\ndef\nxyz", ">abc\n>def\n>xyz"},
		{"empty, first", []Rule{{`a?|b`, "X", "g"}}, Options{Match: First}, "aba", "XbX"},
		{"empty, longest", []Rule{{`a?|b`, "X", "g"}}, Options{}, "aba", "XXX"},
		{"none at the end of a match", []Rule{{`[a-z]*`, "X", "g"}}, Options{}, "aaa00bbb", "X0X0X"},
		{"none inside a rune", []Rule{{`x*`, "X", "g"}}, Options{}, "☃", "X☃X"},
		{"inside what is no rune", []Rule{{`x*`, "X", "g"}}, Options{}, "\x80\xe2\x98", "X\x80X\xe2\x98X"},
		{"behind a whole rune", []Rule{{`x*`, "X", "g"}}, Options{}, "é\x80", "XéX\x80X"},
		{"empty at the beginning", []Rule{{`^\s*`, "", "g"}}, Options{}, "any gosh darn string", "any gosh darn string"},
		{"bytes are counted", []Rule{{`(?s).`, "x", "g"}}, Options{}, "\x25\x50\x44\x46\xff\xfe\x80", "xxxxxxx"},
		{"longest of two rules", []Rule{{`bc`, "2", "g"}, {`abcd`, "1", "g"}}, Options{}, "abcd", "1"},
		{"leftmost before earlier", []Rule{{`bc`, "2", "g"}, {`ab`, "1", "g"}}, Options{Match: First}, "abc", "1c"},
		{"a rule that fails yields", []Rule{{`abX`, "1", "g"}, {`ab`, "2", "g"}}, Options{Match: First}, "abc", "2c"},
		{"once, then it shields", []Rule{{`ab`, "X", ""}, {`b`, "Y", "g"}}, Options{}, "ab ab b", "X ab Y"},
		{"true context of groups", []Rule{{`(\bx|)(x?foo)`, "[$1|$2]", "g"}}, Options{}, "axfoo", "a[|xfoo]"},
		{"equal lengths: the earlier rule", []Rule{{`a.`, "1", "g"}, {`.b`, "2", "g"}}, Options{}, "ab", "1"},
		{"no match within the limit is no start", []Rule{{`a[^z]*z`, "X", "g"}}, Options{Hold: 3}, "abaz", "abX"},
		{"the longest within the limit", []Rule{{`a+`, "X", "g"}}, Options{Hold: 2}, "aaaaa", "XXX"},
		{"the preferred within the limit", []Rule{{`a.*c|ab`, "X", "g"}}, Options{Match: First, Hold: 2}, "abc", "Xc"},
		{"an assertion looks a byte further", []Rule{{`aa\b`, "X", "g"}}, Options{Hold: 2}, "aaa aa", "aX X"},
		{"an empty winner passed over hides the next rule", []Rule{{`a?`, "X", "g"}, {`b`, "Y", "g"}}, Options{Match: First}, "abab", "XbXbX"},
		{"no Kelvin sign", []Rule{{`k`, "X", "gi"}}, Options{}, "kK\u212a", "XX\u212a"},
		{"Kelvin signs of a class", []Rule{{"[k\u212a]", "X", "g"}}, Options{}, "kK\u212a", "XKX"},
		{"dollars and the whole match", []Rule{{`b`, "$$[$&$0${0}]", "g"}}, Options{}, "abc", "a$[bbb]c"},
	}
	for _, test := range tests {
		if got := refReplace(t, test.rules, test.text, test.o); got != test.want {
			t.Errorf("%s: %q on %q: %q, want %q", test.why, test.rules, test.text, got, test.want)
		}
	}
}

// rounds is fewer under -short.
func rounds(t testing.TB, n int) int {
	t.Helper()
	if testing.Short() {
		return n / 10
	}
	return n
}
