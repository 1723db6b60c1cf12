package subst

// A simulation makes each state as it needs it, and keeps none: for rules that
// need so many states, or so large ones, that a cache of them is no use. It is
// slower by the number of nodes that are open.
type simulation struct {
	*stepper
	made   [2]state // what it works on, in turn
	starts []int    // of all groups
	steps  int
}

// tryCache is after how many bytes a simulation looks whether its state is one
// that the cache has, or has room for.
const tryCache = 256

func (s *Set) simulation() *simulation {
	if m, ok := s.simulations.Get().(*simulation); ok {
		return m
	}
	return &simulation{stepper: newStepper(s.program, s.options.Match)}
}

func (s *search) beginSimulation() {
	m := s.set.simulation()
	m.steps, m.starts = 0, m.starts[:0]
	for g := range s.state.groups {
		m.starts = append(m.starts, s.startOf(g))
	}
	s.simulation = m
}

func (s *search) stopSimulation() {
	if s.simulation != nil {
		s.set.simulations.Put(s.simulation)
		s.simulation = nil
	}
}

// resume goes on from a state that may be of another cache, or of none.
func (s *search) resume(from *state) {
	to := from
	if from.home != s.cache.id {
		to = s.cache.adopt(from)
	}
	if to != nil {
		s.stopSimulation()
		s.state = to
		return
	}
	if s.simulation == nil {
		s.beginSimulation()
	}
	s.simulation.become(s, from)
}

// become goes on from a state.
func (m *simulation) become(s *search, o *state) {
	to := &m.made[0]
	if s.state == to {
		to = &m.made[1]
	}
	to.set(o)
	s.state = to
}

// simulate takes a byte.
func (s *search) simulate(b byte) {
	m := s.simulation
	m.step(s.state, int(b))
	if m.record != 0 {
		s.match = match{m.starts[m.by], s.pos, m.record - 1}
	}
	s.pos++
	for g, origin := range m.origins { // in order: none is overwritten before it is read
		start := s.pos
		if int(origin) < len(s.state.groups) {
			start = m.starts[origin]
		}
		if g < len(m.starts) {
			m.starts[g] = start
		} else {
			m.starts = append(m.starts, start)
		}
	}
	m.become(s, &m.out)
	if m.steps++; m.steps%tryCache == 0 {
		s.endSimulation()
	}
}

// endSimulation goes on with the cache, if that has the state or room for it.
func (s *search) endSimulation() {
	m := s.simulation
	for g := range s.state.groups {
		depth := s.pos - m.starts[g]
		if depth > s.set.young || s.trails != nil {
			depth = old
		}
		s.state.groups[g].depth = int32(depth)
	}
	s.cache = s.set.current.Load()
	state := s.cache.adopt(s.state)
	if state == nil {
		return
	}
	if s.trails == nil {
		s.starts = append(s.starts[:0], m.starts[:state.olds]...)
	}
	s.state = state
	s.stopSimulation()
}
