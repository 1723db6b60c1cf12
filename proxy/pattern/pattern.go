// Package pattern says what is wrong with a regular expression, and where: the
// parser of package regexp tells a code and a part of the text, but no place and
// no way out. All that read expressions from people use it, so that the same
// mistake reads the same everywhere.
package pattern

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Fault explains err, which syntax.Parse or regexp.Compile has returned for a
// text: at which byte, or -1 if that is unknown, and why, with the way out. flags
// are those the text was parsed with.
func Fault(text string, flags syntax.Flags, err error) (offset int, reason string) {
	e, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return -1, err.Error()
	}
	reason = e.Code.String()
	if e.Expr != "" && e.Code != syntax.ErrMissingParen && e.Code != syntax.ErrUnexpectedParen { // of these it is all the text
		reason += fmt.Sprintf(" %.60q", e.Expr)
	}
	behind := strings.HasPrefix(e.Expr, "(?<=") || strings.HasPrefix(e.Expr, "(?<!")
	switch {
	case e.Code == syntax.ErrInvalidUTF8:
		reason += "; an expression is text in UTF-8, other bytes match by . or a class such as [^a]"
	case e.Code == syntax.ErrInvalidPerlOp || behind:
		reason += "; Go's syntax has neither look-around nor atomic groups, (?:...) groups without counting"
	case e.Code == syntax.ErrInvalidEscape:
		reason += `; write \\ for a backslash; there are no back references`
	case e.Code == syntax.ErrInvalidRepeatSize:
		reason += "; counts go up to 1000, also those of nested repetitions multiplied"
	case e.Code == syntax.ErrLarge || e.Code == syntax.ErrNestingDepth:
		reason += "; spread it over several rules"
	default:
		reason += `; write \ before a character that is meant as such` + orLiteral
	}
	return place(text, flags, e), reason
}

// orLiteral is a way out for rules, which have flags.
const orLiteral = ", or use flag l for literal text"

// WithoutFlags is a reason for a text to which no flags belong.
func WithoutFlags(reason string) string { return strings.TrimSuffix(reason, orLiteral) }

// longSearch is up to how long a text a place is searched in: that is quadratic.
const longSearch = 2 << 10

// place is where an error is: the shortest beginning of the text that already has
// it ends there.
func place(text string, flags syntax.Flags, e *syntax.Error) int {
	switch e.Code {
	case syntax.ErrInvalidUTF8:
		return firstInvalid(text)
	case syntax.ErrTrailingBackslash:
		return len(text) - 1
	case syntax.ErrLarge, syntax.ErrNestingDepth, syntax.ErrInternalError:
		return -1
	}
	if len(text) > longSearch {
		return -1
	}
	// What comes before a parenthesis that is never closed is the longest
	// beginning without a fault.
	if e.Code == syntax.ErrMissingParen {
		for n := len(text) - 1; n >= 0; n-- {
			if _, err := syntax.Parse(text[:n], flags); err == nil {
				return n
			}
		}
		return -1
	}
	for n := 1; n <= len(text); n++ {
		_, err := syntax.Parse(text[:n], flags)
		same, ok := errors.AsType[*syntax.Error](err)
		switch {
		case !ok || same.Code != e.Code:
		case e.Code == syntax.ErrUnexpectedParen: // Expr is the whole text
			return n - 1
		case same.Expr == e.Expr:
			return strings.LastIndex(text[:n], e.Expr)
		}
	}
	return -1
}

// firstInvalid is where a text stops being UTF-8.
func firstInvalid(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}
