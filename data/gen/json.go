package gen

import (
	"fmt"
	"strconv"
	"unicode/utf16"
)

// style is how the strings of a record are written. All mean the same text.
type style int

const (
	plain   style = iota // UTF-8, escapes only where JSON demands them
	escaped              // ASCII: everything else as \uXXXX, as the contest's requests have it
	strange              // ASCII, upper-case digits, and escapes nobody asked for
)

// member is one key of an object with its value: raw JSON if there is some, or
// else the text or the number.
type member struct {
	key    string
	raw    string
	text   string
	number int64
	isText bool
}

func textOf(key, s string) member          { return member{key: key, text: s, isText: true} }
func numberOf(key string, n int64) member  { return member{key: key, number: n} }
func rawOf(key string, json string) member { return member{key: key, raw: json} }

// appendObject writes the members in the given order, with the blanks after
// ',' and ':' that the contest's files have.
func appendObject(dst []byte, members []member, order []int, s style) []byte {
	dst = append(dst, '{')
	for i, at := range order {
		m := &members[at]
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(append(dst, '"'), m.key...), `": `...)
		switch {
		case m.raw != "":
			dst = append(dst, m.raw...)
		case m.isText:
			dst = appendString(dst, m.text, s)
		default:
			dst = strconv.AppendInt(dst, m.number, 10)
		}
	}
	return append(dst, '}')
}

// appendString writes text, which is valid UTF-8, as a JSON string.
func appendString(dst []byte, text string, s style) []byte {
	dst = append(dst, '"')
	for i, r := range text {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '/' && s == strange:
			dst = append(dst, `\/`...)
		case r < ' ' || r >= 0x7f && s != plain || s == strange && i%3 == 0:
			dst = appendEscape(dst, r, s)
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, r rune, s style) []byte {
	format := `\u%04x`
	if s == strange {
		format = `\u%04X`
	}
	if high, low := utf16.EncodeRune(r); r >= 0x10000 {
		return fmt.Appendf(fmt.Appendf(dst, format, high), format, low)
	}
	return fmt.Appendf(dst, format, r)
}

// ascii rewrites JSON so that characters beyond ASCII, which can stand in
// strings only, are escapes.
func ascii(dst, json []byte) []byte {
	for _, r := range string(json) {
		if r < 0x7f {
			dst = append(dst, byte(r))
			continue
		}
		dst = appendEscape(dst, r, escaped)
	}
	return dst
}
