package subst

import "math/bits"

// A search that begins anew goes over bytes again. Mostly few, and that is done
// the plain way. But rules can make it so many, for start after start, that it
// would take forever: a with a[^<]*< on aaaa, where each a is a match, but not
// before the long candidate from there has failed.
//
// When a stream has taken more than enough steps a byte, it goes back over what
// it has seen with one start at a time, alone, until it has caught up. The state
// of a start alone says all about what can become of it, whichever it is. So
// each search leaves a trail, with marks on the way, and one that comes to a
// mark in the state that was left there goes straight to the end of that trail.
//
// Each state that starts come to is then followed once over each byte, and not
// once for each start. How many states there are at one place depends on the
// rules: one, mostly, or one for each rule; or as many as a counted repetition
// has counts.
type trails struct {
	list   []trail
	way    []mark // of the search that is on, from its start or behind joined
	due    int    // where it leaves its next mark
	joined int    // the trail that it has come to, and extends; -1: none
	oldest int    // the trail to be given up next
	vain   int    // searches, one after the other, that have come to none
	spare  []*state
}

// trail is where a start has led, or several that have come together. No match
// lies ahead on it: what is found ends a search, and the next one begins behind
// it.
type trail struct {
	marks []mark // the nearest one last
	ahead int    // how many of them the search has not passed
	end   mark
}

// mark is a place on the way.
type mark struct {
	pos   int
	state *state
}

// patience is when and how a search does better than going over bytes.
type patience struct {
	near   int // so many bytes are gone over again without further thought
	enough int // steps a byte
	step   int // bytes between marks, at least
	trails int // at most
	vain   int // searches that come to no trail, before none are left
	credit int // steps that are saved up, at most
	loop   int // bytes after which a loop is looked for
}

func usual() patience {
	return patience{near: 32, enough: 4, step: 8, trails: 64, vain: 200, credit: 1 << 18, loop: 512}
}

// beginTrail begins the trail of a start that is looked at alone.
func (s *search) beginTrail(at int) {
	if s.trails == nil {
		var ok bool
		if s.trails, ok = s.set.trails.Get().(*trails); !ok {
			s.trails = &trails{}
		}
	}
	t, p := s.trails, &s.set.patience
	t.begin(at)
	t.due = at + p.step
	if t.vain >= p.vain { // they take time and memory
		*t = trails{joined: -1, due: never, vain: t.vain}
		if t.vain >= 20*p.vain { // things may have changed
			t.vain = 0
		}
	}
	s.starts = append(s.starts[:0], at)
}

func (s *search) stopTrails() {
	if s.trails != nil {
		s.trails.clear()
		s.set.trails.Put(s.trails)
		s.trails = nil
	}
}

// begin forgets what lies before a new start.
func (t *trails) begin(at int) {
	for i := len(t.list) - 1; i >= 0; i-- {
		l := &t.list[i]
		for n := len(l.marks); n > 0 && l.marks[n-1].pos <= at; n-- {
			t.drop(&l.marks[n-1])
			l.marks = l.marks[:n-1]
		}
		if l.ahead = len(l.marks); l.ahead == 0 {
			t.drop(&l.end)
			last := len(t.list) - 1
			t.list[i], t.list[last] = t.list[last], t.list[i]
			t.list = t.list[:last]
		}
	}
	t.joined = -1
}

// clear forgets all.
func (t *trails) clear() {
	t.dropAll(&t.way)
	for i := range t.list {
		t.dropAll(&t.list[i].marks)
		t.drop(&t.list[i].end)
	}
	t.list, t.joined, t.vain = t.list[:0], -1, 0
}

// keep is the state to put in a mark: a copy, if it is going to change.
func (t *trails) keep(s *state) *state {
	if s.home != 0 {
		return s
	}
	var c *state
	if n := len(t.spare); n > 0 {
		c, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		c = new(state)
	}
	c.set(s)
	for g := range c.groups { // as a cache has it
		c.groups[g].depth = old
	}
	return c
}

// drop takes back what keep has given.
func (t *trails) drop(m *mark) {
	if m.state.home == 0 {
		t.spare = append(t.spare, m.state)
	}
	m.state = nil
}

