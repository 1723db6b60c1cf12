package prefilter

import (
	"math"
	"slices"
)

// bucket is windows joined, place by place.
type bucket struct {
	sets [Width]Set
	own  float64 // hits per byte of the windows in it
	more float64 // ... and of mixtures: a window's byte here, another's there
}

func bucketOf(w Window) bucket {
	return bucket{sets: setsOf(w), own: w.rate()}
}

// setsOf is a window of all places.
func setsOf(w Window) [Width]Set {
	sets := [Width]Set{full, full, full, full}
	copy(sets[:], w)
	return sets
}

func (b *bucket) rate() float64 { return b.own + b.more }

// mixing is the power of the plain product of what the places have of typical
// text that estimates the mixtures in a bucket: they are no words, but bytes
// that come together by chance, or nearly so. Counted in pages, for 20 to 100
// words and tags in 8 or 16 buckets, they were 1.4 to 2 times as many.
const mixing = 0.9

// join is a bucket with what is in two.
func (b *bucket) join(other *bucket) bucket {
	both := *b
	both.own += other.own
	product := 1.0
	for k := range both.sets {
		both.sets[k].join(&other.sets[k])
		product *= both.sets[k].part()
	}
	both.more = math.Pow(product, mixing)
	return both
}

func (b *bucket) covers(other *bucket) bool {
	for k := range b.sets {
		if !b.sets[k].covers(&other.sets[k]) {
			return false
		}
	}
	return true
}

func rateOfAll(buckets []bucket) float64 {
	sum := 0.0
	for i := range buckets {
		sum += buckets[i].rate()
	}
	return min(sum, 1)
}

const (
	slim = 8  // buckets: a bit of a byte for each
	fat  = 16 // ... of two bytes, which is half as fast

	// fatGain is how many hits per byte fat must save. A hit costs 20 ns here and
	// more in the matcher, a byte 0.02 ns (VBMI) to 0.08 ns (AVX2) more when fat.
	fatGain = 0.001

	// mostOpen bounds the work where windows are many: for each of them, it is
	// that many estimates.
	mostOpen = 64
)

// buckets puts windows into as few buckets as the kernels have bits for.
func buckets(windows []Window) []bucket {
	var m merger
	for _, w := range windows {
		m.add(bucketOf(w))
		m.reduce(mostOpen)
	}
	m.reduce(fat)
	many := slices.Clone(m.open)
	m.reduce(slim)
	if rateOfAll(m.open)-rateOfAll(many) > fatGain {
		return many
	}
	return m.open
}

// merger joins buckets greedily: each time the two that make the least of
// mixtures.
type merger struct {
	open   []bucket
	growth [mostOpen + 1][mostOpen + 1]float64 // of the mixtures, if two become one; both ways
}

// add opens a bucket, unless there is one that has it all.
func (m *merger) add(b bucket) {
	for i := range m.open {
		if m.open[i].covers(&b) {
			return
		}
	}
	m.open = append(m.open, b)
	m.compare(len(m.open) - 1)
}

// compare notes how a bucket goes with the others.
func (m *merger) compare(i int) {
	for j := range m.open {
		both := m.open[i].join(&m.open[j])
		growth := both.more - m.open[i].more - m.open[j].more
		m.growth[i][j], m.growth[j][i] = growth, growth
	}
}

// reduce joins buckets until there are at most so many.
func (m *merger) reduce(most int) {
	for len(m.open) > most {
		keep, drop, least := 0, 0, math.Inf(1)
		for i := range m.open {
			for j := range i {
				if m.growth[i][j] < least {
					keep, drop, least = j, i, m.growth[i][j]
				}
			}
		}
		m.open[keep] = m.open[keep].join(&m.open[drop])
		last := len(m.open) - 1
		m.open[drop] = m.open[last]
		m.open = m.open[:last]
		if drop < last {
			m.compare(drop)
		}
		m.compare(keep)
	}
}
