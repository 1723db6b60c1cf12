package subst

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"redoubt/proxy/subst/prefilter"
)

// Info tells what became of rules.
type Info struct {
	Rules   []RuleInfo
	Nodes   int // states of the automaton that all rules share
	Classes int // kinds of bytes that it tells apart

	// Skips tells whether the search goes past bytes that cannot matter; then
	// Kernel does it, and stops at a sign of some rule Rate times a byte of typical
	// text.
	Skips  bool
	Kernel prefilter.Kernel
	Rate   float64
}

// RuleInfo is about one rule. Lengths are those of the expression; what its
// assertions rule out is not considered.
type RuleInfo struct {
	Min      int  // bytes of the shortest match; -1 if nothing can match
	Max      int  // bytes of the longest; -1 without end: the hold limit ends it
	Empty    bool // it can match the empty text
	Class    Class
	Signs    []string // bytes that it is looked for by, such as [c][d][n][0-9]: each match has one of them
	Warnings []string
}

// Class says where the signs of a rule are in its matches.
type Class uint8

const (
	Walked Class = iota // there are none: the search has to look at every byte
	Prefix              // within some bytes of the beginning
	Inner               // anywhere: the search looks back for the beginning
)

func (c Class) String() string {
	switch c {
	case Walked:
		return "walked"
	case Prefix:
		return "prefix"
	case Inner:
		return "inner"
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// A rule begins rarely enough if its first rareBytes bytes are each one of at
// most rareChoice. Else a repetition of wideChoice bytes or more, longCount times,
// leaves many starts open.
const (
	rareBytes  = 2
	rareChoice = 4
	wideChoice = 32
	longCount  = 100
)

// info describes the rules that a program was made from.
func (p *program) info(rules []rule, hold int) Info {
	info := Info{Nodes: len(p.nodes), Classes: len(p.classes)}
	for i := range rules {
		info.Rules = append(info.Rules, p.ruleInfo(i, rules[i].find, hold))
	}
	return info
}

// signs adds what the rules are looked for by.
func (info *Info) signs(signs [][]sign, k *skipper) {
	if k != nil {
		info.Skips, info.Kernel, info.Rate = true, k.finder.Kernel(), k.finder.Rate()
	}
	for i := range info.Rules {
		r := &info.Rules[i]
		for _, s := range signs[i] {
			r.Class = max(r.Class, Prefix)
			if !s.near() {
				r.Class = Inner
			}
			var text strings.Builder
			for _, set := range s.sets {
				text.WriteString(set.String())
			}
			r.Signs = append(r.Signs, text.String())
		}
		switch c := cost(signs[i], 0); {
		case r.Min < 0:
		case r.Class == Walked:
			r.warn("no bytes are in each of its matches: for this rule every byte is looked at, where the others alone might skip most")
		case c > worth/4:
			r.warn("what its matches have in common is not rare: %s comes about once in %.0f bytes, so that little can be skipped", strings.Join(r.Signs, " or "), 1/rateOf(signs[i]))
		}
	}
}

func (r *RuleInfo) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

func (p *program) ruleInfo(i int, find *syntax.Regexp, hold int) RuleInfo {
	length := extentOf(find)
	if length.never {
		return RuleInfo{Min: -1, Max: -1, Warnings: []string{"can never match"}}
	}
	r := RuleInfo{Min: length.min, Max: length.max, Empty: length.min == 0}
	switch {
	case r.Min > hold:
		r.warn("never matches: the shortest match has %d bytes, the hold limit is %d", r.Min, hold)
	case r.Max > hold:
		r.warn("matches of more than %d bytes (up to %d are possible) are not found: the hold limit", hold, r.Max)
	}
	if p.anchored(i) { // it begins once in a stream
		return r
	}
	first, sure := p.leading(i, rareBytes)
	rare := sure == rareBytes
	for _, s := range first {
		rare = rare && s.len() <= rareChoice
	}
	if count := longestCount(find, 1); count >= longCount && !rare {
		r.warn("repeats almost any byte up to %d times: as many beginnings may have to be followed at once, which is slow; let it begin with literal text, or lower the count", count)
	}
	return r
}

// anchored tells whether a rule matches at the beginning of the stream only.
func (p *program) anchored(rule int) bool {
	for at := p.begin[rule]; ; at = p.nodes[at].out {
		switch n := &p.nodes[at]; {
		case n.op == opAssert && n.assert == syntax.EmptyBeginText:
			return true
		case n.op != opAssert && n.op != opCapture:
			return false
		}
	}
}

// leading returns for each of the first n places of a rule's matches the bytes
// that may stand there, whatever assertions say. The first so many are sure:
// no match ends before them.
func (p *program) leading(rule, n int) (sets []byteSet, sure int) {
	sure = n
	begin, end := p.begin[rule], len(p.nodes) // a rule's nodes follow one another
	if rule+1 < len(p.begin) {
		end = int(p.begin[rule+1])
	}
	seen := make([]int, end-int(begin)) // 1 more than the last place it was reached at
	todo := []int32{begin}
	for place := range n {
		var here byteSet
		var next []int32
		for len(todo) > 0 {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if seen[at-begin] == place+1 {
				continue
			}
			seen[at-begin] = place + 1
			switch n := &p.nodes[at]; n.op {
			case opMatch:
				sure = min(sure, place)
			case opBytes:
				here.join(p.sets[n.arg])
				next = append(next, n.out)
			case opSplit:
				todo = append(todo, n.alt, n.out)
			case opAssert, opCapture:
				todo = append(todo, n.out)
			}
		}
		if here == (byteSet{}) {
			break
		}
		sets = append(sets, here)
		todo = next
	}
	return sets, min(sure, len(sets))
}

// longestCount is the largest counted repetition of a wide class; nested counts
// multiply.
func longestCount(re *syntax.Regexp, times int) int {
	if re.Op == syntax.OpRepeat {
		times *= max(re.Min, re.Max, 1)
	}
	if isWide(re) {
		return times
	}
	count := 0
	for _, sub := range re.Sub {
		count = max(count, longestCount(sub, times))
	}
	return count
}

func isWide(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCharClass:
		single, beyond := inBytes(re.Rune)
		return single.len()+len(beyond)/2 >= wideChoice
	}
	return false
}
