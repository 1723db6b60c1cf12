package schedule

import (
	"math"
	"math/bits"
	"time"
)

// A line from rate a to rate b within d has
//
//	F(t) = a·t + (b-a)/(2d)·t²
//
// shots until t, and fires shot n where F(t) = n. Floating point finds that
// place to within a fraction of a shot, but not always to the nanosecond, so
// integers have the last word: with t as u halves of a nanosecond, F(t) > n is
//
//	u·(4·a·d + (b-a)·u) > 8·d·unit·n
//
// whose sides may have 170 bits. Their difference, though, is all that is
// asked for, and near the place it fits 128: both sides can be taken modulo
// 2^128. (One shot is 8·d·unit < 2^120, so up to 2^7 shots can be told apart.)

// lineShots counts the shots of a whole line: F(d).
func lineShots(from, to rate, length time.Duration) int64 {
	return constShots(from+to, length) / 2
}

// ahead is F(u/2 ns) - n, in shots times oneShot. Whether it is above 0 is
// exact, the rest is rounded. F and n must be less than 2^7 shots apart.
func (p *part) ahead(u, n int64) float64 {
	d := uint64(p.length)
	// 4·a·d + (b-a)·u
	hi, lo := bits.Mul64(4*uint64(p.from), d)
	var carry uint64
	if p.to > p.from {
		h, l := bits.Mul64(uint64(p.to-p.from), uint64(u))
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	} else {
		h, l := bits.Mul64(uint64(p.from-p.to), uint64(u))
		lo, carry = bits.Sub64(lo, l, 0)
		hi -= h + carry
	}
	// times u
	h, l := bits.Mul64(lo, uint64(u))
	hi, lo = hi*uint64(u)+h, l
	// less 8·d·unit·n
	shotHi, shotLo := bits.Mul64(8*d, unit)
	h, l = bits.Mul64(shotLo, uint64(n))
	lo, carry = bits.Sub64(lo, l, 0)
	hi -= shotHi*uint64(n) + h + carry
	// Rounding lo up to 2^64 may turn -1 into 0, but nothing into more than 0.
	return float64(int64(hi))*(1<<64) + float64(lo)
}

// oneShot is 8·d·unit.
func (p *part) oneShot() float64 { return 8 * float64(p.length) * unit }

// slopes are the first rate in shots a nanosecond, and how it grows with one.
func (p *part) slopes() (from, slope float64) {
	return float64(p.from) / unit, float64(p.to-p.from) / unit / float64(p.length)
}

// lineAt is the instant of shot n rounded to the nearest nanosecond, halves up:
// the first t with F(t + 1/2 ns) > n.
func (p *part) lineAt(n int64) time.Duration {
	if n == 0 {
		return 0
	}
	// This form of the quadratic's root stands any slope, also none, and a = 0.
	from, slope := p.slopes()
	root := 2 * float64(n) / (from + math.Sqrt(max(0, from*from+2*slope*float64(n))))
	last := int64(p.length) - 1
	t := min(int64(root+0.5), last)
	// Within hours this is seldom wrong, and by 1. Else Newton's steps lead on.
	for {
		var ahead float64
		if ahead = p.ahead(2*t+1, n); ahead > 0 {
			if t == 0 {
				return 0
			}
			if ahead = p.ahead(2*t-1, n); ahead <= 0 {
				return time.Duration(t)
			}
		}
		step := int64(ahead / p.oneShot() / (from + slope*float64(t)))
		if ahead > 0 {
			step = max(step, 1)
		} else {
			step = min(step, -1)
		}
		t = min(max(0, t-step), last)
	}
}

// lineDue counts the shots with lineAt <= t: those with F(t + 1/2 ns) > n.
func (p *part) lineDue(t time.Duration) int64 {
	from, slope := p.slopes()
	n := int64(math.Ceil(float64(t) * (from + slope/2*float64(t))))
	for p.ahead(int64(2*t+1), n) > 0 {
		n++
	}
	for n > 0 && p.ahead(int64(2*t+1), n-1) <= 0 {
		n--
	}
	return n
}
