package subst

import (
	"math/rand/v2"
	"strings"
)

// Random rules and texts over small alphabets, so that they meet often.

var (
	// asciiAtoms mean the same over runes and over bytes in any text of ASCII.
	asciiAtoms = []string{"a", "b", "c", "ab", "a", "b", "[ab]", "[^a]", ".", `\w`, `\n`, `(?s:.)`, "^", "$", `(?m:^)`, `(?m:$)`, `\b`, `\B`, `\A`, `\z`, "(?i:A)", ""}

	// plainAtoms have no assertions: a text cut short is to them as one that ends.
	plainAtoms = []string{"a", "b", "c", "ab", "ba", "[ab]", "[^a]", ".", "(?s:.)", ""}

	// runeAtoms mean the same over runes and over bytes in any UTF-8. \B is
	// missing: the library does not look inside a rune.
	runeAtoms = []string{"a", "b", "é", "☃", "[é☃]", "[a-é]", "[à-ÿ]", "[☀-⛿]", "😀", "(?i:É)", `\p{Greek}`, "(?i:ω)", "^", "$", "(?m:^)", "(?m:$)", `\b`, ""}
)

const (
	asciiLetters = "aaabbbcA \n"
	runeLetters  = "aabéÉè☃☄😀ωΩ \n"
)

// randomExpr is an expression of about so many atoms.
func randomExpr(rnd *rand.Rand, atoms []string, size int) string {
	if size <= 1 {
		return atoms[rnd.IntN(len(atoms))]
	}
	part := func(n int) string { return randomExpr(rnd, atoms, n) }
	switch rnd.IntN(8) {
	case 0:
		left := 1 + rnd.IntN(size-1)
		return "(?:" + part(left) + "|" + part(size-left) + ")"
	case 1:
		return "(" + part(size-1) + ")"
	case 2:
		left := 1 + rnd.IntN(size-1)
		return "(" + part(left) + "|" + part(size-left) + ")"
	case 3, 4:
		counts := []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}?", "{2,}"}
		return "(?:" + part(size-1) + ")" + counts[rnd.IntN(len(counts))]
	}
	left := 1 + rnd.IntN(size-1)
	return part(left) + part(size-left)
}

// randomRules is up to most rules; their puts name groups where there are any.
func randomRules(rnd *rand.Rand, atoms []string, most int) []Rule {
	rules := make([]Rule, 1+rnd.IntN(most))
	for i := range rules {
		r := Rule{Find: randomExpr(rnd, atoms, 1+rnd.IntN(7)), Flags: []string{"", "g", "g", "gi"}[rnd.IntN(4)]}
		r.Put = []string{"", "x", "<$&>", "$$", "$0"}[rnd.IntN(5)]
		if parsed, err := parseRules([]Rule{r}); err == nil {
			for n := 1; n <= parsed[0].find.MaxCap() && n < 4; n++ {
				r.Put += "(${" + string(rune('0'+n)) + "})"
			}
		}
		rules[i] = r
	}
	return rules
}

// randomText is up to most letters.
func randomText(rnd *rand.Rand, letters string, most int) string {
	runes := []rune(letters)
	var b strings.Builder
	for range rnd.IntN(most + 1) {
		b.WriteRune(runes[rnd.IntN(len(runes))])
	}
	return b.String()
}
