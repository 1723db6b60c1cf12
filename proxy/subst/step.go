package subst

import "regexp/syntax"

// stepper makes states from states. It is the one place that knows what the
// nodes mean; the cache of states and the simulation both stand on it. It has
// memory of its own, so that a step allocates nothing once that has grown.
type stepper struct {
	p     *program
	first bool // Match is First

	now, next visited // nodes reached at this position, and behind the byte
	stack     []int32
	still     bool // no node takes anything

	// What step has made:
	out     state
	origins []int32 // of each group: its index in the state before, or the number of those if it begins here
	record  int32   // 1 more than the rule that matches before the byte, 0: none
	by      int32   // ... and the group that does, in the state before
}

func newStepper(p *program, m Match) *stepper {
	return &stepper{p: p, first: m == First, now: newVisited(len(p.nodes)), next: newVisited(len(p.nodes))}
}

// lookingAhead are the assertions that take the byte behind into account.
const lookingAhead = syntax.EmptyEndLine | syntax.EmptyEndText | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary

// end is the symbol behind the last byte.
const end = -1

// contextOf is the byte that stands for all that assertions cannot tell from
// it.
func contextOf(b int) int16 {
	switch {
	case b < 0:
		return -1
	case b == '\n':
		return '\n'
	case b < 0x80 && syntax.IsWordChar(rune(b)):
		return 'a'
	}
	return ' '
}

// begin makes the state of a search that begins behind a byte, for all starts
// from there on or for this one alone.
func (m *stepper) begin(before int, alone bool) {
	m.clear()
	m.open(before, 0)
	m.out.alone = alone
	m.close(before)
}

func (m *stepper) clear() {
	m.out.nodes, m.out.groups, m.origins = m.out.nodes[:0], m.out.groups[:0], m.origins[:0]
	m.out.accept, m.out.pending = 0, false
	m.record, m.by = 0, 0
	m.now.clear()
	m.next.clear()
}

// step takes a byte, or end, from a state.
//
// The match that record names ends before the byte: an assertion has just been
// decided, or s had accepted and the new state does not. It is left out where
// the new state accepts, since that match is the better one: longer or of an
// older start, or preferred.
func (m *stepper) step(s *state, b int) {
	m.clear()
	last := int32(len(s.groups) - 1)
	if s.accept != 0 {
		m.record, m.by = s.accept, last
	}
	for g := range int32(len(s.groups)) {
		decided, matched := m.advance(s.nodesOf(int(g)), int(s.before), b)
		if decided != 0 && (m.record == 0 || g < m.by || m.first || decided < m.record) {
			m.record, m.by = decided, g
		}
		accepted := decided != 0 || matched != 0
		m.out.accept = matched
		m.out.pending = accepted || s.pending && g == last
		m.endGroup(g, m.out.pending)
		if accepted { // younger starts, and what they have matched, are out of it
			break
		}
	}
	m.out.alone = s.alone
	if !m.out.pending && !s.alone && b != end {
		m.open(b, int32(len(s.groups)))
	}
	if m.out.accept != 0 {
		m.record = 0
	}
	m.close(b)
}

// close fills in what follows from the rest.
func (m *stepper) close(before int) {
	m.out.waits = m.p.waits(m.out.nodes)
	m.out.before = ' '
	if m.out.waits {
		m.out.before = contextOf(before)
	}
	m.out.final = (m.out.pending || m.out.alone) && len(m.out.nodes) == 0
	m.out.alone = m.out.alone && !m.out.pending
}

// waits tells whether some node is an assertion.
func (p *program) waits(nodes []int32) bool {
	for _, n := range nodes {
		if p.nodes[n].op == opAssert {
			return true
		}
	}
	return false
}

// open begins a group behind a byte.
func (m *stepper) open(before int, origin int32) {
	m.out.accept = m.follow(m.p.start, before)
	m.out.pending = m.out.accept != 0
	m.endGroup(origin, m.out.pending)
}

// endGroup makes a group of the nodes that were added since the one before.
func (m *stepper) endGroup(origin int32, keep bool) {
	from := int32(0)
	if n := len(m.out.groups); n > 0 {
		from = m.out.groups[n-1].end
	}
	m.trim(from)
	end := int32(len(m.out.nodes))
	if end > from || keep {
		m.out.groups = append(m.out.groups, group{end: end})
		m.origins = append(m.origins, origin)
	}
}

