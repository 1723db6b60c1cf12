package nginxconf

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"redoubt/proxy/subst"
)

// hasCase tells whether there are letters of ASCII.
func hasCase(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' && r < utf8.RuneSelf })
}

// foldASCII is an expression for a text, in which flag i is for letters of ASCII
// only. It is not needed where there are no others with two cases.
func foldASCII(text string) (find string, needed bool) {
	for _, r := range text {
		quoted := regexp.QuoteMeta(string(r))
		if r >= utf8.RuneSelf && unicode.SimpleFold(r) != r {
			needed = true
			quoted = "(?-i:" + quoted + ")"
		}
		find += quoted
	}
	return find, needed
}

// meet tells whether matches of two texts can lie over each other: one is in the
// other, or an end of one is a beginning of the other.
func meet(a, b string) bool {
	if strings.Contains(a, b) || strings.Contains(b, a) {
		return true
	}
	for n := 1; n < min(len(a), len(b)); n++ {
		if strings.HasSuffix(a, b[:n]) || strings.HasSuffix(b, a[:n]) {
			return true
		}
	}
	return false
}

// order tells where the order in which nginx applies rules makes a difference.
func (t *translator) order(l *level, rules []bodyRule) {
	once := l.on("sub_filter_once", true)
	for i, a := range rules {
		for _, b := range rules[i+1:] {
			switch literals := isLiteral(a.Rule) && isLiteral(b.Rule); {
			case a.from.name != b.from.name:
			case a.from.name == "sub_filter" && once && meet(strings.ToLower(a.Find), strings.ToLower(b.Find)):
				t.notes.add(b.from, "once one of this and %q has been replaced nginx looks for the other one only; here its later matches still stand in the other's way", a.Find)
			case a.from.name == "subs_filter" && literals && (meet(a.Find, b.Find) || a.Put != "" && meet(a.Put, b.Find)):
				t.notes.add(b.from, "nginx applies this to what the rule for %q has left of a line; here both look at the same text, and the one that begins first wins", a.Find)
			case a.from.name == "subs_filter" && !literals:
				t.notes.once(b.from, "nginx applies each subs_filter to what the one before has left of a line; here all look at the same text, the one that begins first wins, and none looks at what was put in")
			}
		}
	}
}

func isLiteral(r subst.Rule) bool { return strings.Contains(r.Flags, "l") }

// crosses tells whether an expression may take the end of a line.
func crosses(find string) bool {
	parsed, err := syntax.Parse(find, syntax.Perl)
	return err == nil && takesNewline(parsed)
}

func takesNewline(r *syntax.Regexp) bool {
	switch r.Op {
	case syntax.OpLiteral:
		for _, c := range r.Rune {
			if c == '\n' {
				return true
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(r.Rune); i += 2 {
			if r.Rune[i] <= '\n' && '\n' <= r.Rune[i+1] {
				return true
			}
		}
	case syntax.OpAnyChar:
		return true
	}
	for _, sub := range r.Sub {
		if takesNewline(sub) {
			return true
		}
	}
	return false
}
