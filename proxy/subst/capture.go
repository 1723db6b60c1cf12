package subst

// captor finds where the groups of a match lie, once the match is known: on the
// preferred way through the rule's nodes among those that span exactly the
// match. It works on the same nodes as the search, with the bytes around the
// match in sight, so that assertions hold where they did then.
type captor struct {
	p         *program
	seen      visited
	here      threads
	next      threads
	stack     []visit
	slots     []int // of the way that is being followed
	found     []int
	slotCount int
}

// threads are ways that have come to nodes, preferred ones first.
type threads struct {
	nodes []int32
	slots []int // slotCount for each
}

// visit is a node to go to, or a slot to set back.
type visit struct {
	node int32 // -1: set back slot
	slot int32
	old  int
}

func (s *Set) captor() *captor {
	if c, ok := s.captors.Get().(*captor); ok {
		return c
	}
	return &captor{p: s.program, seen: newVisited(len(s.program.nodes))}
}

// find returns two positions for each group; -1 for those that were not passed.
// They are valid until the next call.
func (c *captor) find(w *window, m match) []int {
	c.slotCount = c.p.slots[m.rule]
	c.slots = c.slots[:0]
	for range c.slotCount {
		c.slots = append(c.slots, -1)
	}
	if one := c.p.ways[m.rule]; one != nil {
		one.find(c.p, w, m, c.slots)
		return c.slots
	}
	c.here.clear()
	c.seen.clear()
	c.follow(&c.here, c.p.begin[m.rule], w, m.start)
	for pos := m.start; pos < m.end; pos++ {
		b := w.at(pos)
		c.next.clear()
		c.seen.clear()
		for i, at := range c.here.nodes {
			if n := &c.p.nodes[at]; n.op == opBytes && c.p.sets[n.arg].has(b) {
				copy(c.slots, c.here.slots[i*c.slotCount:])
				c.follow(&c.next, n.out, w, pos+1)
			}
		}
		c.here, c.next = c.next, c.here
	}
	for i, at := range c.here.nodes {
		if c.p.nodes[at].op == opMatch {
			c.found = append(c.found[:0], c.here.slots[i*c.slotCount:(i+1)*c.slotCount]...)
			return c.found
		}
	}
	panic("subst: a match that its rule does not make")
}

func (t *threads) clear() { t.nodes, t.slots = t.nodes[:0], t.slots[:0] }

// follow adds what can be reached from a node without a byte.
func (c *captor) follow(to *threads, at int32, w *window, pos int) {
	holds := holds(w.byteBefore(pos), w.byteBehind(pos))
	c.stack = append(c.stack[:0], visit{node: at})
	for len(c.stack) > 0 {
		v := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		if v.node < 0 {
			c.slots[v.slot] = v.old
			continue
		}
		if !c.seen.add(v.node) {
			continue
		}
		switch n := &c.p.nodes[v.node]; n.op {
		case opBytes, opMatch:
			to.nodes = append(to.nodes, v.node)
			to.slots = append(to.slots, c.slots...)
		case opSplit:
			c.stack = append(c.stack, visit{node: n.alt}, visit{node: n.out})
		case opAssert:
			if holds&n.assert != 0 {
				c.stack = append(c.stack, visit{node: n.out})
			}
		case opCapture:
			c.stack = append(c.stack, visit{node: -1, slot: n.arg, old: c.slots[n.arg]}, visit{node: n.out})
			c.slots[n.arg] = pos
		}
	}
}
