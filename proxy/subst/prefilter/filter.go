package prefilter

// filter points at the places where a window of some bucket may begin. Of those
// where one does, it leaves out none.
type filter struct {
	kernel Kernel
	width  int
	fat    bool

	// What the kernel needs of the buckets:
	pair    *pair
	missing *missing
	sevens  *sevens
	halves  *halves
}

// missing has for each byte what it rules out: in each 16 bits, from the top
// down for the last place to the first, the buckets that lack it there.
type missing [256]uint64

// sevens has for each place and the low seven bits of a byte the buckets that have
// such a byte there: the first eight, the others. A look-up of all eight bits takes
// twice as long; and texts of bytes from 0x80 on rarely look like a window so.
type sevens [2][Width][128]byte

// halves has for each place the buckets that have a byte with this low half
// there, and one with this high half; twice, for either part of a register. It
// is twice the same when slim. When fat, first come eight buckets, then the
// others.
type halves [Width][2][2][16]byte

func newFilter(buckets []bucket, width int, kernel Kernel) *filter {
	f := &filter{kernel: kernel, width: width, fat: len(buckets) > slim}
	if kernel != Plain && len(buckets) == 1 {
		f.pair = pairOf(buckets[0].sets[:width])
	}
	if kernel != VBMI { // AVX2 leaves what is too short to it
		f.fillMissing(buckets)
	}
	switch {
	case f.pair != nil:
	case kernel == VBMI:
		f.fillSevens(buckets)
	case kernel == AVX2:
		f.fillHalves(buckets)
	}
	return f
}

// block finds the next places that may begin a window, among so many positions,
// from one on. They are bits from at on. It has looked at all before the end of that
// block; with no bit, that is the end of all. What a pair, or parts of bytes, let
// through is more than does begin one.
func (f *filter) block(text []byte, from, positions int) (at int, mask uint64, size int) {
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
func (f *filter) sourceOf(k int) int { return min(k, f.width-1) }

func (f *filter) fillSevens(buckets []bucket) {
	f.sevens = new(sevens)
	for i := range buckets {
		bit := byte(1) << (i % slim)
		for k := range Width {
			set := &buckets[i].sets[f.sourceOf(k)]
			for c := range 256 {
				if set.has(byte(c)) {
					f.sevens[i/slim][k][c&0x7f] |= bit
				}
			}
		}
	}
}

func (f *filter) fillHalves(buckets []bucket) {
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
