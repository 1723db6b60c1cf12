package prefilter

import "golang.org/x/sys/cpu"

func hasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI1 }

func hasVBMI() bool {
	return hasAVX2() && cpu.X86.HasBMI2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI
}

// The kernels look at the places 0 to Width-1, or at the last one again. They
// are given a text with so many positions, at least one, and what is the last
// place; those of AVX2 need 32 positions. They return a block and where windows
// may begin in it, or no bits if they have come to the end.

//go:noescape
func vbmiSlim(tables *sevens, text *byte, positions, last int) (at int, mask uint64)

//go:noescape
func vbmiFat(tables *sevens, text *byte, positions, last int) (at int, mask uint64)

//go:noescape
func avx2Slim(tables *halves, text *byte, from, positions, last int) (at int, mask uint32)

//go:noescape
func avx2Fat(tables *halves, text *byte, from, positions, last int) (at int, mask uint32)

//go:noescape
func vbmiPair(p *pair, text *byte, positions, last int) (at int, mask uint64)

//go:noescape
func avx2Pair(p *pair, text *byte, from, positions, last int) (at int, mask uint32)

//go:noescape
func avx2Stop(tables *[3][16]byte, text *byte, from, length int) int

// blockVBMI finds the next block in which windows may begin, and where in it.
func (f *filter) blockVBMI(text []byte, from, positions int) (at int, mask uint64) {
	p, positions, last := &text[from], positions-from, f.width-1
	switch {
	case f.pair != nil:
		at, mask = vbmiPair(f.pair, p, positions, last)
	case f.fat:
		at, mask = vbmiFat(f.sevens, p, positions, last)
	default:
		at, mask = vbmiSlim(f.sevens, p, positions, last)
	}
	return from + at, mask
}

const avx2Block = 32

// blockAVX2 is the same. It needs avx2Block positions.
func (f *filter) blockAVX2(text []byte, from, positions int) (at int, mask uint64) {
	_ = text[from]
	var bits uint32
	switch {
	case f.pair != nil:
		at, bits = avx2Pair(f.pair, &text[0], from, positions, f.width-1)
	case f.fat:
		at, bits = avx2Fat(f.halves, &text[0], from, positions, f.width-1)
	default:
		at, bits = avx2Slim(f.halves, &text[0], from, positions, f.width-1)
	}
	return at, uint64(bits)
}

// nextVector is the same for VBMI: a block of 64 would do no better.
func (s *Stop) nextVector(text []byte, from int) int {
	if len(text) < avx2Block {
		return s.nextPlain(text, from)
	}
	_ = text[from] // as above
	return avx2Stop(&s.halves, &text[0], from, len(text))
}
