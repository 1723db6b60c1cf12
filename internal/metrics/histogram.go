package metrics

import (
	"math/bits"
	"time"
)

// bounds are the buckets' upper ends: 1, 2 and 5 of each decade from 1 µs to
// 100 s. A last bucket has no end.
var bounds = [...]time.Duration{
	1 * time.Microsecond, 2 * time.Microsecond, 5 * time.Microsecond,
	10 * time.Microsecond, 20 * time.Microsecond, 50 * time.Microsecond,
	100 * time.Microsecond, 200 * time.Microsecond, 500 * time.Microsecond,
	1 * time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond,
	10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	1 * time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 20 * time.Second, 50 * time.Second,
	100 * time.Second,
}

const buckets = len(bounds) + 1

// firstBucket leads from a duration's length in bits to the first bucket that a
// duration of this length can be in. The bounds are a factor of two apart or
// more, so the only other one is the next.
var firstBucket = func() (first [65]uint8) {
	for length := range first {
		least := time.Duration(0)
		if length > 0 {
			least = 1 << (length - 1) // negative for 64, which no duration has
		}
		for first[length] < uint8(len(bounds)) && bounds[first[length]] < least {
			first[length]++
		}
	}
	return first
}()

// bucketOf is the bucket of a duration that is not negative.
func bucketOf(d time.Duration) int {
	i := int(firstBucket[bits.Len64(uint64(d))])
	if i < len(bounds) && d > bounds[i] {
		i++
	}
	return i
}

// Histogram counts durations by size, in buckets that end at 1, 2 and 5 of each
// decade from 1 µs to 100 s.
type Histogram struct {
	buckets [buckets]Counter
	sum     Counter // nanoseconds
}

// Observe is called by the histogram's only writer. A negative duration counts
// as none.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	h.buckets[bucketOf(d)].Add(1)
	h.sum.Add(uint64(d))
}

// Count is how many durations were observed.
func (h *Histogram) Count() (n uint64) {
	for i := range h.buckets {
		n += h.buckets[i].Value()
	}
	return n
}

// Sum is all durations together.
func (h *Histogram) Sum() time.Duration { return time.Duration(h.sum.Value()) }
