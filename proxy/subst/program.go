package subst

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

const (
	// maxNodes bounds the automaton of a whole set: 3 MB of nodes, and less than a
	// second to compile.
	maxNodes = 200_000

	// maxSequences bounds the work on sets of runes, which may end in few nodes:
	// a\pL|b\pL|... shares all but one of the 400 of \pL. About 0.4 s.
	maxSequences = 10 * maxNodes
)

// op is what a node does.
type op uint8

const (
	opFail    op = iota // a dead end
	opBytes             // takes one byte of set arg, goes on at out
	opSplit             // goes on at out, and with less preference at alt
	opAssert            // goes on at out where assert holds
	opCapture           // notes the position in slot arg, goes on at out
	opMatch             // rule arg has matched
)

// node is one state of the byte automaton.
type node struct {
	op       op
	assert   syntax.EmptyOp // one bit
	arg      int32          // what op says
	out, alt int32
}

// program is one nondeterministic automaton over bytes for all rules of a set.
//
// Each rule is compiled by regexp/syntax, which fixes the order of preference,
// and what loops over something empty mean; then each of its steps over a rune
// is replaced by steps over bytes. A body need not be text, so what takes any
// rune beyond ASCII (as . and [^a] do) takes any single byte from 0x80 on
// instead, and whatever names some of these runes takes their UTF-8.
//
// It does not change once built.
type program struct {
	nodes   []node
	sets    []byteSet      // all different
	begin   []int32        // where each rule begins
	start   int32          // splits to begin[0], begin[1] ... in this order
	slots   []int          // of each rule: 2 * (1 + its groups) if its put uses groups, else 0
	ways    []*oneWay      // of each rule; nil if there are several, or none is asked for
	asserts syntax.EmptyOp // all that occur

	classOf [256]uint8 // bytes of one class are alike to every node
	classes []byte     // one byte of each class
}

// holds returns the assertions that hold between two bytes; -1 stands for the
// beginning or the end of the stream. Bytes from 0x80 on belong to no word.
func holds(before, after int) syntax.EmptyOp {
	return syntax.EmptyOpContext(rune(before), rune(after))
}

// newProgram compiles rules. Its errors are *RuleError.
func newProgram(rules []rule) (*program, error) {
	b := builder{p: &program{}, setIndex: make(map[byteSet]int32), alike: make(map[node]int32)}
	for i, r := range rules {
		if err := b.rule(i, r); err != nil {
			return nil, err
		}
	}
	b.p.start = b.starts()
	b.p.classify()
	seen := newVisited(len(b.p.nodes))
	for i := range rules {
		b.p.ways = append(b.p.ways, b.p.oneWay(i, &seen))
	}
	return b.p, nil
}

type builder struct {
	p        *program
	setIndex map[byteSet]int32
	alike    map[node]int32 // see intern

	sequences int // of UTF-8, so far
}

// ruleOf is the rule that the first of some nodes belongs to: those of a rule follow
// one another. Of none it is the first rule.
func (p *program) ruleOf(nodes []int32) int32 {
	if len(nodes) == 0 {
		return 0
	}
	i, found := slices.BinarySearch(p.begin, nodes[0])
	if !found {
		i--
	}
	return int32(max(i, 0))
}

