package store

// Strings come as valid UTF-8 and are kept as they are sent: as the inside of a JSON string with the
// fewest escapes. Two strings are equal exactly when their kept forms are.

const hexDigits = "0123456789abcdef"

// needsEscape tells which bytes of valid UTF-8 stand escaped in JSON.
func needsEscape(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// appendText appends the kept form of raw, which is valid UTF-8.
func appendText(dst, raw []byte) []byte {
	start := 0
	for i, c := range raw {
		if !needsEscape(c) {
			continue
		}
		dst = append(dst, raw[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, raw[start:]...)
}

// text returns the kept form of raw: raw itself where nothing needs an
// escape, else a copy in scratch, which it returns grown.
func text(raw, scratch []byte) (kept, grown []byte) {
	for _, c := range raw {
		if needsEscape(c) {
			from := len(scratch)
			scratch = appendText(scratch, raw)
			return scratch[from:], scratch
		}
	}
	return raw, scratch
}
