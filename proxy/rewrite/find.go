package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"redoubt/netloop/http1"
)

// rule is a Rule that has been understood.
type rule struct {
	literal []byte // looked for as it is, never empty; or
	find    *regexp.Regexp
	put     text
	all     bool // flag g
}

// maxText bounds what a rule makes: rules with flag g whose Put names what the
// client has sent could square it.
const maxText = http1.MaxHead

// replace appends a text, with matches replaced, where there are any. It may
// stop early when that is over maxText.
func (r *rule) replace(dst, in []byte, v *Vars) (out []byte, matched bool) {
	if r.literal != nil {
		return r.replaceLiteral(dst, in, v)
	}
	// Where nothing matches, nothing is allocated.
	var one [1][]int
	matches := one[:]
	if r.all {
		matches = r.find.FindAllSubmatchIndex(in, -1)
	} else {
		one[0] = r.find.FindSubmatchIndex(in)
	}
	if len(matches) == 0 || matches[0] == nil {
		return dst, false
	}
	from, end := len(dst), 0
	for _, match := range matches {
		dst = append(dst, in[end:match[0]]...)
		dst = r.put.append(dst, in, match, v)
		end = match[1]
		if len(dst)-from > maxText {
			break
		}
	}
	return append(dst, in[end:]...), true
}

func (r *rule) replaceLiteral(dst, in []byte, v *Vars) (out []byte, matched bool) {
	from, end := len(dst), 0
	for !matched || r.all && len(dst)-from <= maxText {
		at := bytes.Index(in[end:], r.literal)
		if at < 0 {
			break
		}
		matched = true
		match := [2]int{end + at, end + at + len(r.literal)}
		dst = append(dst, in[end:match[0]]...)
		dst = r.put.append(dst, in, match[:], v)
		end = match[1]
	}
	if !matched {
		return dst, false
	}
	return append(dst, in[end:]...), true
}

// replaceAll applies rules, each on the result of the one before, and appends
// the last result where any has matched. ok is false if one was over maxText.
func replaceAll(rules []rule, dst, in []byte, v *Vars) (out []byte, changed, ok bool) {
	begin := len(dst)
	for i := range rules {
		from := len(dst)
		more, matched := rules[i].replace(dst, in, v)
		if !matched {
			continue
		}
		if len(more)-from > maxText {
			return more[:begin], true, false
		}
		dst, in, changed = more, more[from:], true
	}
	if changed { // move it over the results before it
		dst = dst[:begin+copy(dst[begin:], in)]
	}
	return dst, changed, true
}

// parseRule understands a rule whose results may hold such bytes.
func parseRule(from *Rule, legal func(c byte) bool) (rule, *Error) {
	var r rule
	flags := syntax.Perl
	for i, c := range from.Flags {
		switch {
		case strings.ContainsRune(from.Flags[:i], c):
			return rule{}, &Error{Key: "flags", Offset: i, Reason: fmt.Sprintf("%q stands twice; leave one out", c)}
		case c == 'g':
			r.all = true
		case c == 'i':
			flags |= syntax.FoldCase
		case c == 'l':
			flags |= syntax.Literal
		default:
			return rule{}, &Error{Key: "flags", Offset: i,
				Reason: fmt.Sprintf("unknown flag %q; g (every match), i (ignore case) and l (literal text) may be used", c)}
		}
	}
	parsed, err := syntax.Parse(from.Find, flags)
	if err != nil {
		return rule{}, findError(from.Find, flags, err)
	}
	put, bad := parseText(from.Put, grammar{legal: legal, groups: parsed.MaxCap(), literal: flags&syntax.Literal != 0})
	if bad != nil {
		bad.Key = "put"
		return rule{}, bad
	}
	r.put = put
	if parsed.Op == syntax.OpLiteral && len(parsed.Rune) > 0 && parsed.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(from.Find, utf8.RuneError) {
		r.literal = []byte(string(parsed.Rune))
		return r, nil
	}
	expression := from.Find
	if flags&syntax.Literal != 0 {
		expression = regexp.QuoteMeta(expression)
	}
	if flags&syntax.FoldCase != 0 {
		expression = "(?i)" + expression
	}
	if r.find, err = regexp.Compile(expression); err != nil {
		return rule{}, findError(from.Find, flags, err)
	}
	return r, nil
}

// findError says what the parser of expressions has against a text, and where.
func findError(find string, flags syntax.Flags, err error) *Error {
	bad := &Error{Key: "find", Offset: -1, Reason: err.Error()}
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return bad
	}
	bad.Offset = findOffset(find, flags, e)
	bad.Reason = e.Code.String()
	if e.Expr != "" && e.Code != syntax.ErrMissingParen && e.Code != syntax.ErrUnexpectedParen { // of these it is all the text
		bad.Reason += fmt.Sprintf(" %.60q", e.Expr)
	}
	behind := strings.HasPrefix(e.Expr, "(?<=") || strings.HasPrefix(e.Expr, "(?<!")
	switch {
	case e.Code == syntax.ErrInvalidUTF8:
		bad.Reason += "; an expression is text in UTF-8"
	case e.Code == syntax.ErrInvalidPerlOp || behind:
		bad.Reason += "; Go's syntax has neither look-around nor atomic groups, (?:...) groups without counting"
	case e.Code == syntax.ErrInvalidEscape:
		bad.Reason += `; write \\ for a backslash; there are no back references`
	case e.Code == syntax.ErrInvalidRepeatSize:
		bad.Reason += "; counts go up to 1000, also those of nested repetitions multiplied"
	case e.Code == syntax.ErrLarge || e.Code == syntax.ErrNestingDepth:
		bad.Reason += "; spread it over several rules"
	default:
		bad.Reason += `; write \ before a character that is meant as such, or use flag l for literal text`
	}
	return bad
}

// findOffset finds the place of an error, which the parser does not tell: the
// shortest beginning of the text that already has it ends where it is; a
// parenthesis that is never closed stands behind the longest beginning without
// a fault. Texts over 2 KB are left, for the search is quadratic.
func findOffset(find string, flags syntax.Flags, e *syntax.Error) int {
	switch {
	case e.Code == syntax.ErrInvalidUTF8:
		for i, r := range find {
			if _, n := utf8.DecodeRuneInString(find[i:]); r == utf8.RuneError && n == 1 {
				return i
			}
		}
	case e.Code == syntax.ErrTrailingBackslash:
		return len(find) - 1
	case e.Code == syntax.ErrLarge, e.Code == syntax.ErrNestingDepth, e.Code == syntax.ErrInternalError, len(find) > 2<<10:
		return -1
	}
	place := -1
	for n := range len(find) + 1 {
		_, err := syntax.Parse(find[:n], flags)
		same, ok := errors.AsType[*syntax.Error](err)
		switch {
		case e.Code == syntax.ErrMissingParen:
			if err == nil {
				place = n
			}
		case !ok || same.Code != e.Code:
		case e.Code == syntax.ErrUnexpectedParen: // Expr is the whole text
			return n - 1
		case same.Expr == e.Expr:
			return strings.LastIndex(find[:n], e.Expr)
		}
	}
	return place
}
