package schedule

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// build lays a call's parts behind those that are there. It returns what is
// wrong as the number of the argument to blame, what was wanted and what there
// is; want is empty if all is well.
func (p *Plan) build(c call) (blame int, want, got string) {
	v := c.values
	last := len(c.shape.args) - 1
	length := time.Duration(v[last]) // of each part
	count := int64(1)                // of parts
	if c.shape == stepShape {
		if v[2] == 0 && v[0] != v[1] {
			return 2, "an INCREMENT above 0", "0"
		}
		count = steps(v[0], v[1], v[2])
	}
	if room := MaxParts - int64(len(p.parts)); count > room {
		return max(last-1, 0), fmt.Sprintf("a plan of at most %d parts and steps", MaxParts),
			strconv.FormatInt(count+int64(len(p.parts)), 10)
	}
	if length > (MaxDuration-p.duration)/time.Duration(count) {
		total := float64(p.duration) + float64(length)*float64(count)
		return last, fmt.Sprintf("a plan of at most %d days", MaxDuration/day),
			fmt.Sprintf("%.0f days with this", math.Ceil(total/float64(day)))
	}
	switch c.shape {
	case constShape:
		p.add(rate(v[0]), rate(v[0]), length)
	case lineShape:
		p.add(rate(v[0]), rate(v[1]), length)
	case stepShape:
		p.addSteps(rate(v[0]), rate(v[1]), rate(v[2]), length)
	case pauseShape:
		p.add(0, 0, length)
	case floodShape:
		p.conns, p.duration = int(v[0]), length
	}
	if c.shape == constShape && v[0] == 0 {
		c = call{pauseShape, [4]int64{v[1]}} // one text for one meaning
	}
	p.calls = append(p.calls, c)
	return 0, "", ""
}

// add appends a part.
func (p *Plan) add(from, to rate, length time.Duration) {
	n := part{from: from, to: to, length: length, begin: p.duration, first: p.shots}
	if from == to {
		n.shots = constShots(from, length)
	} else {
		n.shots = lineShots(from, to, length)
	}
	p.parts = append(p.parts, n)
	p.shots += n.shots
	p.duration += length
}
