package prefilter

import (
	"math/bits"

	"golang.org/x/sys/cpu"
)

func hasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI1 }

func hasVBMI() bool {
	return hasAVX2() && cpu.X86.HasBMI2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI
}

// The kernels look at the places 0 to Width-1, or at the last one again. They
// are given a text with so many positions, at least one, and what is the last
// place. Those of VBMI return the first hit, or positions. Those of AVX2 need 32
// positions and return a block and where windows may begin in it: no bits if
// they have come to the end.

//go:noescape
func vbmiSlimLow(tables *whole, text *byte, positions, last int) int

//go:noescape
func vbmiFatLow(tables *whole, text *byte, positions, last int) int

//go:noescape
func vbmiSlim(tables *whole, text *byte, positions, last int) int

//go:noescape
func vbmiFat(tables *whole, text *byte, positions, last int) int

//go:noescape
func avx2Slim(tables *halves, text *byte, from, positions, last int) (at int, mask uint32)

//go:noescape
func avx2Fat(tables *halves, text *byte, from, positions, last int) (at int, mask uint32)

//go:noescape
func avx2Stop(tables *[3][16]byte, text *byte, from, length int) int

func (f *Filter) nextVBMI(text []byte, from, positions int) int {
	p, positions, last := &text[from], positions-from, f.width-1
	switch {
	case f.fat && f.high:
		return from + vbmiFat(f.whole, p, positions, last)
	case f.fat:
		return from + vbmiFatLow(f.whole, p, positions, last)
	case f.high:
		return from + vbmiSlim(f.whole, p, positions, last)
	}
	return from + vbmiSlimLow(f.whole, p, positions, last)
}

const avx2Block = 32

func (f *Filter) nextAVX2(text []byte, from, positions int) int {
	if positions < avx2Block {
		return f.nextPlain(text, from)
	}
	_ = text[from] // panics before the text: the kernel would read there
	for from < positions {
		var at int
		var mask uint32
		if f.fat {
			at, mask = avx2Fat(f.halves, &text[0], from, positions, f.width-1)
		} else {
			at, mask = avx2Slim(f.halves, &text[0], from, positions, f.width-1)
		}
		if mask == 0 {
			break
		}
		for ; mask != 0; mask &= mask - 1 {
			if i := at + bits.TrailingZeros32(mask); f.holds(text[i:]) {
				return i
			}
		}
		from = at + avx2Block
	}
	return positions
}

// nextVector is the same for VBMI: a block of 64 would do no better.
func (s *Stop) nextVector(text []byte, from int) int {
	if len(text) < avx2Block {
		return s.nextPlain(text, from)
	}
	_ = text[from] // as above
	return avx2Stop(&s.halves, &text[0], from, len(text))
}
