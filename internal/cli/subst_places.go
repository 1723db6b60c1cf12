package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"redoubt/proxy/subst"
)

// syntaxError gives an error of the parser our form.
func (f *rulesFile) syntaxError(err error) error {
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
	hint := ""
	if strings.HasPrefix(reason.Error(), "invalid literal: \"") && strings.Contains(reason.Error(), `\`) {
		hint = `; in JSON a backslash is written \\`
	}
	return f.bad(at+max(column-1, 0), "%.200v%s", reason, hint)
}

// wrong is the error of a value that is something else.
func (f *rulesFile) wrong(v hujson.Value, want string) error {
	got := map[hujson.Kind]string{'{': "an object", '[': "a list", '"': "a string", 'n': "null"}[v.Value.Kind()]
	if got == "" {
		got = fmt.Sprintf("%.40s", v.Value.(hujson.Literal))
	}
	return f.bad(v.StartOffset, "want %s, got %s", want, got)
}

// bad is an error at an offset. Columns count characters.
func (f *rulesFile) bad(at int, format string, args ...any) error {
	before := f.text[:min(at, len(f.text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%s:%d:%d: %s", f.name, line, column, fmt.Sprintf(format, args...))
}

// ruleError finds the place of a rule's error in the file.
func (f *rulesFile) ruleError(e *subst.RuleError) error {
	v := f.places[e.Rule][e.Part]
	at := v.StartOffset
	if literal, ok := v.Value.(hujson.Literal); ok && e.Offset >= 0 {
		at += inString(literal, e.Offset)
	}
	return f.bad(at, "rule %d, %s: %s", e.Rule+1, e.Part, e.Reason)
}

// inString is where in a string's JSON the byte at an offset of its text
// stands.
func inString(literal []byte, offset int) int {
	at := 1 // behind the quotation mark
	for at < len(literal)-1 {
		width, size := 1, 1
		if literal[at] == '\\' {
			width = 2
			if literal[at+1] == 'u' {
				width = 6
				unit, _ := strconv.ParseUint(string(literal[at+2:at+6]), 16, 16)
				if utf16.IsSurrogate(rune(unit)) && len(literal) > at+12 && literal[at+6] == '\\' && literal[at+7] == 'u' {
					width = 12
				}
			}
			var text string
			_ = json.Unmarshal(slices.Concat([]byte(`"`), literal[at:at+width], []byte(`"`)), &text) // it was a string before
			size = len(text)
		}
		if offset -= size; offset < 0 {
			break
		}
		at += width
	}
	return at
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
