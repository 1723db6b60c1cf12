package subst

import (
	"fmt"
	"math/rand/v2"
	"testing"
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

func TestRandomRules(t *testing.T) {
	atoms := []string{"a", "b", "c", "[ab]", "[^a]", ".", "(a)", "\\b", "\\B", "^", "$", "(?m)^", "(?m)$", "☃", "\\n", ""}
	const letters = "aabbc \n☃"
	for round := range rounds(t, 20000) {
		seed := uint64(round)
		rnd := rand.New(rand.NewPCG(seed, 5))
		rules := randomRules(rnd, atoms, 4)
		o := Options{Match: Match(rnd.IntN(2))}
		if rnd.IntN(3) == 0 {
			o.Hold = 1 + rnd.IntN(12)
		}
		switch rnd.IntN(4) {
		case 0:
			o.Memory = 1
		case 1:
			o.Memory = 4000
		}
		set, err := Compile(rules, o)
		if err != nil {
			continue
		}
		for range 3 {
			text := randomText(rnd, letters, 40)
			want := refReplace(t, rules, text, o)
			var cuts []int
			for at := 0; at < len(text); at++ {
				if rnd.IntN(4) == 0 {
					cuts = append(cuts, at)
				}
			}
			got := func() (s string) {
				defer func() {
					if e := recover(); e != nil {
						s = fmt.Sprint("panic: ", e)
					}
				}()
				return replaceIn(set, text, cuts...)
			}()
			if got != want {
				t.Fatalf("seed %d, %+v, rules %q:\ntext %q cut at %v\ngot  %q\nwant %q", seed, o, rules, text, cuts, got, want)
			}
		}
	}
}
