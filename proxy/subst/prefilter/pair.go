package prefilter

import "math/bits"

// pair is the two rarest places of a window, if there is only one and it has
// letters there: to compare bytes is faster than to look them up.
type pair struct {
	at     [2]int
	want   [2]byte
	either [2]byte // a bit that a byte may have or not, as capitals do: want has it
}

// pairOf returns nil if there are no two such places.
func pairOf(sets []Set) *pair {
	var p pair
	var parts [2]float64
	found := 0
	for k := range sets {
		want, either, ok := sets[k].letter()
		if !ok {
			continue
		}
		part := sets[k].part()
		at := found
		if found == 2 { // the less rare one gives way
			at = 0
			if parts[1] > parts[0] {
				at = 1
			}
			if parts[at] <= part {
				continue
			}
		} else {
			found++
		}
		p.at[at], p.want[at], p.either[at], parts[at] = k, want, either, part
	}
	if found < 2 {
		return nil
	}
	return &p
}

// letter tells whether a set is one byte, or two that differ in one bit.
func (s *Set) letter() (want, either byte, ok bool) {
	var all []byte
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if len(all) == 2 {
				return 0, 0, false
			}
			all = append(all, byte(64*i+bits.TrailingZeros64(word)))
		}
	}
	switch len(all) {
	case 1:
		return all[0], 0, true
	case 2:
		either = all[0] ^ all[1]
		return all[0] | all[1], either, bits.OnesCount8(either) == 1
	}
	return 0, 0, false
}
