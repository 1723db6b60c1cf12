// Package jsonc reads JSON with comments and trailing commas, as configuration
// is written: strictly, and each error has file, line and column, says what is
// wrong and what to write instead.
//
// Parse gives a Value; its methods read it as what it should be, an object by a
// table of its Fields. The first error in the order of reading wins. Sample
// prints a table as a file that Parse takes.
package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Bounds of a file. The parser is recursive: each level costs stack.
const (
	MaxSize  = 16 << 20
	maxDepth = 32
)

// file is what places are told of.
type file struct {
	name string
	text []byte
}

// Value is a value in a file.
type Value struct {
	file *file
	json hujson.Value
}

// Read reads a file of at most MaxSize bytes.
func Read(name string) ([]byte, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: more than %d MB: is that the file you mean?", name, MaxSize>>20)
	}
	return text, nil
}

// Parse reads a text; name is what errors call it.
func Parse(name string, text []byte) (Value, error) {
	f := &file{name, text}
	if len(text) > MaxSize {
		return Value{}, fmt.Errorf("%s: more than %d MB", name, MaxSize>>20)
	}
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return Value{}, f.bad(at, "byte %#02x is no UTF-8; save the file as UTF-8", text[at])
		}
		at += n
	}
	if at := tooDeep(text, maxDepth); at >= 0 {
		return Value{}, f.bad(at, "more than %d lists and objects inside each other", maxDepth)
	}
	v, err := hujson.Parse(text)
	if err != nil {
		return Value{}, f.syntaxError(err)
	}
	return Value{f, v}, nil
}

// bad is an error at an offset. Columns count characters.
func (f *file) bad(at int, format string, args ...any) error {
	before := f.text[:min(at, len(f.text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%s:%d:%d: %s", f.name, line, column, fmt.Sprintf(format, args...))
}

// syntaxError gives an error of the parser our form.
func (f *file) syntaxError(err error) error {
	line, column := 0, 0
	fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column)
	at := 0
	for range line - 1 {
		at += bytes.IndexByte(f.text[at:], '\n') + 1
	}
	reason := err
	if inner := errors.Unwrap(err); inner != nil {
		reason = inner
	}
	text, hint := fmt.Sprintf("%.200v", reason), ""
	switch inString := strings.HasPrefix(text, `invalid literal: "`); {
	case inString && strings.Contains(text, "\n"):
		hint = `; in JSON a line break is written \n`
	case inString && strings.Contains(text, `\`):
		hint = `; in JSON a backslash is written \\`
	}
	text = strings.Map(func(r rune) rune { // one line
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return f.bad(at+max(column-1, 0), "%s%s", text, hint)
}

// tooDeep is where lists and objects lie deeper inside each other than most; -1
// if they do not.
func tooDeep(text []byte, most int) int {
	depth := 0
	for at := 0; at < len(text); at++ {
		rest := text[at:]
		switch {
		case rest[0] == '"':
			for at++; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
		case bytes.HasPrefix(rest, []byte("//")):
			at += lengthTo(rest, "\n")
		case bytes.HasPrefix(rest, []byte("/*")):
			at += 2 + lengthTo(rest[2:], "*/")
		case rest[0] == '[' || rest[0] == '{':
			if depth++; depth > most {
				return at
			}
		case rest[0] == ']' || rest[0] == '}':
			depth--
		}
	}
	return -1
}

// lengthTo is the length of what comes before mark.
func lengthTo(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i
	}
	return len(text)
}
