package subst

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	firstSurrogate = 0xD800
	lastSurrogate  = 0xDFFF
)

// ranges returns the runes that an instruction takes as pairs of first and last,
// in ascending order.
//
// A letter of ASCII whose case does not matter stands for its two ASCII forms.
// Unicode folds k with the Kelvin sign and s with the long s; who wants these
// writes them in a class.
func ranges(inst *syntax.Inst) []rune {
	if len(inst.Rune) != 1 {
		return inst.Rune
	}
	first := inst.Rune[0]
	forms := []rune{first}
	if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			if first >= utf8.RuneSelf || r < utf8.RuneSelf {
				forms = append(forms, r)
			}
		}
		slices.Sort(forms)
	}
	pairs := make([]rune, 0, 2*len(forms))
	for _, r := range forms {
		pairs = append(pairs, r, r)
	}
	return pairs
}

// runes returns a node that takes one of the runes in pairs and goes on at out.
// Nodes behind it are appended.
func (b *builder) runes(pairs []rune, out int32) node {
	single, beyond := inBytes(pairs)
	var steps []step
	if single != (byteSet{}) {
		steps = append(steps, step{single, out})
	}
	var all []sequence
	for i := 0; i < len(beyond); i += 2 {
		all = split(all, beyond[i], beyond[i+1])
	}
	b.sequences += len(all)
	return b.fork(b.tree(steps, all, 0, out))
}

// inBytes says what runes mean in bytes: any of a set of single ones, or the
// UTF-8 of the pairs in beyond.
func inBytes(pairs []rune) (single byteSet, beyond []rune) {
	for i := 0; i < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if lo < utf8.RuneSelf {
			single.add(byte(lo), byte(min(hi, utf8.RuneSelf-1)))
		}
		if hi >= utf8.RuneSelf {
			beyond = withoutSurrogates(beyond, max(lo, utf8.RuneSelf), hi)
		}
	}
	if slices.Equal(beyond, []rune{utf8.RuneSelf, firstSurrogate - 1, lastSurrogate + 1, unicode.MaxRune}) {
		single.add(0x80, 0xff)
		beyond = nil
	}
	return single, beyond
}

// withoutSurrogates appends the pair lo, hi, less the surrogates: they have no
// UTF-8.
func withoutSurrogates(pairs []rune, lo, hi rune) []rune {
	if lo < firstSurrogate {
		pairs = append(pairs, lo, min(hi, firstSurrogate-1))
	}
	if hi > lastSurrogate {
		pairs = append(pairs, max(lo, lastSurrogate+1), hi)
	}
	return pairs
}

// step takes a byte of a set and leads to a node.
type step struct {
	set byteSet
	to  int32
}

// byteRange is the bytes from lo to hi, both included.
type byteRange struct{ lo, hi byte }

// sequence stands for every rune whose UTF-8 has its bytes in these ranges, one
// after the other: [E1-EC][80-BF][80-BF].
type sequence struct {
	bytes [utf8.UTFMax]byteRange
	n     int
}

// split appends the fewest sequences that cover the runes from lo to hi, beyond
// ASCII and with no surrogates among them, in ascending order.
func split(all []sequence, lo, hi rune) []sequence {
	// UTF-8 of one length only.
	for _, last := range []rune{0x7FF, 0xFFFF} {
		if lo <= last && last < hi {
			return split(split(all, lo, last), last+1, hi)
		}
	}
	// Where first and last differ in a byte, the bytes that follow must run
	// through all their values.
	for tail := rune(0x3F); tail < 1<<18; tail = tail<<6 | 0x3F {
		if lo&^tail == hi&^tail {
			break
		}
		if lo&tail != 0 {
			return split(split(all, lo, lo|tail), lo|tail+1, hi)
		}
		if hi&tail != tail {
			return split(split(all, lo, hi&^tail-1), hi&^tail, hi)
		}
	}
	var from, to [utf8.UTFMax]byte
	s := sequence{n: utf8.EncodeRune(from[:], lo)}
	utf8.EncodeRune(to[:], hi)
	for i := range s.n {
		s.bytes[i] = byteRange{from[i], to[i]}
	}
	return append(all, s)
}

// tree appends to steps those over byte at of sequences, which are in ascending
// order and agree on the bytes before. Two ranges in the same place are equal
// or have nothing in common, so that equal ones stand side by side. What leads
// on alike is one step.
func (b *builder) tree(steps []step, all []sequence, at int, out int32) []step {
	known := make(map[int32]int) // place in steps by where it leads
	for i := range steps {
		known[steps[i].to] = i
	}
	for len(all) > 0 {
		r, n := all[0].bytes[at], 1
		for n < len(all) && all[n].bytes[at] == r {
			n++
		}
		to := out
		if at+1 < all[0].n {
			to = b.intern(b.fork(b.tree(nil, all[:n], at+1, out)))
		}
		i, ok := known[to]
		if !ok {
			i = len(steps)
			steps = append(steps, step{to: to})
			known[to] = i
		}
		steps[i].set.add(r.lo, r.hi)
		all = all[n:]
	}
	return steps
}

// fork returns a node that takes any one of some steps.
func (b *builder) fork(steps []step) node {
	if len(steps) == 0 {
		return node{op: opFail}
	}
	last := len(steps) - 1
	n := node{op: opBytes, arg: b.set(steps[last].set), out: steps[last].to}
	for i := last - 1; i >= 0; i-- {
		first := b.intern(node{op: opBytes, arg: b.set(steps[i].set), out: steps[i].to})
		n = node{op: opSplit, out: first, alt: b.intern(n)}
	}
	return n
}

// announced is the number of bytes that follow the first of a rune's UTF-8; 0
// for a byte that is none, or whole.
func announced(lead byte) int {
	switch {
	case lead < 0xC2 || lead > 0xF4:
		return 0
	case lead < 0xE0:
		return 1
	case lead < 0xF0:
		return 2
	}
	return 3
}
