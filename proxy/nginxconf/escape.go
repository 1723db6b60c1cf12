package nginxconf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape takes over a backslash with what belongs to it.
func (e *expression) escape(inClass bool) error {
	e.at++
	if e.at == len(e.from) {
		return errors.New("a backslash at the end")
	}
	c := e.from[e.at]
	e.at++
	switch {
	case '0' <= c && c <= '7':
		if e.dialect == pcre && c != '0' && !inClass {
			return errors.New("back references are not known here")
		}
		from := e.at - 1
		for e.at < min(from+3, len(e.from)) && '0' <= e.from[e.at] && e.from[e.at] <= '7' {
			e.at++
		}
		return e.number(e.from[from:e.at], 8)
	case c == 'x':
		return e.hex()
	case c == 'o' && strings.HasPrefix(e.from[e.at:], "{"):
		digits, _, _ := strings.Cut(e.from[e.at+1:], "}")
		e.at = min(e.at+len(digits)+2, len(e.from))
		return e.number(digits, 8)
	case c == 'c' && e.at < len(e.from):
		e.at++
		return e.char(byte(unicode.ToUpper(rune(e.from[e.at-1]))) ^ 0x40)
	case c == 'e':
		return e.char(0x1b)
	case c == 'b' && inClass:
		return e.char('\b')
	case c >= utf8.RuneSelf:
		e.at--
		e.letter()
		return nil
	case !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'):
		return e.char(c)
	}
	if text, ok := e.special(c, inClass); ok {
		e.out.WriteString(text)
		return nil
	}
	if c == 'Q' && e.dialect == pcre && !inClass {
		quoted, _, _ := strings.Cut(e.from[e.at:], `\E`)
		e.at = min(e.at+len(quoted)+2, len(e.from))
		for i := range len(quoted) {
			e.char(quoted[i])
		}
		return nil
	}
	if e.dialect == sregex && (c == 'i' || c == 'M') {
		return e.char(c)
	}
	return fmt.Errorf(`\%c: not known here`, c)
}

// special is a letter behind a backslash that is a class or an assertion.
func (e *expression) special(c byte, inClass bool) (text string, ok bool) {
	const vertical = `\n\x0b\f\r`
	set := func(inside string, not bool) (string, bool) {
		switch {
		case inClass && not:
			return "", false
		case inClass:
			return inside, true
		case not:
			return "[^" + inside + "]", true
		}
		return "[" + inside + "]", true
	}
	switch c {
	case 'd', 'D', 'w', 'W', 's', 'S', 't', 'n', 'r', 'f', 'a':
		return `\` + string(c), true
	case 'h', 'H':
		return set(`\t `, c == 'H')
	case 'v', 'V':
		return set(vertical, c == 'V')
	case 'N':
		return set(`\n`, true)
	}
	switch {
	case inClass:
		return "", false
	case c == 'b' || c == 'B' || c == 'A' && e.dialect == sregex || c == 'z' && e.dialect == sregex:
		return `\` + string(c), true
	case c == 'A':
		return "(?m:^)", true
	case c == 'Z' && e.dialect == pcre:
		return "(?m:$)", true
	case c == 'C':
		return "(?s:.)", true
	case c == 'R' && e.dialect == pcre:
		return `(?:\r\n|[` + vertical + `])`, true
	}
	return "", false
}

// hex takes over \x41 or \x{41}.
func (e *expression) hex() error {
	if braced, ok := strings.CutPrefix(e.from[e.at:], "{"); ok {
		digits, _, _ := strings.Cut(braced, "}")
		e.at = min(e.at+len(digits)+2, len(e.from))
		return e.number(digits, 16)
	}
	from := e.at
	for e.at < min(from+2, len(e.from)) && strings.IndexByte("0123456789abcdefABCDEF", e.from[e.at]) >= 0 {
		e.at++
	}
	return e.number(e.from[from:e.at], 16)
}

func (e *expression) number(digits string, base int) error {
	n, err := strconv.ParseUint("0"+digits, base, 32)
	if err != nil || n > 0xff {
		return fmt.Errorf("%.20q is no byte", digits)
	}
	return e.char(byte(n))
}

// char is a byte that is meant as such. Bytes from 80 on may add up to a letter.
func (e *expression) char(c byte) error {
	switch {
	case c < ' ' || c == 0x7f:
		fmt.Fprintf(&e.out, `\x%02x`, c)
	case c < utf8.RuneSelf && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(` "'%&,/:;<=>@_!#~`+"`", c) >= 0):
		e.out.WriteString(`\` + string(c))
	default:
		e.letters = e.letters || c >= utf8.RuneSelf
		e.out.WriteByte(c)
	}
	return nil
}
