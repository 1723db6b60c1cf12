package subst

import (
	"encoding/binary"
	"math"
	"sync/atomic"

	"redoubt/proxy/subst/prefilter"
)

// A state is what all open starts can still become: for each of them a group,
// the oldest first, with the nodes that its matches may go on from. A node
// belongs to the oldest group that reaches it, for whatever matches through it
// matches from there too, and leftmost wins. States do not change.
//
// The byte that comes next decides everything but the assertions that look at
// it. Nodes are therefore those that take a byte, and those assertions; what
// can be reached from them without a byte has been followed already.
type state struct {
	nodes   []int32 // of all groups, in their order; within a group by preference (First), or in any
	groups  []group
	before  int16 // a byte like the one before, where assertions wait; -1: the beginning
	accept  int32 // the last group matches here: 1 more than the rule
	pending bool  // the last group has matched, here or before; no younger ones are opened
	alone   bool  // ... nor otherwise: the one start there was is looked at alone
	waits   bool  // some node is an assertion
	final   bool  // nothing can come of it but the match that is pending, or none

	// Of a state that lives in a cache:
	row  uint32 // of the table
	home int64  // the number of the cache; 0: none
	olds int    // how many groups are older than young; they come first
	stop atomic.Pointer[prefilter.Stop]
}

// group is the nodes of one open start.
type group struct {
	end   int32 // of its nodes, in those of the state
	depth int32 // bytes since its start, up to a limit; older: old
}

// old is the depth of groups whose start does not follow from the state.
const old = math.MaxInt32

// nodesOf are the nodes of one group.
func (s *state) nodesOf(g int) []int32 {
	from := int32(0)
	if g > 0 {
		from = s.groups[g-1].end
	}
	return s.nodes[from:s.groups[g].end]
}

// same tells whether two states are alike but for the depths of their groups.
func (s *state) same(o *state) bool {
	if s == o {
		return true
	}
	if len(s.groups) != len(o.groups) || len(s.nodes) != len(o.nodes) || s.before != o.before || s.accept != o.accept || s.pending != o.pending || s.alone != o.alone {
		return false
	}
	for i := range s.groups {
		if s.groups[i].end != o.groups[i].end {
			return false
		}
	}
	for i := range s.nodes {
		if s.nodes[i] != o.nodes[i] {
			return false
		}
	}
	return true
}

// appendKey writes what makes a state the one it is.
func (s *state) appendKey(key []byte) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(uint16(s.before)))
	accept := uint32(s.accept) << 2
	if s.pending {
		accept |= 1
	}
	if s.alone {
		accept |= 2
	}
	key = binary.LittleEndian.AppendUint32(key, accept)
	key = binary.LittleEndian.AppendUint32(key, uint32(len(s.groups)))
	for _, g := range s.groups {
		key = binary.LittleEndian.AppendUint32(key, uint32(g.end))
		key = binary.LittleEndian.AppendUint32(key, uint32(g.depth))
	}
	for _, n := range s.nodes {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	return key
}

// set makes s like another state. It does not get a place in a cache by that.
func (s *state) set(o *state) {
	s.nodes, s.groups = append(s.nodes[:0], o.nodes...), append(s.groups[:0], o.groups...)
	s.before, s.accept, s.pending, s.alone, s.waits, s.final = o.before, o.accept, o.pending, o.alone, o.waits, o.final
}

// clone copies a state that will change.
func (s *state) clone() *state {
	c := new(state)
	c.set(s)
	return c
}

// bytes is about what a cached state takes, besides its row.
func (s *state) bytes() int {
	const rest = 256 // the state itself, its key's header, its place in the map
	return rest + 2*(4*len(s.nodes)+8*len(s.groups))
}