func (t *trails) dropAll(marks *[]mark) {
	for i := range *marks {
		t.drop(&(*marks)[i])
	}
	*marks = (*marks)[:0]
}

// next is where a search has to stop next: to look at a mark, or to leave one.
func (t *trails) next() int {
	stop := t.due
	for i := range t.list {
		if l := &t.list[i]; l.ahead > 0 {
			stop = min(stop, l.marks[l.ahead-1].pos)
		}
	}
	return stop
}

// leaveMark leaves a mark if one is due. They get rarer as the start gets
// farther, and lie at round places, where those of other starts do too.
func (s *search) leaveMark() {
	t := s.trails
	if s.pos < t.due {
		return
	}
	if s.pos == t.due {
		t.way = append(t.way, mark{s.pos, t.keep(s.state)})
	}
	step := s.set.patience.step
	if n := bits.Len(uint(s.pos - s.starts[0])); n >= 2 {
		step = max(step, 1<<(n-2)) // more than a quarter of the distance
	}
	t.due = (s.pos/step + 1) * step
}

// endTrail keeps the way of the search, which ends here.
func (s *search) endTrail() {
	t := s.trails
	if t.joined < 0 {
		if s.pos >= s.starts[0]+s.set.patience.step {
			t.vain++
		}
		if len(t.way) > 0 {
			s.newTrail()
		}
		return
	}
	l := &t.list[t.joined]
	if l.end.pos == s.pos {
		t.dropAll(&t.way)
		return
	}
	t.drop(&l.end)
	l.end = mark{s.pos, t.keep(s.state)}
	n := len(t.way) // all farther than those it has
	l.marks = append(l.marks, t.way...)
	copy(l.marks[n:], l.marks)
	for i, m := range t.way {
		l.marks[n-1-i] = m
	}
	t.way = t.way[:0]
}

// newTrail makes a trail of the way of the search, in the place of another one
// if there are too many.
func (s *search) newTrail() {
	t := s.trails
	var l *trail
	switch n := len(t.list); {
	case n == s.set.patience.trails:
		t.oldest = (t.oldest + 1) % n
		l = &t.list[t.oldest]
		t.dropAll(&l.marks)
		t.drop(&l.end)
	case n < cap(t.list):
		t.list = t.list[:n+1]
		l = &t.list[n]
	default:
		t.list = append(t.list, trail{})
		l = &t.list[n]
	}
	*l = trail{marks: l.marks[:0], end: mark{s.pos, t.keep(s.state)}}
	t.prepend(l)
}

// prepend puts the way of the search before the marks of a trail.
func (t *trails) prepend(l *trail) {
	for i := len(t.way) - 1; i >= 0; i-- {
		l.marks = append(l.marks, t.way[i])
	}
	t.way = t.way[:0]
}

// join looks for a trail that comes by here in the state that the search is in,
// and goes to its end. It is false if there is none.
func (s *search) join() bool {
	t := s.trails
	at := -1
	for i := range t.list {
		l := &t.list[i]
		for l.ahead > 0 && l.marks[l.ahead-1].pos < s.pos {
			l.ahead--
		}
		if l.ahead == 0 || l.marks[l.ahead-1].pos > s.pos {
			continue
		}
		l.ahead--
		if at < 0 && l.end.pos > s.pos && s.alike(l.marks[l.ahead].state) {
			at = i
		}
	}
	if at < 0 {
		return false
	}

	l := &t.list[at]
	switch {
	case t.joined >= 0:
		s.endTrail()
	case l.ahead == len(l.marks)-1: // our way becomes the beginning of it
		t.prepend(l)
	case len(t.way) > 0: // it has another one
		s.newTrail()
		l = &t.list[at]
	}
	t.joined, t.vain = at, 0
	s.pos = l.end.pos
	s.steps++
	s.resume(l.end.state)
	return true
}

// alike tells whether a state that was kept is the one the search is in.
func (s *search) alike(kept *state) bool {
	return s.state == kept || (s.state.home != kept.home || kept.home == 0) && s.state.same(kept)
}
