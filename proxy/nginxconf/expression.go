package nginxconf

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"redoubt/proxy/pattern"
)

// dialect is whose expressions are read.
type dialect uint8

const (
	// sregex is what replace_filter has. A dot takes any byte, ^ and $ are those of
	// lines, a backslash and digits are a byte in octal.
	sregex dialect = iota

	// pcre is what subs_filter has, which looks at one line at a time: ^ and $ are
	// those of lines here.
	pcre
)

// expression rewrites one for package regexp/syntax. What is written alike stays as it
// is.
type expression struct {
	from    string
	at      int
	dialect dialect
	fold    bool // ignore case
	out     strings.Builder

	dot, line bool // flags s and m are needed
	letters   bool // a letter beyond ASCII is one of a class, or repeated
}

// translate is an expression in Go's syntax that matches the same, or why there is
// none. letters: but for letters beyond ASCII, which are several there.
func translate(from string, d dialect, fold bool) (find string, letters bool, err error) {
	e := &expression{from: from, dialect: d, fold: fold}
	for e.at < len(from) {
		if err := e.next(); err != nil {
			return "", false, err
		}
	}
	find = e.out.String()
	if !utf8.ValidString(find) {
		return "", false, errors.New("a byte from 80 on that is no part of UTF-8 cannot be named here")
	}
	flags := ""
	if e.line {
		flags += "m"
	}
	if e.dot {
		flags += "s"
	}
	if flags != "" {
		find = "(?" + flags + ")" + find
	}
	if _, err := syntax.Parse(find, syntax.Perl); err != nil {
		_, reason := pattern.Fault(find, syntax.Perl, err)
		return "", false, errors.New(reason)
	}
	return find, e.letters, nil
}

// next takes over the next part.
func (e *expression) next() error {
	c := e.from[e.at]
	switch c {
	case '\\':
		return e.escape(false)
	case '[':
		return e.class()
	case '(':
		return e.group()
	case '.':
		e.dot = e.dot || e.dialect == sregex
	case '^', '$':
		e.line = true
	case '*', '+', '?', '}':
		e.out.WriteByte(c)
		e.at++
		if e.dialect == pcre && c != '}' && strings.HasPrefix(e.from[e.at:], "+") {
			return errors.New("possessive repetitions are not known here")
		}
		return nil
	}
	if c >= utf8.RuneSelf {
		e.letter()
		return nil
	}
	e.out.WriteByte(c)
	e.at++
	return nil
}

// letter takes over a letter beyond ASCII, of which nginx ignores no case.
func (e *expression) letter() {
	r, n := utf8.DecodeRuneInString(e.from[e.at:])
	text := e.from[e.at : e.at+n]
	e.at += n
	if e.at < len(e.from) && strings.IndexByte("*+?{", e.from[e.at]) >= 0 {
		e.letters = true
	}
	if e.fold && unicode.SimpleFold(r) != r {
		text = "(?-i:" + text + ")"
	}
	e.out.WriteString(text)
}

// group takes over an opening parenthesis with what belongs to it.
func (e *expression) group() error {
	rest := e.from[e.at:]
	if e.dialect == pcre {
		if strings.HasPrefix(rest, "(*") {
			return errors.New("verbs such as (*SKIP) are not known here")
		}
		if strings.HasPrefix(rest, "(?#") {
			n := strings.IndexByte(rest, ')')
			if n < 0 {
				n = len(rest) - 1
			}
			e.at += n + 1
			return nil
		}
		if named, ok := strings.CutPrefix(rest, "(?'"); ok {
			if name, _, ok := strings.Cut(named, "'"); ok {
				e.out.WriteString("(?P<" + name + ">")
				e.at += len("(?'") + len(name) + 1
				return nil
			}
		}
	}
	for _, w := range []struct{ opening, reason string }{
		{"(?=", "look-ahead"}, {"(?!", "look-ahead"}, {"(?<=", "look-behind"}, {"(?<!", "look-behind"}, {"(?>", "atomic groups"},
		{"(?|", "groups that share numbers"}, {"(?(", "conditions"}, {"(?R", "recursion"}, {"(?&", "recursion"}, {"(?P>", "recursion"},
		{"(?P=", "back references"},
	} {
		if strings.HasPrefix(rest, w.opening) {
			return fmt.Errorf("%s: not known here", w.reason)
		}
	}
	e.out.WriteByte('(')
	e.at++
	if strings.HasPrefix(e.from[e.at:], "?") {
		e.out.WriteByte('?')
		e.at++
	}
	return nil
}

// class takes over a class in brackets.
func (e *expression) class() error {
	e.out.WriteByte('[')
	e.at++
	if strings.HasPrefix(e.from[e.at:], "^") {
		e.out.WriteByte('^')
		e.at++
	}
	for first := true; e.at < len(e.from); first = false {
		switch c := e.from[e.at]; {
		case c == ']' && !first:
			e.out.WriteByte(c)
			e.at++
			return nil
		case c == '\\':
			if err := e.escape(true); err != nil {
				return err
			}
		case c == '[' && e.dialect == pcre && strings.HasPrefix(e.from[e.at:], "[:"):
			n := strings.Index(e.from[e.at:], ":]")
			if n < 0 {
				n = 0
			}
			e.out.WriteString(e.from[e.at : e.at+n+2])
			e.at += n + 2
		case c == '[' || c == ']':
			e.out.WriteString(`\` + string(c))
			e.at++
		default:
			e.letters = e.letters || c >= utf8.RuneSelf
			e.out.WriteByte(c)
			e.at++
		}
	}
	return nil // that it is not closed is found by Go's parser
}
