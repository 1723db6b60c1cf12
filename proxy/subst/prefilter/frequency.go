package prefilter

import (
	"math"
	"math/bits"
)

// frequencies says how many of a million bytes of typical text are this one.
// Counted from 29 MB, a part by its weight: HTML 45 % (manuals and API pages of
// some twenty projects), JavaScript 25 % (packages of npm, minified files of
// pages), JSON 12 % (manifests, records), prose 10 % (README files), CSS 8 %.
// No byte has less than 20: that it is not in there does not say much.
var frequencies = [256]uint32{
	20, 20, 20, 20, 20, 20, 20, 20, 20, 1712, 19227, 20, 20, 26, 20, 20, // 0x00
	20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, // 0x10
	123156, 735, 28726, 2793, 236, 355, 1664, 2873, 6326, 6325, 1888, 640, 10670, 11313, 13378, 16430, // ' '
	6872, 7150, 5588, 4861, 4555, 3824, 3999, 3155, 3410, 3134, 10783, 4768, 17978, 10765, 18448, 375, // '0'
	420, 2790, 1133, 2249, 1564, 2626, 1205, 638, 757, 2308, 345, 328, 1611, 1237, 1385, 1504, // '@'
	1817, 440, 1822, 3048, 2675, 928, 611, 654, 458, 369, 133, 1651, 931, 1649, 111, 5263, // 'P'
	1372, 44134, 10235, 25845, 25863, 62595, 13428, 10728, 18365, 38022, 2433, 4685, 30995, 14533, 36679, 37213, // '`'
	19270, 817, 37242, 42823, 52740, 14215, 6035, 5019, 4569, 6881, 905, 3847, 752, 3846, 111, 20, // 'p'
	443, 299, 457, 174, 61, 55, 66, 95, 123, 67, 54, 110, 104, 57, 66, 184, // 0x80
	98, 96, 101, 78, 176, 89, 70, 71, 97, 103, 121, 120, 127, 99, 64, 95, // 0x90
	1657, 114, 76, 63, 104, 66, 56, 66, 59, 59, 49, 53, 62, 51, 55, 55, // 0xa0
	691, 106, 181, 105, 132, 396, 75, 91, 419, 129, 285, 337, 142, 472, 431, 142, // 0xb0
	20, 20, 1725, 123, 24, 26, 20, 20, 20, 20, 20, 20, 20, 20, 26, 20, // 0xc0
	3795, 1260, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, // 0xd0
	42, 20, 240, 20, 58, 267, 267, 233, 224, 196, 20, 41, 48, 24, 20, 87, // 0xe0
	20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, // 0xf0
}

// likeness is how much it tells what stands beside the rarest byte. A byte knows
// only the one before it here, while words are known from longer pieces: the
// chances as they are would be 9 times too small for them. So all that makes a
// stretch rarer than its rarest place is taken to this power.
//
// With the tables from one half of the files, windows were counted in the other:
//
//	                                    estimated    within a factor of 8
//	any pieces of text                  x 1.2        86 %
//	words                               x 1.1        77 %
//	  ... of the most frequent          x 0.2        69 %
//	[0-9]{4}, ="[a-z], four blanks ...  x 1.0        96 %
//	sets of bytes picked at random      x 9          54 %
//
// Where a rule has a choice, the window that is estimated the rarest comes 1.4 to
// 1.5 times as often as the one that is (64 rules, geometric mean; the worst 46
// times).
const likeness = 0.7

// Rate is how often to expect a stretch of places in typical text, in hits per
// byte. It does not rise with a place more, nor fall with a byte more in a set.
func Rate(stretch []Set) float64 {
	var w walk
	var next place
	for k := range stretch {
		if k == 0 || stretch[k] != stretch[k-1] {
			next = placeOf(&stretch[k])
		}
		w.goOn(&next)
	}
	return w.rate()
}

func (w Window) rate() float64 { return Rate(w) }

// walk goes along a stretch.
type walk struct {
	steps int
	at    place            // the last one
	fits  [classes]float64 // which part of typical text fits so far and ends there with a byte of this class
	least float64          // ... fits the rarest place
}

func (w *walk) goOn(next *place) {
	if w.steps == 0 {
		w.fits, w.least = next.part, next.all
	} else {
		w.fits = typicalNeighbours().step(&w.fits, &w.at, next)
		w.least = min(w.least, next.all)
	}
	w.steps++
	w.at = *next
}

func (w *walk) rate() float64 {
	if w.steps == 0 {
		return 1
	}
	whole := 0.0
	for _, x := range w.fits {
		whole += x
	}
	if whole == 0 {
		return 0
	}
	return w.least * math.Pow(min(whole/w.least, 1), likeness)
}

// million is what frequencies add up to.
const million = 1e6

// place is a set of bytes, by class.
type place struct {
	all   float64          // which part of typical text they are
	n     int              // how many classes they are of
	class [classes]uint8   // ... which
	part  [classes]float64 // ... and which part of typical text each is
}

func placeOf(s *Set) (p place) {
	typical := typicalNeighbours()
	var sum [classes]uint32
	var has uint64 // classes
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			c := 64*i + bits.TrailingZeros64(word)
			class := typical.class[c&0xff] % classes
			sum[class] += frequencies[c&0xff]
			has |= 1 << class
		}
	}
	all := uint32(0)
	for ; has != 0; has &= has - 1 {
		class := bits.TrailingZeros64(has) % classes
		p.class[p.n%classes] = uint8(class)
		p.part[p.n%classes] = float64(sum[class]) / million
		p.n++
		all += sum[class]
	}
	p.all = float64(all) / million
	return p
}
