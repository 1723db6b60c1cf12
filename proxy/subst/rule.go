package subst

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"redoubt/proxy/pattern"
	"redoubt/proxy/subst/prefilter"
)

// maxRules bounds a set. The usual has 1 to 100.
const maxRules = 10_000

// Rule says what is looked for and what is put in its place.
type Rule struct {
	// Find is an expression of Go's syntax (package regexp/syntax). It matches
	// bytes: . and classes that hold every rune beyond ASCII take any single
	// byte from 0x80 on, what names some of these runes takes their UTF-8.
	Find string `json:"find"`

	// Put is the replacement. $1 or ${1} is what group 1 matched, $& or $0 the
	// whole match, $$ a dollar sign; the number is the longest run of digits.
	Put string `json:"put"`

	// Flags are letters in any order: g replaces every match and not only the
	// first, i ignores case, l takes Find as literal text.
	Flags string `json:"flags"`
}

// Match says which of several matches wins. It is always one that begins
// leftmost.
type Match uint8

const (
	Longest Match = iota // then the longest, then the one of the earlier rule
	First                // then the one of the earlier rule, then what Perl prefers
)

const (
	defaultHold   = 8 << 10
	defaultMemory = 2 << 20
)

// Options are what a set's rules have in common.
type Options struct {
	Match  Match
	Hold   int // the longest match, in bytes; 0 means 8 KB
	Memory int // the most that a Set's cached states may take, in bytes; 0 means 2 MB, or more for thousands of rules

	// Kernel is what skips bytes that cannot matter: by default the fastest that
	// the processor has. The answers are the same.
	Kernel prefilter.Kernel
}

// RuleError says what is wrong with one rule.
type RuleError struct {
	Rule   int    // from 0
	Part   string // "find", "put" or "flags"
	Offset int    // in bytes, in that part's text; -1 if unknown
	Reason string // with the way out
}

// Error counts rules from 1.
func (e *RuleError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("rule %d: %s: %s", e.Rule+1, e.Part, e.Reason)
	}
	return fmt.Sprintf("rule %d: %s, at byte %d: %s", e.Rule+1, e.Part, e.Offset, e.Reason)
}

// rule is a Rule that has been understood.
type rule struct {
	find *syntax.Regexp // not simplified
	put  replacement
	all  bool // flag g
}

// parseRules understands rules. Its errors are *RuleError.
func parseRules(rules []Rule) ([]rule, error) {
	if len(rules) > maxRules {
		return nil, &RuleError{Rule: maxRules, Part: "find", Offset: -1,
			Reason: fmt.Sprintf("a set has at most %d rules; join some with | or spread them over several sets", maxRules)}
	}
	parsed := make([]rule, len(rules))
	for i, r := range rules {
		var bad *RuleError
		if parsed[i], bad = parseRule(r); bad != nil {
			bad.Rule = i
			return nil, bad
		}
	}
	return parsed, nil
}

func parseRule(r Rule) (rule, *RuleError) {
	flags := syntax.Perl
	var parsed rule
	for i, c := range r.Flags {
		switch {
		case strings.ContainsRune(r.Flags[:i], c):
			return rule{}, &RuleError{Part: "flags", Offset: i, Reason: fmt.Sprintf("%q stands twice; leave one out", c)}
		case c == 'g':
			parsed.all = true
		case c == 'i':
			flags |= syntax.FoldCase
		case c == 'l':
			flags |= syntax.Literal
		default:
			return rule{}, &RuleError{Part: "flags", Offset: i,
				Reason: fmt.Sprintf("unknown flag %q; g (every match), i (ignore case) and l (literal text) may be used", c)}
		}
	}
	var err error
	if parsed.find, err = syntax.Parse(r.Find, flags); err != nil {
		offset, reason := pattern.Fault(r.Find, flags, err)
		return rule{}, &RuleError{Part: "find", Offset: offset, Reason: reason}
	}
	var bad *RuleError
	parsed.put, bad = parsePut(r.Put, parsed.find.MaxCap(), flags&syntax.Literal != 0)
	return parsed, bad
}

// ParseReplace reads a rule as the command line has it: s/FIND/PUT/FLAGS. The
// character after s is the delimiter: any but a letter, a digit, a newline, a
// backslash. A backslash before the delimiter takes its meaning away and is
// itself removed; before any other character, a second backslash too, both
// stay. What FIND, PUT and FLAGS hold is for Compile to judge.
func ParseReplace(text string) (Rule, error) {
	const form = "want s/FIND/PUT/FLAGS, with any delimiter for /"
	rest, ok := strings.CutPrefix(text, "s")
	if !ok {
		return Rule{}, fmt.Errorf("%.80q does not begin with s: %s", text, form)
	}
	delimiter, n := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		return Rule{}, fmt.Errorf("%.80q ends after s: %s", text, form)
	case delimiter == '\\' || delimiter == '\n' || delimiter == utf8.RuneError || unicode.IsLetter(delimiter) || unicode.IsDigit(delimiter):
		return Rule{}, fmt.Errorf("%.80q: %q cannot be a delimiter, use a punctuation mark: %s", text, rest[:n], form)
	}
	find, rest, ok := cutDelimiter(rest[n:], delimiter)
	if !ok {
		return Rule{}, fmt.Errorf("%.80q has only one %q: %s", text, delimiter, form)
	}
	put, flags, ok := cutDelimiter(rest, delimiter)
	if !ok {
		return Rule{}, fmt.Errorf("%.80q has only two %q: %s", text, delimiter, form)
	}
	if strings.ContainsRune(flags, delimiter) {
		return Rule{}, fmt.Errorf(`%.80q has more than three %q: write \%c where it is part of FIND or PUT, or use another delimiter`,
			text, delimiter, delimiter)
	}
	return Rule{Find: find, Put: put, Flags: flags}, nil
}

// cutDelimiter cuts a text at the first delimiter without a backslash.
func cutDelimiter(text string, delimiter rune) (before, after string, found bool) {
	var b strings.Builder
	escaped := false
	for i, r := range text {
		switch {
		case escaped:
			if r != delimiter {
				b.WriteByte('\\')
			}
			escaped = false
		case r == '\\':
			escaped = true
			continue
		case r == delimiter:
			return b.String(), text[i+utf8.RuneLen(r):], true
		}
		_, n := utf8.DecodeRuneInString(text[i:]) // 1 for a byte that is no UTF-8
		b.WriteString(text[i : i+n])
	}
	return "", "", false
}
