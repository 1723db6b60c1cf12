package http1

import (
	"encoding/binary"
	"math/bits"
)

// What bytes may be part of.
const (
	inToken   = 1 << iota // RFC 9110, 5.6.2
	inValue               // of a field (RFC 9110, 5.5), HTAB and SP among them
	inTarget              // any visible ASCII but #, which begins what is never sent
	inRegName             // RFC 3986, 3.2.2; with %, whose digits are checked apart
	inQuoted              // RFC 9110, 5.6.4, without \
	isDigit
	isHex
)

var class = classes()

func classes() (class [256]uint8) {
	add := func(bit uint8, from, to int) {
		for c := from; c <= to; c++ {
			class[c] |= bit
		}
	}
	set := func(bit uint8, bytes string) {
		for _, c := range []byte(bytes) {
			class[c] |= bit
		}
	}
	for _, bit := range []uint8{inToken, inRegName} {
		add(bit, '0', '9')
		add(bit, 'A', 'Z')
		add(bit, 'a', 'z')
	}
	set(inToken, "!#$%&'*+-.^_`|~")
	set(inRegName, "-._~!$&'()*+,;=%")
	for _, bit := range []uint8{inValue, inQuoted} {
		set(bit, "\t")
		add(bit, ' ', '~')
		add(bit, 0x80, 0xff)
	}
	class['"'] &^= inQuoted
	class['\\'] &^= inQuoted
	add(inTarget, '!', '~')
	class['#'] &^= inTarget
	add(isDigit|isHex, '0', '9')
	add(isHex, 'A', 'F')
	add(isHex, 'a', 'f')
	return class
}

// Eight bytes at a time. Each test leaves the top bit of the first byte that
// passes; bits above that one may be wrong, for subtraction borrows.
const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

func below(x uint64, c uint64) uint64  { return (x - c*ones) &^ x }
func equals(x uint64, c uint64) uint64 { x ^= c * ones; return (x - ones) &^ x }

// valueEnd is where the first byte from i on stands that is not inValue, or
// the end.
func valueEnd(in []byte, i int) int {
	for len(in)-i >= 8 {
		x := binary.LittleEndian.Uint64(in[i:])
		other := (below(x, ' ') | equals(x, 0x7f)) & tops
		if other == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(other) / 8
		if in[i] != '\t' {
			return i
		}
		i++
	}
	for i < len(in) && class[in[i]]&inValue != 0 {
		i++
	}
	return i
}

// targetEnd is the same for inTarget.
func targetEnd(in []byte, i int) int {
	for len(in)-i >= 8 {
		x := binary.LittleEndian.Uint64(in[i:])
		other := (below(x, '!') | equals(x, 0x7f) | equals(x, '#') | x) & tops
		if other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
		i += 8
	}
	for i < len(in) && class[in[i]]&inTarget != 0 {
		i++
	}
	return i
}

// tokenEnd is the same for inToken. Names are short: eight bytes at a time were
// not faster here.
func tokenEnd(in []byte, i int) int {
	for n, c := range in[i:] {
		if class[c]&inToken == 0 {
			return i + n
		}
	}
	return len(in)
}

// IsToken tells whether s is a token (RFC 9110, 5.6.2), as methods and names of
// fields are.
func IsToken[T string | []byte](s T) bool {
	for i := range len(s) {
		if class[s[i]]&inToken == 0 {
			return false
		}
	}
	return len(s) > 0
}

// all tells whether every byte is of the class.
func all(b []byte, bit uint8) bool {
	for _, c := range b {
		if class[c]&bit == 0 {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// foldEqual tells whether b, bytes of a field value or a name, is the text of
// small letters, digits and hyphens, in whatever case. Setting bit 5 folds: no
// other byte of those turns into one of these.
func foldEqual(b []byte, small string) bool {
	if len(b) != len(small) {
		return false
	}
	for i, c := range b {
		if c|0x20 != small[i] {
			return false
		}
	}
	return true
}
