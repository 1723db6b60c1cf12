package subst

import (
	"regexp/syntax"
	"slices"

	"redoubt/proxy/subst/prefilter"
)

// needle is bytes that every match of a rule has, one of each set, one after the
// other; and how far from its start they may be.
type needle struct {
	sets     []byteSet
	nearest  int
	farthest int     // -1: any distance
	before   byteSet // what may stand between
}

// stretch is needles one of which every match has, all at the same place: more
// than one where a part of it differs, as in https?://.
type stretch struct {
	ways     [][]byteSet
	nearest  int // see needle
	farthest int
	before   byteSet
}

// signs are the rarest ones of its needles.
func (t *stretch) signs() (signs []sign) {
	for _, way := range t.ways {
		n := needle{way, t.nearest, t.farthest, t.before}
		signs = append(signs, n.rarest())
	}
	return signs
}

// stretchesOf are those of an expression, each as long as it goes.
func stretchesOf(re *syntax.Regexp) []stretch {
	w := stretcher{budget: 1000, measures: make(measures)}
	w.cut()
	w.walk(re)
	w.cut()
	return w.done
}

const (
	maxWays   = 4
	maxVaried = 16 // places of what a stretch may have or not
)

// stretcher collects stretches on the way through an expression.
type stretcher struct {
	done   []stretch
	run    stretch // the one that may go on
	here   extent  // how far it is from the start
	passed byteSet // what may stand between
	budget int     // of parts to look at: repetitions are looked at twice

	measures measures
}

// place adds a byte.
func (w *stretcher) place(s byteSet) {
	for i := range w.run.ways {
		w.run.ways[i] = append(w.run.ways[i], s)
	}
	w.here = w.here.then(extent{min: 1, max: 1})
	w.passed.join(s)
}

// vary adds one of several rows of places. It is false, and nothing is done, if
// that makes too many ways.
func (w *stretcher) vary(rows [][]byteSet) bool {
	if len(w.run.ways)*len(rows) > maxWays {
		return false
	}
	var ways [][]byteSet
	length := extent{never: true}
	for _, row := range rows {
		length = length.or(extent{min: len(row), max: len(row)})
		for _, s := range row {
			w.passed.join(s)
		}
		for _, way := range w.run.ways {
			ways = append(ways, slices.Concat(way, row))
		}
	}
	w.run.ways = ways
	w.here = w.here.then(length)
	return true
}

// gap adds bytes that are not always as many.
func (w *stretcher) gap(e extent, bytes byteSet) {
	w.here = w.here.then(e)
	w.passed.join(bytes)
	w.cut()
}

// cut ends a stretch; another one may begin here.
func (w *stretcher) cut() {
	if len(w.run.ways) > 0 && !slices.ContainsFunc(w.run.ways, func(way []byteSet) bool { return len(way) == 0 }) {
		w.done = append(w.done, w.run)
	}
	w.run = stretch{ways: make([][]byteSet, 1), nearest: w.here.min, farthest: w.here.max, before: w.passed}
}

// places are those of an expression that is bytes and always as many.
func (w *stretcher) places(re *syntax.Regexp) (row []byteSet, ok bool) {
	one := stretcher{budget: w.budget, measures: w.measures}
	one.cut()
	one.walk(re)
	w.budget = one.budget
	if len(one.done) > 0 || len(one.run.ways) != 1 {
		return nil, false
	}
	row = one.run.ways[0]
	return row, one.here == extent{min: len(row), max: len(row)}
}

func (w *stretcher) skip(re *syntax.Regexp) {
	m := w.measures.of(re)
	w.gap(m.extent, m.bytes)
}

func (w *stretcher) walk(re *syntax.Regexp) {
	if w.budget--; w.budget < 0 {
		w.skip(re)
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.runes(ranges(&syntax.Inst{Rune: []rune{r}, Arg: uint32(re.Flags)}))
		}
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if single, ok := oneByte(re); ok {
			w.place(single)
		} else {
			w.runes(re.Rune)
		}
	case syntax.OpCapture:
		w.walk(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			w.walk(sub)
		}
	case syntax.OpStar:
		w.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		w.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		w.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		w.repeat(re.Sub[0], re.Min, re.Max)
	case syntax.OpAlternate:
		w.either(re)
	case syntax.OpNoMatch:
		w.place(byteSet{})
	}
}

// repeat passes over a repetition. Of a few places, it is so many ways. Else the
// first ones go on the stretch before it, and the last ones begin the next.
func (w *stretcher) repeat(re *syntax.Regexp, least, most int) {
	if most >= 0 && most > least && most-least < maxWays {
		if row, ok := w.places(re); ok && len(row)*most <= maxVaried {
			var rows [][]byteSet
			for n := least; n <= most; n++ {
				rows = append(rows, slices.Repeat(row, n))
			}
			if w.vary(rows) {
				return
			}
		}
	}
	n := min(least, prefilter.Width)
	before := w.here
	for range n {
		w.walk(re)
	}
	if n == most {
		return
	}
	if most >= 0 {
		most -= n
	}
	w.here = before
	m := w.measures.of(re)
	w.gap(m.extent.repeat(least-n, most), m.bytes)
	for range n {
		w.walk(re)
	}
}

// either passes over alternatives: if all are bytes, and few, they are so many
// ways; if all are as many bytes, they are places.
func (w *stretcher) either(re *syntax.Regexp) {
	var rows [][]byteSet
	same := true
	for _, sub := range re.Sub {
		row, ok := w.places(sub)
		if !ok {
			w.skip(re)
			return
		}
		rows = append(rows, row)
		same = same && len(row) == len(rows[0])
	}
	switch {
	case w.vary(rows):
	case same:
		for k := range rows[0] {
			var s byteSet
			for _, row := range rows {
				s.join(row[k])
			}
			w.place(s)
		}
	default:
		w.skip(re)
	}
}

// runes passes over one rune of pairs.
func (w *stretcher) runes(pairs []rune) {
	const most = 64
	single, beyond := inBytes(pairs)
	if len(beyond) == 0 { // maybe nothing at all: such a rule never matches
		w.place(single)
		return
	}
	var all []sequence
	for i := 0; i < len(beyond) && len(all) < most; i += 2 {
		all = split(all, beyond[i], beyond[i+1])
	}
	n := all[0].n
	if single != (byteSet{}) || len(all) >= most || slices.ContainsFunc(all, func(s sequence) bool { return s.n != n }) {
		w.gap(runeExtent(pairs), bytesOfRunes(pairs))
		return
	}
	for at := range n {
		var s byteSet
		for i := range all {
			s.add(all[i].bytes[at].lo, all[i].bytes[at].hi)
		}
		w.place(s)
	}
}
