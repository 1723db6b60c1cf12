package subst

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// What a set of rules means, as slowly and simply as it can be said. Two
// oracles stand side by side: stdFind asks the standard library, which knows
// nothing of our byte automaton; the ref functions walk the automaton node by
// node, for what the library has no words for: bytes, the hold limit, rules
// that act once.

// refMatch is a match: the bytes from start to end, won by a rule.
type refMatch struct{ start, end, rule int }

// mustProgram compiles rules.
func mustProgram(t testing.TB, rules []Rule) (*program, []rule) {
	t.Helper()
	parsed, err := parseRules(rules)
	if err != nil {
		t.Fatalf("%q: %v", rules, err)
	}
	p, err := newProgram(parsed)
	if err != nil {
		t.Fatalf("%q: %v", rules, err)
	}
	return p, parsed
}

// refFind is the match that wins among those that begin at from or later.
func refFind(p *program, text string, from int, mode Match, hold int) (refMatch, bool) {
	for start := from; start <= len(text); start++ {
		if end, rule := refAt(p, text, start, mode, hold); rule >= 0 {
			return refMatch{start, end, rule}, true
		}
	}
	return refMatch{}, false
}

// refAt is the winning match that begins at start; rule is -1 if there is none.
// What would be longer than hold does not exist.
func refAt(p *program, text string, start int, mode Match, hold int) (end, rule int) {
	rule = -1
	threads := refClose(p, text, start, []refThread{{node: p.start}})
	for at := start; ; at++ {
		for i, thread := range threads {
			n := p.nodes[thread.node]
			if n.op != opMatch {
				continue
			}
			if mode == First { // what comes later in the list is preferred less
				end, rule = at, int(n.arg)
				threads = threads[:i]
				break
			}
			if rule < 0 || at > end || int(n.arg) < rule {
				end, rule = at, int(n.arg)
			}
		}
		if len(threads) == 0 || at == len(text) || at-start == hold {
			return end, rule
		}
		threads = refClose(p, text, at+1, refStep(p, text[at], threads))
	}
}

// refGroups is where the groups of a match lie: on the preferred way of those
// that end where the match ends. Places that were not passed are -1.
func refGroups(p *program, text string, m refMatch) []int {
	slots := make([]int, p.slots[m.rule])
	for i := range slots {
		slots[i] = -1
	}
	threads := refClose(p, text, m.start, []refThread{{p.begin[m.rule], slots}})
	for at := m.start; at < m.end; at++ {
		threads = refClose(p, text, at+1, refStep(p, text[at], threads))
	}
	for _, thread := range threads {
		if p.nodes[thread.node].op == opMatch {
			if len(slots) > 0 {
				thread.slots[0], thread.slots[1] = m.start, m.end
			}
			return thread.slots
		}
	}
	panic(fmt.Sprintf("rule %d does not match %q at %d-%d", m.rule, text, m.start, m.end))
}

// refThread is a way through the automaton that has come to a node.
type refThread struct {
	node  int32
	slots []int // never changed in place
}

// refStep lets threads take a byte.
func refStep(p *program, c byte, threads []refThread) []refThread {
	var next []refThread
	for _, thread := range threads {
		if n := p.nodes[thread.node]; n.op == opBytes && p.sets[n.arg].has(c) {
			next = append(next, refThread{n.out, thread.slots})
		}
	}
	return next
}

// refClose follows threads to the nodes that take a byte or match, preferred
// ones first. Of two ways to one node the preferred is kept.
func refClose(p *program, text string, at int, threads []refThread) []refThread {
	before, after := -1, -1
	if at > 0 {
		before = int(text[at-1])
	}
	if at < len(text) {
		after = int(text[at])
	}
	true_ := holds(before, after)
	seen := make(map[int32]bool)
	var closed []refThread
	var follow func(int32, []int)
	follow = func(node int32, slots []int) {
		if seen[node] {
			return
		}
		seen[node] = true
		switch n := p.nodes[node]; n.op {
		case opBytes, opMatch:
			closed = append(closed, refThread{node, slots})
		case opSplit:
			follow(n.out, slots)
			follow(n.alt, slots)
		case opAssert:
			if n.assert&^true_ == 0 {
				follow(n.out, slots)
			}
		case opCapture:
			if len(slots) > 0 { // refAt does without
				slots = append([]int(nil), slots...)
				slots[n.arg] = at
			}
			follow(n.out, slots)
		}
	}
	for _, thread := range threads {
		follow(thread.node, thread.slots)
	}
	return closed
}

