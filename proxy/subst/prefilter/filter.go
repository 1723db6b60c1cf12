package prefilter

import (
	"fmt"
	"math/bits"
)

// Filter looks for windows. It does not change: all may use it at once.
type Filter struct {
	kernel Kernel
	width  int
	fat    bool
	high   bool // bytes from 0x80 on can be in a window
	rate   float64

	// What the kernel needs of them:
	pair    *pair
	missing *missing
	whole   *whole
	halves  *halves
}

// missing has for each byte what it rules out: in each 16 bits, from the top
// down for the last place to the first, the buckets that lack it there.
type missing [256]uint64

// whole has for each place and byte the buckets that have it there: the first
// eight, the others.
type whole [2][Width][256]byte

// halves has for each place the buckets that have a byte with this low half
// there, and one with this high half; twice, for either part of a register. It
// is twice the same when slim. When fat, first come eight buckets, then the
// others.
type halves [Width][2][2][16]byte

// New builds a filter for windows, each of which has 1 to Width places. A
// kernel that this processor lacks is not for asking: see Supported.
func New(windows []Window, kernel Kernel) *Filter {
	width := 1
	for _, w := range windows {
		if len(w) < 1 || len(w) > Width {
			panic(fmt.Sprintf("prefilter: a window of %d places", len(w)))
		}
		width = max(width, len(w))
	}
	return newFilter(buckets(windows), width, kernel.resolve())
}

func newFilter(buckets []bucket, width int, kernel Kernel) *Filter {
	f := &Filter{kernel: kernel, width: width, fat: len(buckets) > slim, rate: rateOfAll(buckets)}
	if kernel != Plain && len(buckets) == 1 {
		f.pair = pairOf(buckets[0].sets[:width])
	}
	switch {
	case kernel == VBMI && f.pair == nil:
		f.fillWhole(buckets)
		return f
	case kernel == AVX2 && f.pair == nil:
		f.fillHalves(buckets)
	}
	f.fillMissing(buckets)
	return f
}

// Rate is how often to expect hits in typical text, per byte.
func (f *Filter) Rate() float64 { return f.rate }

// Width is how many places a filter looks at: those of the widest window.
func (f *Filter) Width() int { return f.width }

// Kernel is what it does it with.
func (f *Filter) Kernel() Kernel { return f.kernel }

// Next returns the first place, not before from, where a window may begin and
// the filter's width fits in. If there is none, it is the first place where the
// width does not fit in, or from if that is already beyond: what begins there or
// later has not been looked at.
func (f *Filter) Next(text []byte, from int) int {
	positions := len(text) - f.width + 1
	if from >= positions {
		return from
	}
	for from < positions {
		at, mask, size := f.block(text, from, positions)
		for ; mask != 0; mask &= mask - 1 {
			if i := at + bits.TrailingZeros64(mask); f.missing == nil || f.holds(text[i:]) {
				return i
			}
		}
		from = at + size
	}
	return positions
}

// block finds the next places where windows may begin, among so many bytes from
// one on. There are more of them than do begin, unless missing is nil. It has looked at all
// before the end of that block; without a place in it, that is the end of all.
func (f *Filter) block(text []byte, from, positions int) (at int, mask uint64, size int) {
	switch {
	case f.kernel == VBMI:
		at, mask = f.blockVBMI(text, from, positions)
		return at, mask, 64
	case f.kernel == AVX2 && positions >= avx2Block:
		at, mask = f.blockAVX2(text, from, positions)
		return at, mask, avx2Block
	}
	if at = f.nextPlain(text, from); at < positions {
		mask = 1
	}
	return at, mask, 1
}

// sourceOf is which place is looked at where a kernel looks at the k-th: one
// that looks at more than the width has looks at the last one again.
func (f *Filter) sourceOf(k int) int { return min(k, f.width-1) }

func (f *Filter) fillWhole(buckets []bucket) {
	f.whole = new(whole)
	for i := range buckets {
		bit := byte(1) << (i % slim)
		for k := range Width {
			set := &buckets[i].sets[f.sourceOf(k)]
			f.high = f.high || set[2]|set[3] != 0
			for c := range 256 {
				if set.has(byte(c)) {
					f.whole[i/slim][k][c] |= bit
				}
			}
		}
	}
}

func (f *Filter) fillHalves(buckets []bucket) {
	f.halves = new(halves)
	for i := range buckets {
		bit := byte(1) << (i % slim)
		for k := range Width {
			set := &buckets[i].sets[f.sourceOf(k)]
			for c := range 256 {
				if !set.has(byte(c)) {
					continue
				}
				for part := range 2 {
					if !f.fat || part == i/slim {
						f.halves[k][0][part][c&15] |= bit
						f.halves[k][1][part][c>>4] |= bit
					}
				}
			}
		}
	}
}
