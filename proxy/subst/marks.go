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
		s.note(s.addMark())
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
func (s *search) addMark() *mark {
	if len(s.marks) < cap(s.marks) {
		s.marks = s.marks[:len(s.marks)+1]
	} else {
		s.marks = append(s.marks, mark{})
	}
	return &s.marks[len(s.marks)-1]
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
func (s *search) meet() bool {
	m := &s.before[0]
	simulating := s.simulation != nil
	same := s.state == m.state
	if simulating {
		same = s.state.same(m.state)
	}
	if !same || simulating != (s.goal.state.row == 0) {
		s.before = dropFirst(s.before, 1)
		return false
	}

	// What the groups of this search are, by where those of the other began.
	s.mine = s.mine[:0]
	for g := range s.state.groups {
		s.mine = append(s.mine, s.startOf(g))
	}
	moved := func(start int) int {
		if g := slices.Index(m.starts, start); g >= 0 {
			return s.mine[g]
		}
		return start // it began behind the mark
	}
	if s.goal.changes != m.changes {
		s.match = match{moved(s.goalMatch.start), s.goalMatch.end, s.goalMatch.rule}
		s.changes++
	}
	for i := range s.before {
		from, to := &s.before[i], s.addMark()
		to.pos, to.state, to.changes = from.pos, from.state, s.changes
		if from.changes != s.goal.changes {
			to.changes = -1
		}
		to.starts = to.starts[:0]
		for _, start := range from.starts {
			to.starts = append(to.starts, moved(start))
		}
	}
	s.pos, s.state = s.goal.pos, s.goal.state
	for g, start := range s.goal.starts {
		if !simulating && g == s.state.olds {
			break
		}
		if g == len(s.starts) {
			s.starts = append(s.starts, 0)
		}
		s.starts[g] = moved(start)
	}
	s.before = s.before[:0]
	s.origin, s.next = -1, never // leaveMark finds them
	return true
}
