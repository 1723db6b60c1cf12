package slab

import "math/bits"

// places is a set of small integers that finds its first and its last member
// in a few steps: a bitmap, above it a bitmap of its words that are not zero,
// and so on up to a single word.
type places struct {
	levels [][]uint64 // from the members up
	n      int        // members
}

// newPlaces returns an empty set of integers below size.
func newPlaces(size int) places {
	var p places
	for {
		size = max(1, (size+63)/64)
		p.levels = append(p.levels, make([]uint64, size))
		if size == 1 {
			return p
		}
	}
}

// add puts i, which is no member, into the set.
func (p *places) add(i uint32) {
	p.n++
	for _, level := range p.levels {
		word := level[i/64]
		level[i/64] = word | 1<<(i%64)
		if word != 0 {
			return
		}
		i /= 64
	}
}

// remove takes the member i out of the set.
func (p *places) remove(i uint32) {
	p.n--
	for _, level := range p.levels {
		level[i/64] &^= 1 << (i % 64)
		if level[i/64] != 0 {
			return
		}
		i /= 64
	}
}

// first is the smallest member of a set that is not empty.
func (p *places) first() uint32 {
	i := uint32(0)
	for l := len(p.levels) - 1; l >= 0; l-- {
		i = i*64 + uint32(bits.TrailingZeros64(p.levels[l][i]))
	}
	return i
}

// last is the largest member of a set that is not empty.
func (p *places) last() uint32 {
	i := uint32(0)
	for l := len(p.levels) - 1; l >= 0; l-- {
		i = i*64 + uint32(bits.Len64(p.levels[l][i])-1)
	}
	return i
}
