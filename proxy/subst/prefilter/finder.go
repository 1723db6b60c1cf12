package prefilter

import (
	"fmt"
	"math/bits"
	"slices"
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

// Finder finds windows that have their stretches around them. It does not change:
// all may use it at once.
type Finder struct {
	filter *filter
	rate   float64
	over   float64            // stretches gone over, per byte
	only   *known             // the stretch, if there is one
	in     [Width][256]uint16 // the buckets that have a byte at a place
	groups [fat]*group        // of each bucket, what its windows are from
}

// NewFinder builds a finder. Of a stretch it copies what it keeps: up to 64
// places on each side of the window; those beyond are not looked at. A kernel
// that this processor lacks is not for asking: see Supported.
func NewFinder(stretches []Stretch, kernel Kernel) *Finder {
	windows := make([]Window, len(stretches))
	for i := range stretches {
		if s := &stretches[i]; s.At < 0 || s.At >= len(s.Sets) || s.Back < 0 {
			panic(fmt.Sprintf("prefilter: a window at %d of %d places, %d back", s.At, len(s.Sets), s.Back))
		}
		windows[i] = stretches[i].window()
	}
	return newFinder(stretches, buckets(windows), kernel)
}

// newFinder is for buckets that have all windows.
func newFinder(stretches []Stretch, buckets []bucket, kernel Kernel) *Finder {
	f := &Finder{rate: rateOfAll(buckets)}
	width := 1
	var of [fat][]known // each bucket
	for i := range stretches {
		window := stretches[i].window()
		width = max(width, len(window))
		own := bucket{sets: setsOf(window)}
		b := slices.IndexFunc(buckets, func(b bucket) bool { return b.covers(&own) })
		of[b] = append(of[b], knownOf(&stretches[i]))
	}
	f.filter = newFilter(buckets, width, kernel.resolve())
	for b := range buckets {
		for k := range width {
			for c := range 256 {
				if buckets[b].sets[k].has(byte(c)) {
					f.in[k][c] |= 1 << b
				}
			}
		}
		f.groups[b] = groupOf(of[b], width)
		f.over += buckets[b].rate() * f.groups[b].mean
	}
	if len(stretches) == 1 {
		f.only = &f.groups[0].all[0]
	}
	return f
}

// Rate is how often to expect a window in typical text, per byte, with those that
// come of joining; so often, at least, it looks around.
func (f *Finder) Rate() float64 { return f.rate }

// PerLook is about how many stretches a look goes over in typical text, before it
// knows; at least 1.
func (f *Finder) PerLook() float64 {
	if f.rate == 0 {
		return 1
	}
	return max(f.over/f.rate, 1)
}

// Width is how many places a window has: those of the widest one.
func (f *Finder) Width() int { return f.filter.width }

// Kernel is what finds the windows.
func (f *Finder) Kernel() Kernel { return f.filter.kernel }

// Hit is what Next has found.
type Hit struct {
	// At is the place. Without one, it is the first where the width does not fit in,
	// or where to begin if that is already beyond: what begins there or later has not
	// been looked at.
	At int
	// Back is the largest Back of the stretches that are there; 0 without one.
	Back int
	// Looks is how many places were looked around at, this one among them: what a
	// kernel lets through. Against the bytes gone over it tells whether that pays.
	Looks int
}

// Next finds the first place, not before from, where the finder's width fits in
// and a window with its stretch is, as far as the text goes.
func (f *Finder) Next(text []byte, from int) (hit Hit) {
	positions := len(text) - f.filter.width + 1
	hit.At = max(from, positions)
	for from < positions {
		block, mask, size := f.filter.block(text, from, positions)
		for ; mask != 0; mask &= mask - 1 {
			at := block + bits.TrailingZeros64(mask)
			hit.Looks++
			if back := f.back(text, at); back >= 0 {
				hit.At, hit.Back = at, back
				return hit
			}
		}
		from = block + size
	}
	return hit
}

// back is the largest Back of the stretches around a place; -1 if there is none.
func (f *Finder) back(text []byte, at int) int {
	if f.only != nil {
		if f.only.holds(text, at) {
			return f.only.back
		}
		return -1
	}
	in, bytes := ^uint16(0), uint32(0)
	for k, c := range text[at : at+f.filter.width] {
		in &= f.in[k&(Width-1)][c]
		bytes |= uint32(c) << (8 * (k & (Width - 1)))
	}
	back := -1
	for ; in != 0; in &= in - 1 {
		back = f.groups[bits.TrailingZeros16(in)&(fat-1)].back(text, at, bytes, back)
	}
	return back
}
