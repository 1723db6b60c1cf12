package prefilter

import (
	"math"
	"slices"
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

// likeness is how much less each further place of a window tells: neighbours go
// together, those of a word above all. With frequencies from one half of the
// files, windows were counted in the other half. The plain product of all parts
// is 200 times too small for words, and 2.5 times for classes as [0-9][0-9]. With
// the parts, from the smallest on, to the power of 1, likeness, likeness^2 and so
// on, both are right within a factor of 1.2 on average; most are within 8. Which
// window of a rule is the rarest is found out about as well with any power.
const likeness = 0.7

// Rate is how often to expect a stretch of places in typical text, in hits per
// byte.
func Rate(stretch []Set) float64 {
	parts := make([]float64, len(stretch))
	for k := range stretch {
		parts[k] = stretch[k].part()
	}
	slices.Sort(parts)
	rate, power := 1.0, 1.0
	for _, part := range parts {
		rate *= math.Pow(part, power)
		power *= likeness
	}
	return rate
}

func (w Window) rate() float64 { return Rate(w) }
