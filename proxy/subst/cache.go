package subst

import (
	"sync"
	"sync/atomic"
)

// cache holds states and what bytes make of them, as far as it has come to
// matter: the automaton in the making. All streams of a set share it. They read
// without a lock; who needs something new makes it under one.
//
// A state has a row of the table, with an entry for each class of bytes: 0, not
// known yet; the row of the next state; or, with the top bit, the number of an
// action. Tables that have grown out of their memory leave it to those who
// still read it. They may miss what is new there, and find it out by asking.
type cache struct {
	set     *Set
	id      int64
	inverse uint64 // 1<<32 / stride, rounded up
	table   atomic.Pointer[[]uint32]
	rows    atomic.Pointer[[]*state] // by row / stride
	acts    atomic.Pointer[[]action]

	begins [2][4]*state // of a search: see beginOf
	idle   uint32       // the last row of those for all starts, which have the first rows

	scanned atomic.Int64 // bytes, in all streams

	mu     sync.Mutex
	m      *stepper
	states map[string]*state
	key    []byte
	used   int // bytes
}

const (
	special   = 1 << 31
	maxGroups = 64 // of a state that is kept
	// firstStates is how many states a cache has room for at first.
	firstStates = 16
)

// action is a step that is more than going to the next state.
type action struct {
	next   *state
	record int32 // 1 more than the rule that has matched before the byte; 0: none
	by     int32 // ... and the group of the state before whose match it is
	moves  []move
}

// move says where the start of a group that is old comes from. Moves of a step
// are in order, and none reads what one before it has written.
type move struct {
	to   int32 // which old group
	from int32 // which old group of the state before; -1: it has just become old
	age  int32 // in bytes, if so
}

func newCache(s *Set) *cache {
	c := &cache{set: s, id: s.caches.Add(1), inverse: (1<<32-1)/uint64(s.stride) + 1, m: newStepper(s.program, s.options.Match), states: make(map[string]*state)}
	table := make([]uint32, firstStates*s.stride)
	rows := make([]*state, 1, firstStates) // row 0 stays empty: a 0 in the table is no row
	c.table.Store(&table)
	c.rows.Store(&rows)
	acts := make([]action, 0, 4)
	c.acts.Store(&acts)
	for alone, depth := range [...]int32{0, old} {
		for i, before := range [...]int{end, '\n', 'a', ' '} {
			c.m.begin(before, alone == 1)
			for g := range c.m.out.groups {
				c.m.out.groups[g].depth = depth
			}
			c.begins[alone][i], _ = c.intern()
		}
		if alone == 0 {
			c.idle = uint32(s.stride * (len(*c.rows.Load()) - 1))
		}
	}
	return c
}

// beginOf is the state of a search that begins behind a byte, for all starts
// from there on, or for this one alone. A start that is alone is old from the
// beginning.
func (c *cache) beginOf(before int, alone bool) *state {
	begins := &c.begins[0]
	if alone {
		begins = &c.begins[1]
	}
	if c.set.program.asserts == 0 {
		return begins[0]
	}
	switch contextOf(before) {
	case -1:
		return begins[0]
	case '\n':
		return begins[1]
	case 'a':
		return begins[2]
	}
	return begins[3]
}

// stateAt is the state that a row belongs to. Rows are multiples of the stride, so
// that a product with its rounded inverse divides them exactly.
func (c *cache) stateAt(row uint32) *state { return (*c.rows.Load())[uint64(row)*c.inverse>>32] }

// adopt returns a state like one of another cache, or of a simulation, with
// depths filled in; nil if there is no room.
func (c *cache) adopt(s *state) *state {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.m
	m.out.nodes = append(m.out.nodes[:0], s.nodes...)
	m.out.groups = append(m.out.groups[:0], s.groups...)
	m.out.before, m.out.accept, m.out.pending, m.out.alone, m.out.waits, m.out.final = s.before, s.accept, s.pending, s.alone, s.waits, s.final
	adopted, _ := c.intern()
	return adopted
}

// intern finds or keeps the state that the stepper has made. It is false, with
// nothing changed, if that is too large, or the cache full.
func (c *cache) intern() (*state, bool) {
	out := &c.m.out
	c.key = out.appendKey(c.key[:0])
	if s := c.states[string(c.key)]; s != nil {
		return s, true
	}
	if len(out.groups) > maxGroups {
		return nil, false
	}
	rows := *c.rows.Load()
	cost := out.bytes() + 4*c.set.stride
	if len(rows) > 2*len(c.begins[0])+1 && c.used+cost > c.set.options.Memory {
		return nil, false
	}
	c.used += cost
	s := out.clone()
	s.row, s.home = uint32(len(rows)*c.set.stride), c.id
	s.olds = 0
	for s.olds < len(s.groups) && s.groups[s.olds].depth == old {
		s.olds++
	}
	if table := *c.table.Load(); int(s.row)+c.set.stride > len(table) {
		grown := make([]uint32, 2*len(table))
		copy(grown, table) // only who holds the lock writes
		c.table.Store(&grown)
	}
	rows = append(rows, s)
	c.rows.Store(&rows)
	c.states[string(c.key)] = s
	return s, true
}

// entry is what a class of bytes makes of a state. It is false if the new
// state is too large to be kept, or the cache full.
func (c *cache) entry(s *state, class uint8) (uint32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	table := *c.table.Load()
	at := &table[s.row+uint32(class)]
	if *at != 0 {
		return *at, true
	}
	m := c.m
	m.step(s, int(c.set.program.classes[class]))
	moves := m.age(s, int32(c.set.young))
	next, ok := c.intern()
	if !ok {
		return 0, false
	}
	table = *c.table.Load() // it may have grown
	at = &table[s.row+uint32(class)]
	entry := next.row
	if m.record != 0 || len(moves) > 0 || next.final {
		acts := *c.acts.Load()
		entry = special | uint32(len(acts))
		acts = append(acts, action{next: next, record: m.record, by: m.by, moves: moves})
		c.used += 64 + 12*len(moves)
		c.acts.Store(&acts)
	}
	atomic.StoreUint32(at, entry)
	return entry, true
}

// age fills in the depths of the groups that step has made, and says where the
// starts of old ones come from, if they do not just stay where they are.
func (m *stepper) age(s *state, young int32) (moves []move) {
	olds := int32(0)
	for g := range m.out.groups {
		depth, from := int32(0), m.origins[g]
		if int(from) < len(s.groups) {
			if depth = s.groups[from].depth; depth != old {
				depth++
			}
		}
		switch {
		case depth == old:
			if from != olds { // groups that are old come first
				moves = append(moves, move{to: olds, from: from})
			}
			olds++
		case depth > young:
			moves = append(moves, move{to: olds, from: -1, age: depth})
			depth = old
			olds++
		}
		m.out.groups[g].depth = depth
	}
	return moves
}
