package accesslog

import (
	"encoding/binary"
	"unicode/utf8"
)

// plainUntil is where the first byte is that is no plain one, eight bytes at a
// time where there are as many.
func plainUntil(text []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		x := binary.NativeEndian.Uint64(text[i:])
		quote, backslash := x^ones*'"', x^ones*'\\'
		// Of each byte the top bit: set in itself, set by 0x20 less, by one more
		// (DEL), or by one less than the difference to a quote or backslash, which
		// is zero. A borrow or carry can only set one more.
		if (x|(x-ones*' ')|(x+ones)|(quote-ones)|(backslash-ones))&tops != 0 {
			break
		}
	}
	for i < len(text) && plain(text[i]) {
		i++
	}
	return i
}

// plain tells of a byte that stands for itself in both formats.
func plain(c byte) bool { return c >= ' ' && c < 0x7f && c != '"' && c != '\\' }

// appendText writes text as it stands between quotes, in at most most bytes.
// escape appends the first character of a text, which is no plain one, and
// tells its length.
func appendText(b, text []byte, most int, escape func(b, text []byte) ([]byte, int)) []byte {
	const dots = "..."
	end := len(b) + most
	keep := len(b) // as much as can stay before dots
	for {
		from := len(b)
		n := plainUntil(text)
		b = append(b, text[:min(n, end-from)]...)
		if from <= end-len(dots) {
			keep = min(len(b), end-len(dots))
		}
		if n > end-from {
			return append(b[:keep], dots...)
		}
		if text = text[n:]; len(text) == 0 {
			return b
		}
		b, n = escape(b, text)
		text = text[n:]
		switch {
		case len(b) > end:
			return append(b[:keep], dots...)
		case len(b) <= end-len(dots):
			keep = len(b)
		}
	}
}

// escapeJSON keeps what is UTF-8, but for characters that could end the line
// for someone or that do something to a terminal.
func escapeJSON(b, text []byte) ([]byte, int) {
	r, size := utf8.DecodeRune(text)
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r)), 1
	case r == utf8.RuneError && size == 1:
		r = rune(text[0])
	case r >= 0xa0 && r != '\u2028' && r != '\u2029':
		return append(b, text[:size]...), size
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]), size
}

func escapeCombined(b, text []byte) ([]byte, int) {
	const hex = "0123456789ABCDEF"
	return append(b, '\\', 'x', hex[text[0]>>4], hex[text[0]&15]), 1
}
