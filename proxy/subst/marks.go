package subst

import "slices"

// leaveMark leaves a mark where one is due, and says where the next one is.
func (s *search) leaveMark() {
	origin := -1
	if s.simulation != nil && len(s.state.groups) > 0 || s.state.olds > 0 {
		origin = s.starts[0]
	}
	if origin != s.origin {
		// No search begins anew before the oldest start.
		n := 0
		for n < len(s.marks) && (origin < 0 || s.marks[n].pos <= origin) {
			n++
		}
		s.marks = dropFirst(s.marks, n)
		s.origin = origin
		s.schedule()
	}
	if s.pos == s.next {
		s.note(addMark(&s.marks))
		s.schedule()
	}
}

// schedule finds the next place at a distance of firstMark, twice that, four
// times that ... from origin.
func (s *search) schedule() {
	s.next = never
	if s.origin >= 0 {
		distance := firstMark
		for s.origin+distance <= s.pos {
			distance *= 2
		}
		s.next = s.origin + distance
	}
}

// addMark makes room for a mark, in memory of old ones where there is some.
func addMark(list *[]mark) *mark {
	if n := len(*list); n < cap(*list) {
		*list = (*list)[:n+1]
	} else {
		*list = append(*list, mark{})
	}
	return &(*list)[len(*list)-1]
}

// remember keeps the marks behind a place for the search that begins there:
// those of this search, and farther on those that it has not come to. A search
// before has left them, and what it knows is not lost because a match was
// found in between.
func (s *search) remember(at int) {
	for n := len(s.before); n > 0 && s.before[n-1].pos <= at; n-- {
		s.before = s.before[:n-1]
	}
	s.dropGoals()
	n := len(s.marks)
	if at < s.pos && n > 0 && s.marks[n-1].pos > at {
		s.addGoal()
		for n--; n >= 0 && s.marks[n].pos > at; n-- {
			to := addMark(&s.before)
			*to, s.marks[n] = s.marks[n], *to
			to.goal = len(s.goals) - 1
		}
	}
	s.marks = s.marks[:0]
}

// addGoal notes where this search has come to.
func (s *search) addGoal() {
	if n := len(s.goals); n < cap(s.goals) {
		s.goals = s.goals[:n+1]
	} else {
		s.goals = append(s.goals, goal{})
	}
	g := &s.goals[len(s.goals)-1]
	s.note(&g.mark)
	g.match = s.match
}

// dropGoals drops those that no mark in before leads to any more. Marks that are
// nearer have later goals.
func (s *search) dropGoals() {
	goals := 0
	if n := len(s.before); n > 0 {
		goals = s.before[n-1].goal + 1
	}
	s.goals = s.goals[:goals]
}

// dropFirst drops the first n marks of a list, but keeps their memory at its
// end.
func dropFirst(list []mark, n int) []mark {
	if n == 0 {
		return list
	}
	for i := range list[n:] {
		list[i], list[n+i] = list[n+i], list[i]
	}
	return list[:len(list)-n]
}

// meet looks whether this search goes on from the mark at pos as the one before
// has, and if so, goes to where that had come to.
func (s *search) meet() {
	last := len(s.before) - 1
	m := &s.before[last]
	to := &s.goals[m.goal]
	simulating := s.simulation != nil
	same := s.state == m.state
	if simulating {
		same = s.state.same(m.state)
	}
	if !same || simulating != (to.state.row == 0) {
		s.before = s.before[:last]
		s.dropGoals()
		return
	}

	// What the groups of this search are, by where those of the other began.
	s.mine = s.mine[:0]
	for g := range s.state.groups {
		s.mine = append(s.mine, s.startOf(g))
	}
	moved := func(start int) int {
		if g, ok := slices.BinarySearch(m.starts, start); ok {
			return s.mine[g]
		}
		return start // it began behind the mark
	}
	if to.changes != m.changes {
		s.match = match{moved(to.match.start), to.match.end, to.match.rule}
		s.changes++
	}
	first := last
	for ; first >= 0 && s.before[first].goal == m.goal; first-- {
		from, mine := &s.before[first], addMark(&s.marks)
		mine.pos, mine.state, mine.changes = from.pos, from.state, s.changes
		if from.changes != to.changes {
			mine.changes = -1
		}
		mine.starts = mine.starts[:0]
		for _, start := range from.starts {
			mine.starts = append(mine.starts, moved(start))
		}
	}
	s.pos, s.state = to.pos, to.state
	for g, start := range to.starts {
		if !simulating && g == s.state.olds {
			break
		}
		if g == len(s.starts) {
			s.starts = append(s.starts, 0)
		}
		s.starts[g] = moved(start)
	}
	s.before = s.before[:first+1]
	s.dropGoals()
	s.origin, s.next = -1, never // leaveMark finds them
}
