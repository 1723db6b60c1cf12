package data

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Constants for eight bytes at a time: the byte repeated.
const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
	quotes   = '"' * eachByte
	slashes  = '\\' * eachByte
	controls = 0x20 * eachByte // bytes below this are control characters
)

// Constants for four two-byte UTF-8 sequences, 110xxxxx 10xxxxxx each, as a
// little-endian word.
const (
	eachPair  = 0x0001000100010001
	pairMask  = 0xC0E0 * eachPair
	pairWant  = 0x80C0 * eachPair
	pairBits  = 0x001E * eachPair // a lead without any of these (C0, C1) is overlong
	pairCarry = 0x00FE * eachPair // carries into bit 8 from any of pairBits
	pairOver  = 0x0100 * eachPair
)

// plain returns the end of the plain part of a string from i on: the position
// of the first quote, backslash, control character or byte that is no valid
// UTF-8, or len(src).
//
// Most strings of the data set are ASCII or Cyrillic. Both run through in
// words of eight bytes: a word of ASCII by one test for anything special, a
// word of two-byte sequences by one comparison. BenchmarkPlain has it three
// times as fast as byte by byte.
func plain(src []byte, i int) int {
	for len(src)-i >= 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		if w&0x80 == 0 {
			s := special(w)
			if s == 0 {
				i += 8
				continue
			}
			n := bits.TrailingZeros64(s) &^ 7
			i += n / 8
			if w>>n&0x80 == 0 {
				return i
			}
			continue
		}
		n := pairs(w)
		switch {
		case n == 8:
			i += 8
		case n == 0:
			if n = sequence(src[i:]); n == 0 {
				return i
			}
			i += n
		default:
			i += n
			if w>>(8*n)&0xFF == '"' {
				return i // as most do; saves a round, and 8 % of a user's time
			}
		}
	}
	return plainBytes(src, i)
}

// plainBytes is plain byte by byte, for the last few bytes of the input.
func plainBytes(src []byte, i int) int {
	for i < len(src) {
		switch c := src[i]; {
		case c == '"' || c == '\\' || c < 0x20:
			return i
		case c < utf8.RuneSelf:
			i++
		default:
			n := sequence(src[i:])
			if n == 0 {
				return i
			}
			i += n
		}
	}
	return i
}

// special marks, by its high bit, the first byte of w that is a quote, a
// backslash, a control character or not ASCII. Bytes above the first one may
// be marked wrongly, as subtraction borrows from them.
func special(w uint64) uint64 {
	return ((w ^ quotes - eachByte) | (w ^ slashes - eachByte) | (w - controls) | w) & highBits
}

// pairs returns how many bytes at the start of w are valid two-byte UTF-8
// sequences: 0, 2, 4, 6 or 8.
func pairs(w uint64) int {
	wrong := w&pairMask ^ pairWant
	wrong |= ^(w&pairBits + pairCarry) & pairOver
	return bits.TrailingZeros64(wrong) / 16 * 2 // 64 zeros if nothing is wrong
}

// sequence returns the length of the valid UTF-8 sequence of two bytes or
// more that b starts with, or 0.
func sequence(b []byte) int {
	if _, n := utf8.DecodeRune(b); n > 1 {
		return n
	}
	return 0
}

// space returns the position of the first byte from i on that is no JSON
// white space, or len(src).
func space(src []byte, i int) int {
	const blanks = 1<<' ' | 1<<'\n' | 1<<'\r' | 1<<'\t'
	for i < len(src) && src[i] <= ' ' && uint64(blanks)>>src[i]&1 != 0 {
		i++
	}
	return i
}

// leadingDigits returns how many digits w starts with, at most eight, and
// their value.
//
// Numbers in the data set have one to ten digits, in no foreseeable order;
// this way takes no branch for each of them. A visit takes 74 ns, and 83 byte
// by byte (BenchmarkFile).
func leadingDigits(w uint64) (v uint64, n int) {
	w ^= '0' * eachByte                                 // digits become 0..9
	other := (w | (w + 6*eachByte)) & (0xF0 * eachByte) // anything else has, or gets, a high half
	n = bits.TrailingZeros64(other) / 8                 // the first one's place is exact: no carry reaches it
	w <<= 64 - 8*n                                      // as if zeros came before the digits
	w = w*10 + w>>8                                     // numbers of two digits, in bytes 0, 2, 4, 6
	const twoBytes = 0x000000FF000000FF                 // bytes 0 and 4
	return (w&twoBytes*(100+1000000<<32) + w>>16&twoBytes*(1+10000<<32)) >> 32, n
}

// digits returns the end of the run of decimal digits from i on.
func digits(src []byte, i int) int {
	for i < len(src) && src[i]-'0' <= 9 {
		i++
	}
	return i
}

// hex4 returns the value of four hex digits, or -1.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var v rune
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			v = v<<4 | rune(c-'0')
		case c|0x20-'a' <= 5:
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return v
}

// number returns the end of the JSON number that starts at i, or the negated
// position, less one, of the byte that should have been a digit.
func number(src []byte, i int) int {
	if i < len(src) && src[i] == '-' {
		i++
	}
	end := digits(src, i)
	if end == i || src[i] == '0' && end > i+1 {
		return -1 - i
	}
	i = end
	if i < len(src) && src[i] == '.' {
		i++
		if end = digits(src, i); end == i {
			return -1 - i
		}
		i = end
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		if end = digits(src, i); end == i {
			return -1 - i
		}
		i = end
	}
	return i
}
