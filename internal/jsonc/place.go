package jsonc

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"

	"github.com/tailscale/hujson"
)

// Errorf is an error where the value begins.
func (v Value) Errorf(format string, args ...any) error {
	return v.file.bad(v.json.StartOffset, format, args...)
}

// ErrorfAt is an error in a string, at the byte that stands at an offset of its
// text, or where the value begins if it is none or the offset is below 0.
func (v Value) ErrorfAt(offset int, format string, args ...any) error {
	at := v.json.StartOffset
	if literal, ok := v.json.Value.(hujson.Literal); ok && literal.Kind() == '"' && offset >= 0 {
		at += inString(literal, offset)
	}
	return v.file.bad(at, format, args...)
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
