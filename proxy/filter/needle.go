package filter

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// needle is a list of texts of which one is in every value that an expression
// matches, in whatever case. Looking for them first takes a twentieth of the
// time that package regexp needs to find that (?i)badbot is not in a browser's
// User-Agent.
type needle struct {
	texts  []string  // two bytes or more, each with bit 5 set
	starts [256]bool // with what bytes texts begin, as they may stand in a value
}

// mostTexts bounds the list: each is compared wherever it might begin.
const mostTexts = 32

// needleOf is the expression's needle, or nil if none is found.
func needleOf(expression *regexp.Regexp) *needle {
	tree, err := syntax.Parse(expression.String(), syntax.Perl)
	if err != nil {
		return nil // of another syntax
	}
	texts := needed(tree)
	if len(texts) == 0 || len(texts) > mostTexts || shortest(texts) < 2 {
		return nil
	}
	n := &needle{texts: texts}
	for c := range n.starts {
		n.starts[c] = slices.ContainsFunc(texts, func(text string) bool { return byte(c)|0x20 == text[0] })
	}
	return n
}

// in tells whether one of the texts is in a value. Bit 5 tells small letters from
// capitals, and some other bytes from each other: more is found than there is,
// for the expression to judge.
func (n *needle) in(value []byte) bool {
	for i, c := range value {
		if !n.starts[c] {
			continue
		}
		for _, text := range n.texts {
			if len(value)-i >= len(text) && foldEqual(value[i:i+len(text)], text) {
				return true
			}
		}
	}
	return false
}

func foldEqual(b []byte, text string) bool {
	for i, c := range b {
		if c|0x20 != text[i] {
			return false
		}
	}
	return true
}

// needed are texts of which one is in all that e matches; none if that is not
// known.
func needed(e *syntax.Regexp) []string {
	switch e.Op {
	case syntax.OpLiteral:
		if text := longestText(e); text != "" {
			return []string{text}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return needed(e.Sub[0])
		}
	case syntax.OpConcat: // any part would do: that whose texts are longest, and then fewest
		var best []string
		for _, sub := range e.Sub {
			texts := needed(sub)
			more := shortest(texts) - shortest(best)
			if more > 0 || more == 0 && len(texts) < len(best) {
				best = texts
			}
		}
		return best
	case syntax.OpAlternate: // those of all
		var all []string
		for _, sub := range e.Sub {
			texts := needed(sub)
			if len(texts) == 0 {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	}
	return nil
}

// longestText is the longest text of ASCII in a literal, with bit 5 set. Without
// case, k is also the Kelvin sign and s the long s, so that they are left out.
func longestText(e *syntax.Regexp) string {
	var best, text []byte
	for _, c := range e.Rune {
		if c >= utf8.RuneSelf || e.Flags&syntax.FoldCase != 0 && (c|0x20 == 'k' || c|0x20 == 's') {
			text = nil
			continue
		}
		text = append(text, byte(c)|0x20)
		if len(text) > len(best) {
			best = text
		}
	}
	return string(best)
}

// shortest is the length of the shortest text; 0 without any.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}
