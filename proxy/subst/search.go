package subst

import (
	"sync/atomic"

	"redoubt/proxy/subst/prefilter"
)

// search finds matches, one after the other, in a text that comes in pieces.
// Positions are counted from the beginning of the stream.
//
// It goes over each byte once, but for what lies between the end of a match, or
// behind a start that was none, and the place where that was found out: there
// it begins anew. See trails for how this comes to an end.
type search struct {
	set   *Set
	text  window
	cache *cache
	state *state
	pos   int
	front int // the farthest that pos has been

	starts []int // of the groups that are old; the only start, where trails are kept
	match  match // of the youngest group, if it is pending; out of date where state accepts

	simulation *simulation // nil: not simulating
	trails     *trails     // nil: searching from all starts at once

	lookAgain int // the place from which on loops are looked for

	dull  int // the place from which on skipping is tried again
	gain  int // what it has saved lately
	pause int // for how long it is to be left alone next time

	ahead struct { // the next sign that is known
		piece int // where the piece begins that it is in
		hit   prefilter.Hit
	}

	credit int // steps that it may spend on going over bytes again without further thought
	paid   struct {
		front int
		steps int64
	} // what is in credit already

	scanned  int        // bytes, not reported to the cache yet
	steps    int64      // bytes, in all, each time that they were gone over
	overruns int64      // starts that the hold limit has ended
	open     []openRule // rules that were open at times that matter; few
}

// match is a place in the stream, and the rule that matches there.
type match struct {
	start, end int
	rule       int32
}

const never = int(^uint(0) >> 1)

// event is why advance has stopped.
type event uint8

const (
	more  event = iota // the text has come to its end, for now
	found              // a match is certain
	gone               // no match begins at the oldest start: none has ended within the hold limit, or it was alone
)

// reset begins a new stream.
func (s *search) reset() {
	s.stop()
	*s = search{set: s.set, starts: s.starts[:0], open: s.open[:0]}
	s.ahead.piece, s.pause = -1, leastPause
	s.begin(0)
	s.rest()
}

// stop gives back what was lent.
func (s *search) stop() {
	if s.cache != nil {
		s.report()
		s.cache = nil
	}
	s.stopSimulation()
	s.stopTrails()
}

// begin searches anew, from a place at or before pos, or right behind it.
func (s *search) begin(at int) {
	s.front = max(s.front, s.pos)
	p := &s.set.patience
	s.credit += p.enough*(s.front-s.paid.front) - int(s.steps-s.paid.steps)
	s.credit = max(-p.credit, min(s.credit, p.credit))
	s.paid.front, s.paid.steps = s.front, s.steps
	if s.trails != nil {
		s.endTrail()
	}
	s.stopSimulation()
	s.cache = s.set.current.Load()
	alone := s.front-at > p.near && s.credit < 0
	if alone {
		s.beginTrail(at)
	} else {
		s.stopTrails()
	}
	s.state = s.cache.beginOf(s.text.byteBefore(at), alone)
	s.pos = at
}

// startOf is where a group begins.
func (s *search) startOf(g int) int {
	switch {
	case s.simulation != nil:
		return s.simulation.starts[g]
	case g < s.state.olds:
		return s.starts[g]
	}
	return s.pos - int(s.state.groups[g].depth)
}

// oldest is the oldest open start: what comes before it is out of the question.
func (s *search) oldest() int {
	switch {
	case s.trails != nil: // also if nothing has come of it
		return s.starts[0]
	case len(s.state.groups) == 0:
		return s.pos
	}
	return s.startOf(0)
}

// limit is where the hold limit ends the oldest start; never, while all are
// younger than those the search knows by their state.
func (s *search) limit() int {
	if s.state.olds > 0 || s.simulation != nil && len(s.state.groups) > 0 {
		return s.startOf(0) + s.set.options.Hold
	}
	return never
}

// advance goes on to the next event, or to the end of the text.
func (s *search) advance() event {
	for {
		if s.state.final {
			if !s.state.pending {
				return gone
			}
			s.settle()
			return found
		}
		stop := s.limit()
		if s.pos == stop {
			return s.atLimit()
		}
		busy := uint32(1) // the first row of those that run goes on in
		switch {
		case s.trails != nil:
			if s.join() {
				continue
			}
			s.leaveMark()
			stop = min(stop, s.trails.next())
		case s.set.skipper == nil || s.simulation != nil:
		case s.pos < s.dull:
			stop = min(stop, s.dull)
		case s.state.row <= s.cache.idle && s.pos < s.text.end:
			if s.skip() {
				return found
			}
			continue
		default:
			busy = s.cache.idle + 1
		}
		if s.pos == s.text.end {
			return more
		}
		text := s.text.from(s.pos)
		text = text[:min(len(text), stop-s.pos)]
		if s.simulation == nil {
			before, some := s.state, text
			if s.pos >= s.lookAgain {
				some = text[:min(len(text), s.set.patience.loop)]
			}
			n := s.run(some, busy)
			s.pos += n
			s.scanned += n
			s.steps += int64(n)
			if n == len(some) {
				if n == s.set.patience.loop && s.state == before {
					s.pos += s.loop(text[n:])
				}
				continue
			}
			if s.state.row < busy { // where it may skip
				continue
			}
			text = text[n:]
		}
		s.turn(text[0])
	}
}

