package subst

// A simulation makes each state as it needs it, and keeps none: for rules that
// need so many states, or so large ones, that a cache of them is no use. It is
// slower by the number of nodes that are open.

// tryCache is after how many bytes a simulation looks whether its state is one
// that the cache has, or has room for.
const tryCache = 256

func (s *search) beginSimulation() {
	s.simulation, s.simulated = s.set.stepper(), 0
	for g := s.state.olds; g < len(s.state.groups); g++ {
		start := s.pos - int(s.state.groups[g].depth)
		if g < len(s.starts) {
			s.starts[g] = start
		} else {
			s.starts = append(s.starts, start)
		}
	}
}

func (s *search) stopSimulation() {
	if s.simulation != nil {
		s.set.steppers.Put(s.simulation)
		s.simulation = nil
	}
}

// simulate takes a byte.
func (s *search) simulate(b byte) {
	m := s.simulation
	m.step(s.state, int(b))
	if m.record != 0 {
		s.match = match{s.starts[m.by], s.pos, m.record - 1}
		s.changes++
	}
	s.pos++
	for g, origin := range m.origins { // in order: none is overwritten before it is read
		start := s.pos
		if int(origin) < len(s.state.groups) {
			start = s.starts[origin]
		}
		if g < len(s.starts) {
			s.starts[g] = start
		} else {
			s.starts = append(s.starts, start)
		}
	}
	to := &s.made[0]
	if s.state == to {
		to = &s.made[1]
	}
	nodes, groups := append(to.nodes[:0], m.out.nodes...), append(to.groups[:0], m.out.groups...)
	*to = m.out
	to.nodes, to.groups = nodes, groups
	s.state = to
	if s.simulated++; s.simulated%tryCache == 0 {
		s.endSimulation()
	}
}

// endSimulation goes on with the cache, if that has the state or room for it.
func (s *search) endSimulation() {
	for g := range s.state.groups {
		depth := s.pos - s.starts[g]
		if depth > s.set.young {
			depth = old
		}
		s.state.groups[g].depth = int32(depth)
	}
	s.cache = s.set.current.Load()
	if state := s.cache.adopt(s.state); state != nil {
		s.state = state
		s.stopSimulation()
	}
}
