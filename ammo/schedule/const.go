package schedule

import (
	"math/bits"
	"time"
)

// unit is how many nano-shots a second times nanoseconds make one shot.
const unit = 1_000_000_000_000_000_000

// A const fires shot n at n/rate. Both directions are one division of 128 by
// 64 bits, exact: a rate below 2^54 and times below 2^57 leave room.

// constShots counts the shots of a whole const.
func constShots(r rate, length time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(r), uint64(length))
	n, _ := bits.Div64(hi, lo, unit)
	return int64(n)
}

// constAt is n/r rounded to the nearest nanosecond, halves up.
func constAt(r rate, n int64) time.Duration {
	hi, lo := bits.Mul64(uint64(n), unit)
	lo, carry := bits.Add64(lo, uint64(r)/2, 0)
	t, _ := bits.Div64(hi+carry, lo, uint64(r))
	return time.Duration(t)
}

// constDue counts the shots with constAt <= t, those whose exact instant is
// before t + 1/2 ns.
func constDue(r rate, t time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(2*t+1), uint64(r))
	n, rest := bits.Div64(hi, lo, 2*unit)
	if rest > 0 {
		n++
	}
	return int64(n)
}
