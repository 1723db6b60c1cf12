package subst

import "sync/atomic"

// search finds matches, one after the other, in a text that comes in pieces.
// Positions are counted from the beginning of the stream.
//
// It goes over each byte once, but for what lies between the end of a match, or
// behind a start that was none, and the place where that was found out: there
// it begins anew. Done so for start after start, this could take forever (rules
// a and a[^<]*< on aaaa), so the search leaves marks on its way, at growing
// distances from the oldest open start. One that begins anew, and comes to a
// mark in the state that was left there, would go on as the one before it has:
// it goes straight to where that had come to.
type search struct {
	set   *Set
	text  window
	cache *cache
	state *state
	pos   int

	starts []int // of the groups that are old; of all of them while simulating
	match  match // of the youngest group, if it is pending; out of date where state accepts

	simulation *stepper // nil: not simulating
	made       [2]state // what the simulation works on, in turn
	simulated  int      // bytes since it began

	origin  int    // the oldest start, as marks are left; -1: none that is old
	next    int    // where the next mark is to be left
	marks   []mark // of this search
	changes int    // how often match was set

	before []mark // of searches before, from pos on; the nearest one last
	goals  []goal // ... and where these had come to
	mine   []int  // see meet

	scanned  int   // bytes, not reported to the cache yet
	steps    int64 // bytes, in all, each time that they were gone over
	overruns int64 // starts that the hold limit has ended
}

// match is a place in the stream, and the rule that matches there.
type match struct {
	start, end int
	rule       int32
}

// mark is a place that a search has passed.
type mark struct {
	pos     int
	state   *state
	starts  []int // of all groups
	changes int   // search.changes then; -1: match has been set since
	goal    int   // of a mark in before: which one of goals
}

// goal is where a search had come to that ended in an event.
type goal struct {
	mark
	match match
}

const (
	never     = int(^uint(0) >> 1)
	firstMark = 32 // bytes from the oldest start; a search that begins anew goes over so many for nothing
)

// event is why advance has stopped.
type event uint8

const (
	more  event = iota // the text has come to its end, for now
	found              // a match is certain
	gone               // no match from the oldest start has ended within the hold limit
)

// reset begins a new stream.
func (s *search) reset() {
	s.stopSimulation()
	s.text = window{}
	s.scanned, s.steps, s.overruns = 0, 0, 0
	s.pos = 0
	s.begin(0)
}

// begin searches anew, from a place at or before pos.
func (s *search) begin(at int) {
	s.remember(at)
	s.stopSimulation()
	s.cache = s.set.current.Load()
	s.state = s.cache.beginOf(s.text.byteBefore(at))
	s.pos, s.origin, s.next = at, -1, never
}

// note fills in a mark at pos.
func (s *search) note(m *mark) {
	m.pos, m.state, m.changes = s.pos, s.state, s.changes
	if s.simulation != nil {
		m.state = s.state.clone()
	}
	m.starts = m.starts[:0]
	for g := range s.state.groups {
		m.starts = append(m.starts, s.startOf(g))
	}
}

// startOf is where a group begins.
func (s *search) startOf(g int) int {
	if s.simulation != nil || g < s.state.olds {
		return s.starts[g]
	}
	return s.pos - int(s.state.groups[g].depth)
}

// oldest is the oldest open start: what comes before it is out of the question.
func (s *search) oldest() int {
	if len(s.state.groups) == 0 {
		return s.pos
	}
	return s.startOf(0)
}

// advance goes on to the next event, or to the end of the text.
func (s *search) advance() event {
	for {
		if s.state.final {
			s.settle()
			return found
		}
		limit := never
		if s.simulation != nil && len(s.state.groups) > 0 || s.state.olds > 0 { // no other is as old as the limit
			limit = s.starts[0] + s.set.options.Hold
		}
		if s.pos == limit {
			return s.atLimit()
		}
		if s.origin >= 0 || s.state.olds > 0 || s.simulation != nil {
			s.leaveMark()
		}
		if n := len(s.before); n > 0 && s.pos == s.before[n-1].pos {
			s.meet()
			continue
		}
		if s.pos == s.text.end {
			return more
		}
		until := min(limit, s.next)
		if n := len(s.before); n > 0 {
			until = min(until, s.before[n-1].pos)
		}
		text := s.text.from(s.pos)
		text = text[:min(len(text), until-s.pos)]
		if s.simulation == nil {
			n := s.run(text)
			s.pos += n
			s.scanned += n
			s.steps += int64(n)
			if n == len(text) {
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
		s.changes++
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
		m := s.set.stepper()
		decided = m.decideAll(s.state.nodesOf(0), int(s.state.before), int(s.text.at(s.pos)))
		s.set.steppers.Put(m)
	}
	own := s.state.pending && len(s.state.groups) == 1
	if own {
		s.settle()
	}
	switch {
	case decided != 0 && (!own || s.match.end < s.pos || s.set.options.Match == First || decided-1 < s.match.rule):
		s.match = match{s.starts[0], s.pos, decided - 1}
	case !own:
		s.overruns++
		return gone
	}
	return found
}

// finish ends the search at the end of the stream: a match is certain or there
// is none.
func (s *search) finish() event {
	if s.state.final {
		s.settle()
		return found
	}
	m := s.set.stepper()
	defer s.set.steppers.Put(m)
	m.step(s.state, end)
	if !m.out.pending {
		return more
	}
	if m.record != 0 {
		s.match = match{s.startOf(int(m.by)), s.pos, m.record - 1}
	}
	return found
}

// run goes on as long as there is nothing to do but to change states, and
// returns how many bytes it has gone.
func (s *search) run(text []byte) int {
	row := s.state.row
	table := *s.cache.table.Load()
	classOf := &s.set.program.classOf
	n := len(text)
	for i, b := range text {
		e := atomic.LoadUint32(&table[row+uint32(classOf[b])])
		if e-1 >= special-1 { // 0, or special
			n = i
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
		s.changes++
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

// report tells the cache how much it has been used.
func (s *search) report() {
	s.cache.scanned.Add(int64(s.scanned))
	s.scanned = 0
}
