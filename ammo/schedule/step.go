package schedule

import "time"

// A step is a stair of consts: the rates from, from ± increment, ... not beyond
// to, and then to itself if none of them was it. It goes down when to is below
// from.

// steps counts the consts. An increment of 0 is for from == to.
func steps(from, to, increment int64) int64 {
	way := max(from-to, to-from)
	if way == 0 {
		return 1
	}
	return 1 + (way+increment-1)/increment
}

func (p *Plan) addSteps(from, to, increment rate, length time.Duration) {
	for r := from; r != to; {
		p.add(r, r, length)
		if r < to {
			r = min(r+increment, to)
		} else {
			r = max(r-increment, to)
		}
	}
	p.add(to, to, length)
}
