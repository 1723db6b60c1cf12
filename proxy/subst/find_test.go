package subst

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func findAll(s *Set, text string) (all []refMatch) {
	s.FindAll([]byte(text), func(start, end, rule int) bool {
		all = append(all, refMatch{start, end, rule})
		return true
	})
	return all
}

func TestFindAll(t *testing.T) {
	for _, c := range []struct {
		reason string
		rules  []Rule
		match  Match
		hold   int
		text   string
		want   []refMatch
	}{
		{"nothing", []Rule{{"x", "", "g"}}, Longest, 0, "abc", nil},
		{"no rules", nil, Longest, 0, "abc", nil},
		{"no text", []Rule{{"x", "", "g"}}, Longest, 0, "", nil},
		{"an empty match of no text", []Rule{{"x*", "", "g"}}, Longest, 0, "", []refMatch{{0, 0, 0}}},
		{"leftmost, then longest, then the earlier rule", []Rule{{"b", "", "g"}, {"ab", "", "g"}, {"abc?", "", "g"}, {"abc", "", "g"}}, Longest, 0, "abcab",
			[]refMatch{{0, 3, 2}, {3, 5, 1}}},
		{"first", []Rule{{"b", "", "g"}, {"ab", "", "g"}, {"abc?", "", "g"}}, First, 0, "abcab", []refMatch{{0, 2, 1}, {3, 5, 1}}},
		{"all, also without flag g", []Rule{{"ab", "", ""}, {"b", "", ""}}, Longest, 0, "ab ab b", []refMatch{{0, 2, 0}, {3, 5, 0}, {6, 7, 1}}},
		{"empty ones as Go has them", []Rule{{"a?|b", "", "g"}}, First, 0, "aba", []refMatch{{0, 1, 0}, {2, 3, 0}}},
		{"none at the end of a match", []Rule{{"[a-z]*", "", "g"}}, Longest, 0, "aaa00bbb", []refMatch{{0, 3, 0}, {4, 4, 0}, {5, 8, 0}}},
		{"none inside a rune", []Rule{{"x*", "", "g"}}, Longest, 0, "☃", []refMatch{{0, 0, 0}, {3, 3, 0}}},
		{"at the end", []Rule{{"$", "", "g"}}, Longest, 0, "ab", []refMatch{{2, 2, 0}}},
		{"not longer than the hold limit", []Rule{{"a[^z]*z", "", "g"}}, Longest, 3, "abaz", []refMatch{{2, 4, 0}}},
	} {
		s, err := Compile(c.rules, Options{Match: c.match, Hold: c.hold})
		if err != nil {
			t.Fatal(err)
		}
		if got := findAll(s, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}

func TestFindAllStops(t *testing.T) {
	s, err := Compile([]Rule{{"a*", "", "g"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for most := 1; most <= 4; most++ { // the last one is at the end
		calls := 0
		s.FindAll([]byte("aabab"), func(int, int, int) bool { calls++; return calls < most })
		if want := min(most, 3); calls != want {
			t.Errorf("told to stop after %d, found was called %d times, want %d", most, calls, want)
		}
	}
}

func TestFindAllRandom(t *testing.T) {
	for round := range rounds(t, 5000) {
		rnd := rand.New(rand.NewPCG(uint64(round), 77))
		atoms, letters := asciiAtoms, asciiLetters
		if round%2 == 1 {
			atoms, letters = runeAtoms, runeLetters
		}
		rules := randomRules(rnd, atoms, 4)
		o := Options{Match: Match(rnd.IntN(2)), Memory: []int{0, 1, 4000}[rnd.IntN(3)]}
		if rnd.IntN(3) == 0 {
			o.Hold = 1 + rnd.IntN(12)
		}
		s, err := Compile(rules, o)
		if err != nil {
			continue
		}
		p, _ := mustProgram(t, rules)
		for range 3 {
			text := randomText(rnd, letters, 40)
			want := refFindAll(p, text, o.Match, s.Options().Hold)
			if got := findAll(s, text); !slices.Equal(got, want) {
				t.Fatalf("round %d, %+v, rules %q, text %q:\n%v, want\n%v", round, o, rules, text, got, want)
			}
		}
	}
}
