package subst

import (
	"slices"
	"strings"
	"testing"
)

func setOf(t *testing.T, rules []Rule, o Options) *Set {
	t.Helper()
	s, err := Compile(rules, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRuleStats(t *testing.T) {
	set := setOf(t, []Rule{
		{Find: `none`, Put: "x", Flags: "g"},
		{Find: `one`, Put: "x"}, // its second match only shields
		{Find: `two[^z]*z`, Put: "x", Flags: "g"},
		{Find: `ne`, Put: "x", Flags: "g"},
	}, Options{Hold: 8})
	s := set.NewStream()
	for range 2 { // Reset begins anew
		s.Reset()
		out := string(s.Feed(nil, []byte("one one two-")))
		out += string(s.Finish(s.Feed(nil, []byte(strings.Repeat("-", 20)+" twoz"))))
		if want := "x one two-" + strings.Repeat("-", 20) + " x"; out != want {
			t.Fatalf("%q, want %q", out, want)
		}
		for rule, want := range []RuleStats{{}, {Matches: 1}, {Matches: 1, GaveUp: 1, Held: 4}, {}} {
			if got := s.RuleStats(rule); got != want {
				t.Errorf("rule %d: %+v, want %+v", rule+1, got, want)
			}
		}
		if got := s.Won(nil); !slices.Equal(got, []uint64{1<<1 | 1<<2}) {
			t.Errorf("won: %b", got)
		}
	}
}

// Rules that have won nothing can be left out, in either mode.
func TestWonSuffices(t *testing.T) {
	texts := []string{"abcabcabc", "xxaxxbxxc", "aab-abb-", "", "éaé", strings.Repeat("ab", 40)}
	finds := []string{`a`, `ab`, `b+`, `x*`, `(?:)`, `c$`, `a[^z]*z`, `\bab`, `[a-c]{3}`}
	flags := []string{"g", "", "gi"}
	n := 0
	for _, match := range []Match{Longest, First} {
		for i := range finds {
			for j := range finds {
				for k := range finds {
					rules := []Rule{{finds[i], "1", flags[n%3]}, {finds[j], "2", flags[n/3%3]}, {finds[k], "3", "g"}}
					n++
					o := Options{Match: match, Hold: 4}
					for _, text := range texts {
						s := setOf(t, rules, o).NewStream()
						all := string(s.Finish(s.Feed(nil, []byte(text))))
						won := s.Won(nil)
						var few []Rule
						for i, r := range rules {
							if won[0]>>i&1 != 0 {
								few = append(few, r)
							}
						}
						s = setOf(t, few, o).NewStream()
						if got := string(s.Finish(s.Feed(nil, []byte(text)))); got != all {
							t.Fatalf("%v %q %q: all %q, those that won (%b) %q", match, rules, text, all, won[0], got)
						}
					}
				}
			}
		}
	}
}