// settle brings match up to date where the state accepts.
func (s *search) settle() {
	if s.state.accept != 0 {
		s.match = match{s.startOf(len(s.state.groups) - 1), s.pos, s.state.accept - 1}
	}
}

// atLimit decides on the oldest start, which is as old as a match may be long.
// What an assertion says about the end may take one more byte.
func (s *search) atLimit() event {
	decided := int32(0)
	if s.state.waits && s.set.program.waits(s.state.nodesOf(0)) {
		if s.pos == s.text.end {
			return more
		}
		m := s.set.simulation()
		decided = m.decideAll(s.state.nodesOf(0), int(s.state.before), int(s.text.at(s.pos)))
		s.set.simulations.Put(m)
	}
	own := s.state.pending && len(s.state.groups) == 1
	if own {
		s.settle()
	}
	switch {
	case decided != 0 && (!own || s.match.end < s.pos || s.set.options.Match == First || decided-1 < s.match.rule):
		s.match = match{s.startOf(0), s.pos, decided - 1}
	case !own:
		s.overruns++
		s.openRule().gaveUp++
		return gone
	}
	return found
}

// openRule counts for a rule that the oldest start may still become a match of.
type openRule struct {
	rule         int32
	gaveUp, held int64 // see RuleStats
}

func (s *search) openRule() *openRule {
	rule := s.set.program.ruleOf(s.state.nodesOf(0))
	for i := range s.open {
		if s.open[i].rule == rule {
			return &s.open[i]
		}
	}
	s.open = append(s.open, openRule{rule: rule})
	return &s.open[len(s.open)-1]
}

// finish ends the search at the end of the stream: a match is certain or there
// is none.
func (s *search) finish() event {
	m := s.set.simulation()
	defer s.set.simulations.Put(m)
	m.step(s.state, end)
	switch {
	case m.out.pending:
		if m.record != 0 {
			s.match = match{s.startOf(int(m.by)), s.pos, m.record - 1}
		}
		return found
	case s.trails != nil:
		return gone
	}
	return more
}

// run goes on as long as there is nothing to do but to change states, or until
// it comes to a state whose row is less than busy, and returns how many bytes it
// has gone.
func (s *search) run(text []byte, busy uint32) int {
	row := s.state.row
	table := *s.cache.table.Load()
	classOf := &s.set.program.classOf
	n := len(text)
	for i, b := range text {
		e := atomic.LoadUint32(&table[row+uint32(classOf[b])])
		if e-busy >= special-busy { // less than busy, or special
			n = i
			if e != 0 && e < busy {
				row, n = e, i+1
			}
			break
		}
		row = e
	}
	if row != s.state.row {
		s.state = s.cache.stateAt(row)
	}
	return n
}

// turn takes a byte, whatever that means.
func (s *search) turn(b byte) {
	s.scanned++
	s.steps++
	if s.simulation != nil {
		s.simulate(b)
		return
	}
	class := s.set.program.classOf[b]
	e := atomic.LoadUint32(&(*s.cache.table.Load())[s.state.row+uint32(class)])
	for ok := true; e == 0; {
		if e, ok = s.cache.entry(s.state, class); !ok && !s.freshen() {
			s.beginSimulation()
			s.simulate(b)
			return
		}
	}
	if e&special == 0 {
		s.state = s.cache.stateAt(e)
		s.pos++
		return
	}
	a := &(*s.cache.acts.Load())[e&^special]
	if a.record != 0 {
		s.match = match{s.startOf(int(a.by)), s.pos, a.record - 1}
	}
	s.pos++
	for _, m := range a.moves {
		start := s.pos - int(m.age)
		if m.from >= 0 {
			start = s.starts[m.from]
		}
		if int(m.to) == len(s.starts) {
			s.starts = append(s.starts, start)
		} else {
			s.starts[m.to] = start
		}
	}
	s.state = a.next
}

// freshen goes over to a cache that has room. It is false if there is none.
func (s *search) freshen() bool {
	s.report()
	if !s.set.flush(s.cache) {
		return false
	}
	c := s.set.current.Load()
	state := c.adopt(s.state)
	if state == nil {
		return false
	}
	s.cache, s.state = c, state
	return true
}

// rest gives up what takes memory, as the next piece may be long in coming: a
// simulation, if the cache can do without, and the cache, which would be kept
// alive when all others have left it.
func (s *search) rest() {
	s.report()
	if s.simulation != nil {
		s.endSimulation()
	}
	s.cache = nil
}

// wake is for the next piece.
func (s *search) wake() {
	s.cache = s.set.current.Load()
	if s.simulation == nil {
		s.resume(s.state)
	}
}

// report tells the cache how much it has been used.
func (s *search) report() {
	s.cache.scanned.Add(int64(s.scanned))
	s.scanned = 0
}
