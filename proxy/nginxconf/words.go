package nginxconf

import (
	"fmt"
	"strings"
)

// SyntaxError says where a file is no configuration of nginx, and why.
type SyntaxError struct {
	File         string
	Line, Column int // from 1; the column in bytes
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// words cuts a file into words and marks.
type words struct {
	file string
	text string
	at   int // the next byte
}

// word is one of them.
type word struct {
	text string
	mark byte // ';', '{', '}', or 0 for a word; end at the end of the file
	at   int
}

const end = 1

// next is the next word or mark. Quotes and backslashes have been resolved.
func (w *words) next() (word, error) {
	w.skip()
	from := w.at
	if from == len(w.text) {
		return word{mark: end, at: from}, nil
	}
	switch c := w.text[from]; c {
	case ';', '{', '}':
		w.at++
		return word{mark: c, at: from}, nil
	case '"', '\'':
		return w.quoted(c)
	}
	for w.at < len(w.text) {
		switch c := w.text[w.at]; {
		case c == '\\':
			w.at++
		case c == '$' && strings.HasPrefix(w.text[w.at:], "${"):
			w.at++ // this brace opens no block
		case isSpace(c) || c == ';' || c == '{':
			return word{text: unescape(w.text[from:w.at]), at: from}, nil
		}
		w.at++
	}
	return word{}, w.errorf(len(w.text), "the file ends in the middle of a directive; end it with ;")
}

// quoted is a word in quotes, behind which another must not begin at once.
func (w *words) quoted(quote byte) (word, error) {
	from := w.at
	for w.at++; w.at < len(w.text) && w.text[w.at] != quote; w.at++ {
		if w.text[w.at] == '\\' {
			w.at++
		}
	}
	if w.at >= len(w.text) {
		return word{}, w.errorf(from, "this %c has no other to close it", quote)
	}
	text := unescape(w.text[from+1 : w.at])
	w.at++
	if w.at < len(w.text) {
		if c := w.text[w.at]; !isSpace(c) && c != ';' && c != '{' && c != ')' {
			return word{}, w.errorf(w.at, "%q right behind a quoted word; put a space or ; between them", c)
		}
	}
	return word{text: text, at: from}, nil
}

// skip goes over white space and comments.
func (w *words) skip() {
	for w.at < len(w.text) {
		switch c := w.text[w.at]; {
		case isSpace(c):
			w.at++
		case c == '#':
			line := strings.IndexByte(w.text[w.at:], '\n')
			if line < 0 {
				line = len(w.text) - w.at
			}
			w.at += line
		default:
			return
		}
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// unescape takes the backslash from quotes and backslashes, and makes \t, \r and
// \n what they stand for. Any other stays, so that \d and \. mean the same in
// expressions.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			switch next := text[i]; next {
			case '"', '\'', '\\':
				c = next
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case 'n':
				c = '\n'
			default:
				i--
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

func (w *words) errorf(at int, format string, args ...any) error {
	line, column := w.place(at)
	return &SyntaxError{w.file, line, column, fmt.Sprintf(format, args...)}
}

func (w *words) place(at int) (line, column int) {
	before := w.text[:min(at, len(w.text))]
	return strings.Count(before, "\n") + 1, len(before) - strings.LastIndexByte(before, '\n')
}

// skipLua goes over the program of a block such as content_by_lua_block, behind its
// opening brace: braces in strings and comments of Lua do not count.
func (w *words) skipLua() error {
	from := w.at
	for depth := 1; w.at < len(w.text); w.at++ {
		rest := w.text[w.at:]
		switch c := rest[0]; {
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				w.at++
				return nil
			}
		case c == '"' || c == '\'':
			for w.at++; w.at < len(w.text) && w.text[w.at] != c && w.text[w.at] != '\n'; w.at++ {
				if w.text[w.at] == '\\' {
					w.at++
				}
			}
		case strings.HasPrefix(rest, "--"):
			w.at += 2
			if !w.skipLong() {
				for w.at < len(w.text) && w.text[w.at] != '\n' {
					w.at++
				}
			}
			w.at--
		case c == '[':
			if w.skipLong() {
				w.at--
			}
		}
	}
	return w.errorf(from, "this block of Lua is not closed; add }")
}

// skipLong goes over a long bracket of Lua, [[...]] or [==[...]==], if one is here.
func (w *words) skipLong() bool {
	rest := w.text[w.at:]
	if !strings.HasPrefix(rest, "[") {
		return false
	}
	level := len(rest[1:]) - len(strings.TrimLeft(rest[1:], "="))
	if !strings.HasPrefix(rest[1+level:], "[") {
		return false
	}
	closing := "]" + rest[1:1+level] + "]"
	n := strings.Index(rest, closing)
	if n < 0 {
		n = len(rest) - len(closing)
	}
	w.at += n + len(closing)
	return true
}
