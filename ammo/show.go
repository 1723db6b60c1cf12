package ammo

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Decoded makes a body readable: \uXXXX escapes become the text they stand
// for, and what a terminal could trip over (control characters, bytes that are
// no UTF-8, lone surrogates) is shown escaped. At most limit bytes come out,
// with a note of how many were left off; 0 means all.
func Decoded(body []byte, limit int) string {
	var out strings.Builder
	for i := 0; i < len(body); {
		if limit > 0 && out.Len() >= limit {
			fmt.Fprintf(&out, "... (%d bytes more)", len(body)-i)
			break
		}
		if body[i] == '\\' {
			i += decodeEscape(&out, body[i:])
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, body[i])
		case unicode.IsPrint(r):
			out.WriteRune(r)
		default:
			out.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		i += size
	}
	return out.String()
}

// decodeEscape shows the escape that text begins with and returns its length.
// Only escapes of printable characters that need none are decoded.
func decodeEscape(out *strings.Builder, text []byte) int {
	r, size := codeUnit(text), 6
	switch {
	case r < 0: // \n, \" and the like stay, both bytes of them
		size = min(2, len(text))
	case r >= 0xD800 && r <= 0xDBFF:
		if low := codeUnit(text[6:]); low >= 0xDC00 && low <= 0xDFFF {
			r, size = 0x10000+(r-0xD800)<<10+(low-0xDC00), 12
		}
	}
	if r < 0 || r == '"' || r == '\\' || !unicode.IsPrint(r) {
		for _, c := range text[:size] {
			if c < ' ' || c >= 0x7f { // a backslash before something odd
				fmt.Fprintf(out, `\x%02x`, c)
				continue
			}
			out.WriteByte(c)
		}
		return size
	}
	out.WriteRune(r)
	return size
}

// codeUnit is the value of the \uXXXX that text begins with, or -1.
func codeUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// loneSurrogate reports whether valid JSON holds half of a surrogate pair.
// Decoders replace such a half without a word, so it is looked for beforehand.
func loneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		switch unit := codeUnit(text[i:]); {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			if low := codeUnit(text[i+6:]); low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 11
		default:
			i++ // the escaped character, so that \\u is not taken for \u
		}
	}
	return false
}

// cut shortens s to about most bytes, between two characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "..."
}
