package prefilter

import (
	"fmt"
	"math/bits"
)

// Stretch is a window with what stands around it: Sets[At] is its first place. A
// match begins at most Back bytes before that.
type Stretch struct {
	Sets []Set
	At   int
	Back int
}

// window is the part that is looked for.
func (s *Stretch) window() Window { return s.Sets[s.At:min(s.At+Width, len(s.Sets))] }

// Finder is a [Filter] that makes sure: a window counts only where it is one of a
// stretch, and all of that is there. A look around costs a few nanoseconds, but
// much less than what a matcher would do on the spot. It does not change: all may
// use it at once.
type Finder struct {
	filter   *Filter
	only     bool               // one stretch
	in       [Width][256]uint16 // the buckets that have a byte at a place
	possible [fat][]known       // of each bucket
}

// NewFinder builds a finder. A kernel that this processor lacks is not for
// asking: see Supported.
func NewFinder(stretches []Stretch, kernel Kernel) *Finder {
	windows := make([]Window, len(stretches))
	width := 1
	for i := range stretches {
		if s := &stretches[i]; s.At < 0 || s.At >= len(s.Sets) || s.Back < 0 {
			panic(fmt.Sprintf("prefilter: a window at %d of %d places, %d back", s.At, len(s.Sets), s.Back))
		}
		windows[i] = stretches[i].window()
		width = max(width, len(windows[i]))
	}
	buckets := buckets(windows)
	f := &Finder{filter: newFilter(buckets, width, kernel.resolve()), only: len(stretches) == 1}
	for b := range buckets {
		for k := range width {
			for c := range 256 {
				if buckets[b].sets[k].has(byte(c)) {
					f.in[k][c] |= 1 << b
				}
			}
		}
	}
	for i := range stretches {
		own := bucketOf(windows[i])
		for b := range buckets {
			if buckets[b].covers(&own) {
				f.possible[b] = append(f.possible[b], knownOf(stretches[i]))
				break
			}
		}
	}
	return f
}

// Rate is that of the filter.
func (f *Finder) Rate() float64 { return f.filter.rate }

// Width is that of the filter.
func (f *Finder) Width() int { return f.filter.width }

// Kernel is that of the filter.
func (f *Finder) Kernel() Kernel { return f.filter.kernel }

// Next is Filter.Next, but for windows whose stretch is not there, as far as the
// text goes. With a place where there are some comes the largest Back of those.
func (f *Finder) Next(text []byte, from int) (at, back int) {
	positions := len(text) - f.filter.width + 1
	if from >= positions {
		return from, 0
	}
	for from < positions {
		block, mask, size := f.filter.block(text, from, positions)
		for ; mask != 0; mask &= mask - 1 {
			at := block + bits.TrailingZeros64(mask)
			if back := f.back(text, at); back >= 0 {
				return at, back
			}
		}
		from = block + size
	}
	return positions, 0
}

// back is the largest Back of the stretches around a window; -1 if there is none.
func (f *Finder) back(text []byte, at int) int {
	back := -1
	if f.only {
		if s := &f.possible[0][0]; s.holds(text, at) {
			back = s.Back
		}
		return back
	}
	possible := ^uint16(0)
	for k, c := range text[at : at+f.filter.width] {
		possible &= f.in[k&(Width-1)][c]
	}
	for ; possible != 0; possible &= possible - 1 {
		stretches := f.possible[bits.TrailingZeros16(possible)&(fat-1)]
		for i := range stretches {
			if s := &stretches[i]; s.Back > back && s.holds(text, at) {
				back = s.Back
			}
		}
	}
	return back
}

// known is a stretch with what it is if it has one byte in each place.
type known struct {
	Stretch
	literal string
}

func knownOf(s Stretch) known {
	var literal []byte
	for k := range s.Sets {
		want, either, ok := s.Sets[k].letter()
		if !ok || either != 0 {
			return known{Stretch: s}
		}
		literal = append(literal, want)
	}
	return known{s, string(literal)}
}

// holds tells whether the stretch is there, as far as the text goes.
func (s *known) holds(text []byte, at int) bool {
	at -= s.At
	if s.literal != "" && at >= 0 && at+len(s.literal) <= len(text) {
		return string(text[at:at+len(s.literal)]) == s.literal
	}
	sets := s.Sets
	if at < 0 {
		sets, at = sets[-at:], 0
	}
	text = text[at:]
	sets = sets[:min(len(sets), len(text))]
	for k := range sets {
		if !sets[k].has(text[k]) {
			return false
		}
	}
	return true
}
