package rewrite

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"redoubt/netloop/http1"
	"redoubt/proxy/pattern"
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

// mostSearched bounds what rules with flag g may cost: the matches of expressions
// times the bytes of the value they are in, of all values of a head, or of a
// target. An expression that looks far ahead may go over the value for each match,
// at 10 to 60 ns a byte: 8 KB of a's took (?:a.*b|a) 0.65 s, and 32 KB would have
// taken ten; now either takes 8 ms, and the worst that was found 30. There is room
// for 64 matches in 8 KB, 128 in 4 KB, and any number in 700 bytes.
const mostSearched = 1 << 19

// replace appends a text, with matches replaced, where there are any. It may
// stop early when that is over maxText. ok is false if there are too many matches.
func (r *rule) replace(dst, in []byte, v *Vars) (out []byte, matched, ok bool) {
	if r.literal != nil {
		out, matched = r.replaceLiteral(dst, in, v)
		return out, matched, true
	}
	// Where nothing matches, nothing is allocated.
	var one [1][]int
	matches := one[:]
	if r.all {
		most := max(0, mostSearched-v.searched) / max(1, len(in))
		matches = r.find.FindAllSubmatchIndex(in, most+1)
		v.searched += len(matches) * len(in)
		if len(matches) > most {
			return dst, true, false
		}
	} else {
		one[0] = r.find.FindSubmatchIndex(in)
	}
	if len(matches) == 0 || matches[0] == nil {
		return dst, false, true
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
	return append(dst, in[end:]...), true, true
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
// the last result where any has matched. ok is false if one was over maxText, or
// had too many matches.
func replaceAll(rules []rule, dst, in []byte, v *Vars) (out []byte, changed, ok bool) {
	begin := len(dst)
	for i := range rules {
		from := len(dst)
		more, matched, ok := rules[i].replace(dst, in, v)
		if !matched {
			continue
		}
		if !ok || len(more)-from > maxText {
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
		return rule{}, badFind(from.Find, flags, err)
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
		return rule{}, badFind(from.Find, flags, err)
	}
	return r, nil
}

// badFind says what is wrong with an expression, and where.
func badFind(find string, flags syntax.Flags, err error) *Error {
	offset, reason := pattern.Fault(find, flags, err)
	return &Error{Key: "find", Offset: offset, Reason: reason}
}
