package subst

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"

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

// sign is a needle of few bytes: what is looked for, a window of the prefilter.
type sign struct {
	needle
	around prefilter.Stretch // the sign within the needle
	rate   float64           // expected hits per byte
	sure   float64           // ... of those where the whole needle is
	way    float64           // about how many bytes before those a match may begin
}

const (
	// perLook is what a look around a sign costs, in bytes of search, if there is one
	// needle to look for, and perStretch for each more. perHit is what it costs to
	// search on the spot, besides the way back.
	perLook    = 15
	perStretch = 3
	perHit     = 60
	// reach is the distance up to which the search begins as far before a hit as
	// any match might; if it can be farther, it looks back at the bytes.
	reach = 32
)

// rarest is the rarest sign in a needle.
func (n *needle) rarest() sign {
	const most = 64 // bytes before and behind
	all := windowOf(n.sets)
	at, found, rate := prefilter.Choose(all)
	from, to := max(0, at-most), min(len(all), at+most)
	s := sign{needle: *n, around: prefilter.Stretch{Sets: all[from:to], At: at - from}, rate: rate}
	s.sure = min(rate, prefilter.Rate(s.around.Sets))
	s.sets, s.nearest = n.sets[at:at+len(found)], n.nearest+at
	for _, set := range n.sets[:at] {
		s.before.join(set)
	}
	if n.farthest >= 0 {
		s.farthest += at
		s.way = float64(s.farthest)
	}
	if !s.near() { // as if bytes came independently
		s.way = min(1/max(1-prefilter.Rate(windowOf([]byteSet{s.before})), 0.001), 1000)
	}
	return s
}

// windowOf is sets as the prefilter has them.
func windowOf(sets []byteSet) prefilter.Window {
	w := make(prefilter.Window, len(sets))
	for i := range sets {
		w[i] = prefilter.Set(sets[i])
	}
	return w
}

// near tells whether all matches begin within reach of the window.
func (s *sign) near() bool { return s.farthest >= 0 && s.farthest <= reach }

// cost is what looking for signs takes from each byte of a text, in bytes of
// search, where those of all rules come at some rate.
func cost(signs []sign, rate float64) (sum float64) {
	for _, s := range signs {
		sum += s.rate * perLook
	}
	return sum + costOfHits(signs, rate)
}

// costOfHits is the part of it that is for what looking finds. If matches may
// begin anywhere before a sign, the search looks back for that at each hit, also
// of other rules.
func costOfHits(signs []sign, rate float64) (sum float64) {
	for _, s := range signs {
		sum += s.sure * (perHit + s.way)
		if !s.near() {
			sum += rate * s.way
		}
	}
	return sum
}

// rateOf is how often to expect one of some signs to be sure, per byte.
func rateOf(signs []sign) (sum float64) {
	for _, s := range signs {
		sum += s.sure
	}
	return sum
}

// signs are those that rules are looked for by: one of a rule's signs is in each
// of its matches. A rule of which that cannot be said has none.
func (p *program) signs(rules []rule) [][]sign {
	// Which are best depends on those of the others, so they are chosen twice.
	all := make([][]sign, len(rules))
	rate := 0.0
	for range 2 {
		for i := range rules {
			all[i] = p.signsOf(i, rules[i].find, rate)
		}
		rate = rateOf(slices.Concat(all...))
	}
	return all
}

// signsOf are the signs of a rule that cost least, where those of all rules
// come at some rate.
func (p *program) signsOf(i int, find *syntax.Regexp, rate float64) (best []sign) {
	for find.Op == syntax.OpCapture {
		find = find.Sub[0]
	}
	ways := []*syntax.Regexp{find}
	if find.Op == syntax.OpAlternate {
		ways = find.Sub
	}
	for _, way := range ways {
		var least []sign
		for _, t := range stretchesOf(way) {
			if signs := t.signs(); least == nil || cost(signs, rate) < cost(least, rate) {
				least = signs
			}
		}
		if least == nil {
			best = nil
			break
		}
		best = append(best, least...)
	}
	if sets, sure := p.leading(i, 4*prefilter.Width); sure > 0 {
		lead := needle{sets: sets[:sure]}
		if w := []sign{lead.rarest()}; best == nil || cost(w, rate) < cost(best, rate) {
			return w
		}
	}
	return best
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

// oneByte is the bytes of a class that takes one byte only.
func oneByte(re *syntax.Regexp) (s byteSet, ok bool) {
	switch re.Op {
	case syntax.OpAnyChar:
		s.add(0, 0xff)
		return s, true
	case syntax.OpAnyCharNotNL:
		s.add(0, '\n'-1)
		s.add('\n'+1, 0xff)
		return s, true
	}
	s, beyond := inBytes(re.Rune)
	return s, len(beyond) == 0
}

// measure is how many bytes an expression's matches have, and which.
type measure struct {
	extent extent
	bytes  byteSet
}

// measures are those of parts of an expression, each taken once.
type measures map[*syntax.Regexp]measure

func (known measures) of(re *syntax.Regexp) (m measure) {
	m, ok := known[re]
	if ok {
		return m
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			m.bytes.join(bytesOfRunes(ranges(&syntax.Inst{Rune: []rune{r}, Arg: uint32(re.Flags)})))
		}
		m.extent = extentOf(re)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.extent = extentOf(re)
		if m.bytes, ok = oneByte(re); !ok {
			m.bytes = bytesOfRunes(re.Rune)
		}
	default:
		subs := make([]extent, len(re.Sub))
		for i, sub := range re.Sub {
			of := known.of(sub)
			subs[i] = of.extent
			m.bytes.join(of.bytes)
		}
		m.extent = combine(re, subs)
	}
	known[re] = m
	return m
}

func bytesOfRunes(pairs []rune) byteSet {
	single, beyond := inBytes(pairs)
	if len(beyond) > 0 {
		single.add(utf8.RuneSelf, 0xff)
	}
	return single
}