// refFindAll is all matches. An empty one that wins where none may be (at the
// end of the match before, or inside a UTF-8 sequence) is passed over: nothing
// else can win in its place.
func refFindAll(p *program, text string, mode Match, hold int) []refMatch {
	var all []refMatch
	last := -1 // where the match before has ended
	for at := 0; at <= len(text); {
		m, ok := refFind(p, text, at, mode, hold)
		if !ok {
			break
		}
		at = m.end
		if m.start == m.end {
			at++
			if m.end == last || refInside(text, m.start) {
				continue
			}
		}
		last = m.end
		all = append(all, m)
	}
	return all
}

// refInside tells whether a place lies inside a UTF-8 sequence: bytes before it
// are the first of a rune's, the byte behind it is one of the following.
func refInside(text string, at int) bool {
	for back := 1; back <= 3 && back <= at; back++ {
		if at == len(text) || text[at]&0xC0 != 0x80 {
			return false
		}
		if c := text[at-back]; c&0xC0 != 0x80 {
			return announced(c) >= back
		}
	}
	return false
}

// refReplace is what rules make of a text.
func refReplace(t testing.TB, rules []Rule, text string, o Options) string {
	t.Helper()
	p, parsed := mustProgram(t, rules)
	hold := o.Hold
	if hold == 0 {
		hold = defaultHold
	}
	var out strings.Builder
	done := 0
	won := make([]bool, len(rules))
	for _, m := range refFindAll(p, text, o.Match, hold) {
		out.WriteString(text[done:m.start])
		done = m.end
		r := &parsed[m.rule]
		if won[m.rule] && !r.all { // it has acted; it still shields
			out.WriteString(text[m.start:m.end])
			continue
		}
		won[m.rule] = true
		groups := []int{m.start, m.end}
		if r.put.usesGroups {
			groups = refGroups(p, text, m)
		}
		for _, piece := range r.put.pieces {
			switch {
			case piece.group < 0:
				out.Write(piece.text)
			case groups[2*piece.group+1] >= 0:
				out.WriteString(text[groups[2*piece.group]:groups[2*piece.group+1]])
			}
		}
	}
	out.WriteString(text[done:])
	return out.String()
}

// stdFind is refFind without a hold limit, by the standard library: every start
// and every rule is an expression of its own, which keeps the context that
// assertions need. For texts of ASCII.
func stdFind(t testing.TB, rules []Rule, text string, from int, mode Match) (refMatch, bool) {
	t.Helper()
	for start := from; start <= len(text); start++ {
		best := refMatch{rule: -1}
		for i, r := range rules {
			end := stdAt(t, r, text, start, mode)
			if end >= 0 && (best.rule < 0 || mode == Longest && end > best.end) {
				best = refMatch{start, end, i}
			}
		}
		if best.rule >= 0 {
			return best, true
		}
	}
	return refMatch{}, false
}

// stdAt is the end of a rule's match that begins at start, or -1.
func stdAt(t testing.TB, r Rule, text string, start int, mode Match) int {
	t.Helper()
	before := strings.Repeat(".{1000}", start/1000) + fmt.Sprintf(".{%d}", start%1000)
	re, err := regexp.Compile(`\A(?s:` + before + `)` + stdExpr(r))
	if err != nil {
		t.Fatal(err)
	}
	if mode == Longest {
		re.Longest()
	}
	m := re.FindStringIndex(text)
	if m == nil {
		return -1
	}
	return m[1]
}

// stdExpr is a rule's expression with its flags inside.
func stdExpr(r Rule) string {
	find := r.Find
	if strings.Contains(r.Flags, "l") {
		find = regexp.QuoteMeta(find)
	}
	if strings.Contains(r.Flags, "i") {
		return "(?i:" + find + ")"
	}
	return "(?:" + find + ")"
}

// stdReplace is one rule with flag g by the standard library's ReplaceAll. For
// expressions that mean the same over runes and over bytes.
func stdReplace(t testing.TB, r Rule, text string, mode Match) string {
	t.Helper()
	re, err := regexp.Compile(stdExpr(r))
	if err != nil {
		t.Fatal(err)
	}
	if mode == Longest {
		re.Longest()
	}
	put := regexp.MustCompile(`\$(\d+)`).ReplaceAllString(r.Put, "$${$1}")
	return re.ReplaceAllString(text, strings.ReplaceAll(put, "$&", "${0}"))
}
