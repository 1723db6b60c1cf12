package subst

import (
	"math/rand/v2"
	"testing"
)

var wildAtoms = []string{
	"a", "b", "ab", "[ab]", "[^a]", ".", "(?s:.)", "é", "☃", "[é☃]", "[à-ÿ]", "[☀-⛿]", "(?i:É)", "(?i:ſ)", "(?i:\u212a)", "(?i:k)", "[k\u212a]", "(?i:ⱥ)", "(?i:ß)", "[^é]",
	`\pL`, `\p{Greek}`, `\p{Cs}`, "x{0}", "(|a)", "(a|)", "(?:)", `\b`, `\B`, "^", "$", "(?m:^)", `\z`, "a{5}", "(ab){3,7}", "[ab]{6,}", "(a|b)", "(ab|cd)", "(a|bc)", "(é|ab)", "(ü|ab)",
	"(?:abc|def|ghi){2,3}", `\x{10ffff}`, `[\x{80}-\x{10ffff}]`, `[\x{ff}-\x{800}]`, "(?i:straße)", "(?U:a+)",
}

var wildCounts = []string{"*", "+", "?", "*?", "{0}", "{1}", "{2}", "{3,5}", "{4}", "{5}", "{5,}", "{6,9}", "{0,3}", "{2,}"}

// wildExpression is made of about so many atoms.
func wildExpression(rnd *rand.Rand, n int) string {
	if n <= 1 {
		return wildAtoms[rnd.IntN(len(wildAtoms))]
	}
	left := 1 + rnd.IntN(n-1)
	switch rnd.IntN(6) {
	case 0:
		return "(?:" + wildExpression(rnd, left) + "|" + wildExpression(rnd, n-left) + ")"
	case 1:
		return "(" + wildExpression(rnd, n-1) + ")"
	case 2:
		return "(?:" + wildExpression(rnd, n-1) + ")" + wildCounts[rnd.IntN(len(wildCounts))]
	case 3:
		return "(?i:" + wildExpression(rnd, n-1) + ")"
	}
	return wildExpression(rnd, left) + wildExpression(rnd, n-left)
}

// matchOf is a text that the only rule of a program matches, but for assertions.
func matchOf(rnd *rand.Rand, p *program) (text []byte, ok bool) {
	at := p.begin[0]
	for range 400 {
		switch n := &p.nodes[at]; n.op {
		case opMatch:
			return text, true
		case opSplit:
			if at = n.out; rnd.IntN(3) == 0 {
				at = n.alt
			}
		case opAssert, opCapture:
			at = n.out
		case opBytes:
			set := p.sets[n.arg]
			if set.len() == 0 {
				return nil, false
			}
			c := byte(rnd.IntN(256))
			for !set.has(c) {
				c++
			}
			text = append(text, c)
			at = n.out
		default:
			return nil, false
		}
	}
	return nil, false
}

// isIn tells whether a needle is in a match, where it says that it is.
func (n *needle) isIn(match []byte) bool {
	for at := n.nearest; at+len(n.sets) <= len(match) && (n.farthest < 0 || at <= n.farthest); at++ {
		fits := true
		for k := range n.sets {
			fits = fits && n.sets[k].has(match[at+k])
		}
		for _, c := range match[:at] {
			fits = fits && n.before.has(c)
		}
		if fits {
			return true
		}
	}
	return false
}

// Each match has all the needles of its expression, and one of its rule's signs
// with all that is around it.
func TestNeedlesAreInEachMatch(t *testing.T) {
	signs, matches := 0, 0
	for round := range rounds(t, 3000) {
		rnd := rand.New(rand.NewPCG(uint64(round), 99))
		rule := Rule{wildExpression(rnd, 1+rnd.IntN(9)), "", []string{"g", "gi"}[rnd.IntN(2)]}
		parsed, err := parseRules([]Rule{rule})
		if err != nil {
			continue // too large
		}
		p, err := newProgram(parsed)
		if err != nil {
			continue
		}
		needles, own, length := stretchesOf(parsed[0].find), p.signs(parsed)[0], extentOf(parsed[0].find)
		for range 8 {
			match, ok := matchOf(rnd, p)
			if !ok {
				continue
			}
			matches++
			if length.never || len(match) < length.min || length.max >= 0 && len(match) > length.max {
				t.Fatalf("round %d, %q: %q is not of %+v", round, rule, match, length)
			}
			for _, s := range needles {
				found := false
				for _, way := range s.ways {
					n := needle{way, s.nearest, s.farthest, s.before}
					found = found || n.isIn(match)
				}
				if !found {
					t.Fatalf("round %d, %q: %+v is not in %q", round, rule, s, match)
				}
			}
			found := len(own) == 0
			for i := range own {
				n := own[i].needle // the whole of it, from its first place on
				n.sets = nil
				for _, set := range own[i].around.Sets {
					n.sets = append(n.sets, byteSet(set))
				}
				n.nearest -= own[i].around.At
				if n.farthest >= 0 {
					n.farthest -= own[i].around.At
				}
				found = found || n.isIn(match)
				signs++
			}
			if !found {
				t.Fatalf("round %d, %q: no sign of %q", round, rule, match)
			}
			if n := p.wholeOf(0, own); n > 0 && n != len(match) {
				t.Fatalf("round %d, %q: %q has not %d bytes", round, rule, match, n)
			}
		}
	}
	t.Logf("%d matches, %d signs", matches, signs)
	if signs < matches/4 {
		t.Error("most expressions had no sign")
	}
}

// Skipping makes no difference to rules of any kind.
func TestSkippingByWildExpressions(t *testing.T) {
	skipped := 0
	for round := range rounds(t, 1500) {
		rnd := rand.New(rand.NewPCG(uint64(round), 98))
		c := &streamCase{seed: uint64(round), o: Options{Match: Match(rnd.IntN(2)), Hold: []int{0, 0, 5, 30}[rnd.IntN(4)]}}
		for range 1 + rnd.IntN(3) {
			c.rules = append(c.rules, Rule{wildExpression(rnd, 2+rnd.IntN(6)), "<$&>", "g"})
		}
		parsed, err := parseRules(c.rules)
		if err != nil {
			continue
		}
		p, err := newProgram(parsed)
		if err != nil {
			continue
		}
		walking, skipping := skippingPair(t, c.rules, c.o, eachSupported[rnd.IntN(len(eachSupported))])
		if skipping == nil {
			continue
		}
		skipped++
		for len(c.text) < 500 {
			if match, ok := matchOf(rnd, p); ok && rnd.IntN(2) == 0 {
				c.text += string(match[rnd.IntN(len(match)+1):])
			}
			c.text += randomBytes(rnd, 30)
		}
		want := replaceIn(walking, c.text)
		for _, cuts := range [][]int{nil, randomCuts(rnd, c.text)} {
			if got := replaceIn(skipping, c.text, cuts...); got != want {
				t.Fatalf("%v\ncut at %v\ngot  %q\nwant %q", c, cuts, got, want)
			}
		}
	}
	if skipped < rounds(t, 1500)/10 {
		t.Errorf("only %d could skip", skipped)
	}
}