// rule appends the nodes of one rule.
func (b *builder) rule(i int, r rule) error {
	tooLarge := &RuleError{Rule: i, Part: "find", Offset: -1, Reason: fmt.Sprintf(
		"the set grows beyond %d states here; lower the counts of repetitions such as {1,1000}, use fewer classes such as \\pL, or spread the rules over several sets", maxNodes)}
	if len(b.p.nodes)+size(r.find) > maxNodes {
		return tooLarge
	}
	from, err := syntax.Compile(r.find.Simplify())
	if err != nil {
		return &RuleError{Rule: i, Part: "find", Offset: -1, Reason: err.Error()}
	}

	// Instructions that stay get their nodes' places first, for they form
	// loops. What only leads on is skipped.
	used := r.put.groups(r.find.MaxCap())
	skipped := make([]uint32, len(from.Inst)) // what skip has found: chains can be long, and many ways lead to them
	skip := func(pc uint32) uint32 {
		to := pc
		for skipped[pc] == 0 {
			inst := &from.Inst[to]
			if inst.Op != syntax.InstNop && (inst.Op != syntax.InstCapture || used[inst.Arg/2]) {
				skipped[pc] = to + 1
				break
			}
			to = inst.Out
		}
		return skipped[pc] - 1
	}
	place := make([]int32, len(from.Inst)) // 1 more than the node's place
	var order []uint32                     // instructions by their nodes' places
	base := len(b.p.nodes)
	todo := []uint32{skip(uint32(from.Start))}
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if place[pc] != 0 {
			continue
		}
		order = append(order, pc)
		place[pc] = int32(base + len(order))
		switch inst := &from.Inst[pc]; inst.Op {
		case syntax.InstMatch, syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, skip(inst.Arg), skip(inst.Out))
		default:
			todo = append(todo, skip(inst.Out))
		}
	}

	b.p.nodes = append(b.p.nodes, make([]node, len(order))...)
	next := func(pc uint32) int32 { return place[skip(pc)] - 1 }
	for n, pc := range order {
		at := base + n
		switch inst := &from.Inst[pc]; inst.Op {
		case syntax.InstFail:
			b.p.nodes[at] = node{op: opFail}
		case syntax.InstMatch:
			b.p.nodes[at] = node{op: opMatch, arg: int32(i)}
		case syntax.InstAlt, syntax.InstAltMatch:
			b.p.nodes[at] = node{op: opSplit, out: next(inst.Out), alt: next(inst.Arg)}
		case syntax.InstCapture:
			b.p.nodes[at] = node{op: opCapture, arg: int32(inst.Arg), out: next(inst.Out)}
		case syntax.InstEmptyWidth:
			b.p.nodes[at] = node{op: opAssert, assert: syntax.EmptyOp(inst.Arg), out: next(inst.Out)}
			b.p.asserts |= syntax.EmptyOp(inst.Arg)
		default:
			n := b.runes(ranges(inst), next(inst.Out)) // moves nodes
			b.p.nodes[at] = n
		}
		if len(b.p.nodes) > maxNodes || b.sequences > maxSequences {
			return tooLarge
		}
	}

	b.p.begin = append(b.p.begin, int32(base))
	slots := 0
	if r.put.usesGroups {
		slots = 2 * (1 + r.find.MaxCap())
	}
	b.p.slots = append(b.p.slots, slots)
	return nil
}

// starts adds the splits to all rules.
func (b *builder) starts() int32 {
	begin := b.p.begin
	if len(begin) == 0 {
		return b.add(node{op: opFail})
	}
	start := begin[len(begin)-1]
	for i := len(begin) - 2; i >= 0; i-- {
		start = b.add(node{op: opSplit, out: begin[i], alt: start})
	}
	return start
}

func (b *builder) add(n node) int32 {
	b.p.nodes = append(b.p.nodes, n)
	return int32(len(b.p.nodes) - 1)
}

// intern is add for nodes whose successors are known: alike ones are one. Rules
// share none, for all nodes lead to their rule's end.
func (b *builder) intern(n node) int32 {
	at, ok := b.alike[n]
	if !ok {
		at = b.add(n)
		b.alike[n] = at
	}
	return at
}

// set returns the index of a set.
func (b *builder) set(s byteSet) int32 {
	at, ok := b.setIndex[s]
	if !ok {
		at = int32(len(b.p.sets))
		b.p.sets = append(b.p.sets, s)
		b.setIndex[s] = at
	}
	return at
}

// size is the least number of nodes that an expression needs: what is far too
// large is turned down before regexp/syntax unrolls its repetitions. It stops
// counting beyond the limit.
func size(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = 1
	case syntax.OpRepeat:
		n = size(re.Sub[0])
		if re.Max == -1 {
			n *= max(re.Min, 1)
		} else {
			n *= re.Max
		}
	default:
		for _, sub := range re.Sub {
			n += size(sub)
		}
	}
	return min(n, maxNodes+1)
}

// String lists the nodes, one a line.
func (p *program) String() string {
	var b strings.Builder
	for i, n := range p.nodes {
		mark := ' '
		if int32(i) == p.start {
			mark = '*'
		}
		fmt.Fprintf(&b, "%4d%c ", i, mark)
		switch n.op {
		case opFail:
			b.WriteString("fail\n")
		case opBytes:
			fmt.Fprintf(&b, "%v -> %d\n", p.sets[n.arg], n.out)
		case opSplit:
			fmt.Fprintf(&b, "-> %d, %d\n", n.out, n.alt)
		case opAssert:
			fmt.Fprintf(&b, "assert %#x -> %d\n", n.assert, n.out)
		case opCapture:
			fmt.Fprintf(&b, "slot %d -> %d\n", n.arg, n.out)
		case opMatch:
			fmt.Fprintf(&b, "match %d\n", n.arg)
		}
	}
	return b.String()
}
