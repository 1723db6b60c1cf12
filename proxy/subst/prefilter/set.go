package prefilter

import "math/bits"

// Set is a set of bytes: bit c&63 of word c>>6.
type Set [4]uint64

// full is the set of all bytes.
var full = Set{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

func (s *Set) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

func (s *Set) join(t *Set) {
	for i := range s {
		s[i] |= t[i]
	}
}

// covers tells whether a set has all bytes of another.
func (s *Set) covers(t *Set) bool {
	return t[0]&^s[0]|t[1]&^s[1]|t[2]&^s[2]|t[3]&^s[3] == 0
}

// part is which part of the bytes of typical text is in the set.
func (s *Set) part() float64 {
	sum := uint32(0)
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			sum += frequencies[64*i+bits.TrailingZeros64(word)]
		}
	}
	return float64(sum) / 1e6
}

// Width is how many places a window has at most.
const Width = 4

// Window says that a match has at places that follow one another a byte of each
// set. It has 1 to Width of them.
type Window []Set
