package prefilter

import (
	"cmp"
	"math"
	"slices"
)

// around is how many places on each side of a window are looked at: what lies
// farther off hardly ever tells more, and is not kept.
const around = 64

// known is a stretch as it is looked for: its bytes, if it has one in each place,
// or else its sets.
type known struct {
	literal string
	sets    []Set
	at      int // the window's first place
	back    int
}

// knownOf copies what it keeps.
func knownOf(s *Stretch) known {
	from := max(0, s.At-around)
	sets := s.Sets[from:min(len(s.Sets), s.At+len(s.window())+around)]
	k := known{at: s.At - from, back: s.Back}
	literal := make([]byte, len(sets))
	for i := range sets {
		want, either, ok := sets[i].letter()
		if !ok || either != 0 {
			k.sets = slices.Clone(sets)
			return k
		}
		literal[i] = want
	}
	k.literal = string(literal)
	return k
}

// holds tells whether the stretch is around a window, as far as the text goes.
func (s *known) holds(text []byte, window int) bool {
	at := window - s.at
	begin := max(at, 0)
	if s.sets == nil {
		end := min(at+len(s.literal), len(text))
		return string(text[begin:end]) == s.literal[begin-at:end-at]
	}
	sets := s.sets[begin-at:]
	for k, c := range text[begin:min(at+len(s.sets), len(text))] {
		if !sets[k].has(c) {
			return false
		}
	}
	return true
}

// set is what a stretch may have at a place of the window: anything behind its
// end.
func (s *known) set(place int) (set Set) {
	switch i := s.at + place; {
	case i < len(s.literal):
		c := s.literal[i]
		set[c>>6] |= 1 << (c & 63)
		return set
	case i < len(s.sets):
		return s.sets[i]
	}
	return full
}

// entry is a stretch in a list. It may be at a window whose bytes, the first the
// lowest, have the bits of want where mask has some: that settles most looks
// without the stretch itself.
type entry struct {
	mask, want uint32
	stretch    int32 // its number
}

func entryOf(s *known, number int) entry {
	e := entry{stretch: int32(number)}
	for k := range Width {
		set := s.set(k)
		if want, either, ok := set.letter(); ok {
			e.mask |= uint32(^either) << (8 * k)
			e.want |= uint32(want&^either) << (8 * k)
		}
	}
	return e
}

// few is how many stretches of a bucket are gone over one after another.
const few = 8

// group is the stretches of a bucket. When they are more than a few, a look goes
// over those only that may have the text's byte at one place of the window.
//
// A stretch takes 56 bytes, and its literal or 32 bytes for each of its places, of
// which there are at most 132; an entry takes 12, and there is one for each byte
// that a stretch may have at that place; begin takes 1 KB. For 10,000 words that
// makes 0.9 MB, with sets in 16 places 6 MB. If all had sets in 132, and any byte in
// the whole of the window, which is no rule to filter for, it would be 81 MB.
type group struct {
	all   []known     // the largest back first
	place int         // of the window: that of the lists
	lists []entry     // one after another, each with the largest back first
	begin *[257]int32 // where the list of each byte begins; nil: there is one list
	mean  float64     // how many entries a look goes over in typical text
}

func groupOf(all []known, width int) *group {
	slices.SortStableFunc(all, func(a, b known) int { return cmp.Compare(b.back, a.back) })
	g := &group{all: slices.Clip(all), mean: float64(len(all))}
	entries := make([]entry, len(all))
	for i := range all {
		entries[i] = entryOf(&all[i], i)
	}
	if len(all) > few {
		g.split(entries, width)
	} else {
		g.lists = entries
	}
	return g
}

// split makes the lists, at the place where a stretch has the fewest others in
// its list.
func (g *group) split(entries []entry, width int) {
	least := math.Inf(1)
	for place := range width {
		sum, squares := 0, 0
		for _, n := range lengths(g.setsAt(place)) {
			sum += n
			squares += n * n
		}
		if mean := float64(squares) / float64(max(sum, 1)); mean < least {
			g.place, least = place, mean
		}
	}
	sets := g.setsAt(g.place)
	g.begin = new([257]int32)
	g.lists = make([]entry, 0, len(entries))
	some, over := 0.0, 0.0
	for c, n := range lengths(sets) {
		for i := range sets {
			if sets[i].has(byte(c)) {
				g.lists = append(g.lists, entries[i])
			}
		}
		g.begin[c+1] = int32(len(g.lists))
		if n > 0 { // else there is no look
			some += float64(frequencies[c])
			over += float64(frequencies[c]) * float64(n)
		}
	}
	g.lists = slices.Clip(g.lists)
	g.mean = over / max(some, 1)
}

func (g *group) setsAt(place int) []Set {
	sets := make([]Set, len(g.all))
	for i := range g.all {
		sets[i] = g.all[i].set(place)
	}
	return sets
}

// lengths is how many of some sets have each byte.
func lengths(sets []Set) (n [256]int) {
	for i := range sets {
		for c := range n {
			if sets[i].has(byte(c)) {
				n[c]++
			}
		}
	}
	return n
}

// list is what a look goes over at a window of these bytes.
func (g *group) list(bytes uint32) []entry {
	if g.begin == nil {
		return g.lists
	}
	c := bytes >> (8 * g.place) & 0xff
	return g.lists[g.begin[c]:g.begin[c+1]]
}

// back is the largest back of the stretches around a window of these bytes, or
// least if none has more.
func (g *group) back(text []byte, window int, bytes uint32, least int) int {
	for _, e := range g.list(bytes) {
		if bytes&e.mask != e.want {
			continue
		}
		s := &g.all[e.stretch]
		if s.back <= least {
			break
		}
		if s.holds(text, window) {
			return s.back
		}
	}
	return least
}
