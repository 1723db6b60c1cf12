package schedule

import (
	"strconv"
	"time"
)

const day = 24 * time.Hour

// The units of durations, longest first. Nothing changes them.
var units = [...]struct {
	name   string
	length time.Duration
}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

// unitLength is 0 for what is no unit.
func unitLength(name string) time.Duration {
	for _, u := range units {
		if u.name == name {
			return u.length
		}
	}
	return 0
}

// call is a shape with its arguments: rates, nanoseconds or a count.
type call struct {
	shape  *shape
	values [4]int64
}

func (c call) append(dst []byte) []byte {
	dst = append(append(dst, c.shape.name...), '(')
	for i, a := range c.shape.args {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch v := c.values[i]; a.kind {
		case aRate:
			dst = appendDecimal(dst, v, int64(perSecond))
		case aDuration:
			dst = appendDuration(dst, time.Duration(v))
		case aCount:
			dst = strconv.AppendInt(dst, v, 10)
		}
	}
	return append(dst, ')')
}

// String is the plan's canonical text, with one blank between parts. Parse
// makes the same plan of it.
func (p Plan) String() string {
	var text []byte
	for i, c := range p.calls {
		if i > 0 {
			text = append(text, ' ')
		}
		text = c.append(text)
	}
	return string(text)
}

// appendDuration writes d > 0 as Parse reads it: 1h30m, 1.5s, 250ms.
func appendDuration(dst []byte, d time.Duration) []byte {
	if d < time.Second {
		return append(appendDecimal(dst, int64(d), int64(time.Millisecond)), "ms"...)
	}
	for _, u := range units[:3] { // d, h, m
		if d >= u.length {
			dst = append(strconv.AppendInt(dst, int64(d/u.length), 10), u.name...)
			d %= u.length
		}
	}
	if d > 0 {
		dst = append(appendDecimal(dst, int64(d), int64(time.Second)), 's')
	}
	return dst
}

// appendDecimal writes v/one, where one is a power of ten.
func appendDecimal(dst []byte, v, one int64) []byte {
	dst = strconv.AppendInt(dst, v/one, 10)
	if v %= one; v > 0 {
		dst = append(dst, '.')
		for ; v > 0; v %= one {
			one /= 10
			dst = append(dst, byte('0'+v/one))
		}
	}
	return dst
}