// advance moves one group's nodes over a byte. decided is a match before it,
// matched one behind it.
func (m *stepper) advance(nodes []int32, before, b int) (decided, matched int32) {
	for _, at := range nodes {
		var d, got int32
		switch n := &m.p.nodes[at]; n.op {
		case opBytes:
			if m.now.add(at) && m.takes(n, b) {
				got = m.follow(n.out, b)
			}
		case opAssert:
			d, got = m.decide(at, before, b)
		default: // a node on the way to an assertion
			m.now.add(at)
		}
		if d != 0 && (decided == 0 || d < decided) {
			decided = d
		}
		if got != 0 && (matched == 0 || got < matched) {
			matched = got
		}
		if m.first && (d != 0 || got != 0) { // the rest is less preferred
			break
		}
	}
	return decided, matched
}

// takes tells whether a node takes b.
func (m *stepper) takes(n *node, b int) bool {
	return b != end && !m.still && m.p.sets[n.arg].has(byte(b))
}

// decide follows an assertion, with the byte that it has waited for.
func (m *stepper) decide(at int32, before, b int) (decided, matched int32) {
	holds := holds(before, b)
	base := len(m.stack)
	m.stack = append(m.stack, at)
	for len(m.stack) > base {
		at := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if !m.now.add(at) {
			continue
		}
		switch n := &m.p.nodes[at]; n.op {
		case opBytes:
			if !m.takes(n, b) {
				continue
			}
			if got := m.follow(n.out, b); got != 0 {
				if matched == 0 || got < matched {
					matched = got
				}
				if m.first {
					m.stack = m.stack[:base]
				}
			}
		case opSplit:
			m.stack = append(m.stack, n.alt, n.out)
		case opAssert:
			if holds&n.assert != 0 {
				m.stack = append(m.stack, n.out)
			}
		case opCapture:
			m.stack = append(m.stack, n.out)
		case opMatch:
			if decided == 0 || n.arg+1 < decided {
				decided = n.arg + 1
			}
			if m.first {
				m.stack = m.stack[:base]
			}
		}
	}
	return decided, matched
}

// decideAll tells what matches before a byte that nothing takes.
func (m *stepper) decideAll(nodes []int32, before, b int) (decided int32) {
	m.clear()
	m.still = true
	decided, _ = m.advance(nodes, before, b)
	m.still = false
	return decided
}

// follow adds what can be reached from a node without a byte, and returns 1
// more than the rule that matches, or 0. Assertions that look ahead wait.
func (m *stepper) follow(at int32, before int) (matched int32) {
	base := len(m.stack)
	m.stack = append(m.stack, at)
	for len(m.stack) > base {
		at := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if !m.next.add(at) {
			continue
		}
		switch n := &m.p.nodes[at]; n.op {
		case opBytes:
			m.out.nodes = append(m.out.nodes, at)
		case opSplit:
			m.way(at)
			m.stack = append(m.stack, n.alt, n.out)
		case opAssert:
			switch {
			case n.assert&lookingAhead != 0:
				m.out.nodes = append(m.out.nodes, at)
			case holds(before, 0)&n.assert != 0:
				m.stack = append(m.stack, n.out)
			}
		case opCapture:
			m.way(at)
			m.stack = append(m.stack, n.out)
		case opMatch:
			if matched == 0 || n.arg+1 < matched {
				matched = n.arg + 1
			}
			if m.first { // the rest is less preferred
				m.stack = m.stack[:base]
			}
		}
	}
	return matched
}

// way keeps a node that leads on without a byte, where it may matter. An
// assertion that waits goes on as if it had not waited: not to what has been
// passed before it, for that way was preferred. Only in order of preference is
// there a before.
func (m *stepper) way(at int32) {
	if m.first && m.p.asserts&lookingAhead != 0 {
		m.out.nodes = append(m.out.nodes, at)
	}
}

// trim drops what way has kept in vain, in a group that begins at from: all
// that no assertion comes after.
func (m *stepper) trim(from int32) {
	if !m.first || m.p.asserts&lookingAhead == 0 {
		return
	}
	nodes := m.out.nodes[from:]
	last := len(nodes) - 1
	for last >= 0 && m.p.nodes[nodes[last]].op != opAssert {
		last--
	}
	kept := nodes[:last+1]
	for _, at := range nodes[last+1:] {
		if m.p.nodes[at].op == opBytes {
			kept = append(kept, at)
		}
	}
	m.out.nodes = m.out.nodes[:int(from)+len(kept)]
}

// visited is a set of nodes that is emptied at once.
type visited struct {
	in   []uint32 // by node: the round it was added in
	turn uint32
}

func newVisited(n int) visited { return visited{in: make([]uint32, n)} }

func (v *visited) clear() {
	if v.turn++; v.turn == 0 {
		clear(v.in)
		v.turn = 1
	}
}

// add tells whether a node is new.
func (v *visited) add(n int32) bool {
	if v.in[n] == v.turn {
		return false
	}
	v.in[n] = v.turn
	return true
}
