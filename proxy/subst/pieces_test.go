package subst

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"unsafe"
)

// run is what a stream has made of a text.
type run struct {
	out     string
	matches []int64
}

// feeder feeds texts to one stream in the emitting form, and looks whether it
// keeps its promises.
type feeder struct {
	t      testing.TB
	stream *Stream
	puts   [][]byte // the constant parts of the rules' puts
	given  []given  // since the last call
	out    []byte
	fail   string // the first promise that was broken

	afterPiece func(fed int) // called between pieces
}

// given is what was emitted, where it lies and what was there.
type given struct{ at, was []byte }

func newFeeder(t testing.TB, s *Set) *feeder {
	f := &feeder{t: t, stream: s.NewStream()}
	for i := range s.rules {
		for _, p := range s.rules[i].put.pieces {
			if p.group < 0 {
				f.puts = append(f.puts, p.text)
			}
		}
	}
	return f
}

// run feeds a text, cut at the given places.
func (f *feeder) run(text string, cuts ...int) run {
	f.t.Helper()
	f.stream.Reset()
	f.given, f.out = f.given[:0], f.out[:0]
	from := 0
	for _, cut := range append(slices.Clone(cuts), len(text)) {
		piece := []byte(text[from:cut])
		f.call(piece, func() { f.stream.FeedTo(piece, f.emit) })
		if string(piece) != text[from:cut] {
			f.broken("a piece was written to")
		}
		if f.afterPiece != nil {
			f.afterPiece(cut)
		}
		from = cut
	}
	f.call(nil, func() { f.stream.FinishTo(f.emit) })
	f.unchanged()
	return run{string(f.out), f.stream.Stats().Matches}
}

func (f *feeder) emit(piece []byte) {
	if len(piece) == 0 {
		f.broken("an empty slice was emitted")
	}
	f.given = append(f.given, given{piece, bytes.Clone(piece)})
	f.out = append(f.out, piece...)
}

// call looks at what one call emits. Only what was held back, and what is put,
// may lie outside of the piece.
func (f *feeder) call(piece []byte, feed func()) {
	f.unchanged() // until this very call
	f.given = f.given[:0]
	held := f.stream.Held()
	feed()
	outside := 0
	for _, g := range f.given {
		if !within(g.at, piece) && !slices.ContainsFunc(f.puts, func(put []byte) bool { return within(g.at, put) }) {
			outside += len(g.at)
		}
	}
	// A match may be put twice over.
	if outside > held && !f.repeats() {
		f.broken(fmt.Sprintf("%d bytes come neither from the piece nor from a put, but %d were held", outside, held))
	}
}

// repeats tells whether some put names its match or its groups more than once.
func (f *feeder) repeats() bool {
	for i := range f.stream.search.set.rules {
		groups := 0
		for _, p := range f.stream.search.set.rules[i].put.pieces {
			if p.group >= 0 {
				groups++
			}
		}
		if groups > 1 {
			return true
		}
	}
	return false
}

func (f *feeder) unchanged() {
	for _, g := range f.given {
		if !bytes.Equal(g.at, g.was) {
			f.broken(fmt.Sprintf("%q was emitted, and is %q before the next call", g.was, g.at))
		}
	}
}

func (f *feeder) broken(what string) {
	if f.fail == "" {
		f.fail = what
	}
}

// within tells whether a slice lies in the memory of another.
func within(part, whole []byte) bool {
	if len(part) == 0 || len(whole) == 0 {
		return false
	}
	at, from := uintptr(unsafe.Pointer(&part[0])), uintptr(unsafe.Pointer(&whole[0]))
	return from <= at && at+uintptr(len(part)) <= from+uintptr(len(whole))
}

// everyByte are the cuts that make pieces of one byte.
func everyByte(text string) []int {
	var cuts []int
	for at := 1; at < len(text); at++ {
		cuts = append(cuts, at)
	}
	return cuts
}

// refRun is what a stream must make of a text.
func refRun(t testing.TB, rules []Rule, text string, o Options) run {
	t.Helper()
	p, parsed := mustProgram(t, rules)
	r := run{refReplace(t, rules, text, o), make([]int64, len(rules))}
	for _, m := range refFindAll(p, text, o.Match, o.filled().Hold) {
		if parsed[m.rule].all || r.matches[m.rule] == 0 {
			r.matches[m.rule]++
		}
	}
	return r
}

// refHeld is how many bytes of a text that goes on are part of an open match:
// one that may still begin there, or become another.
func refHeld(p *program, text string, mode Match, hold int) int {
	for at := 0; at <= len(text); {
		start, end := at, -1
		for ; start <= len(text); start++ {
			if refOpen(p, text, start, mode, hold) {
				return len(text) - start
			}
			rule := -1
			if end, rule = refAt(p, text, start, mode, hold); rule >= 0 {
				break
			}
		}
		at = max(end, start)
		if end == start {
			at++
		}
	}
	return 0
}

// refOpen tells whether what begins at start depends on what comes behind the
// text: a way is open that takes a byte, or waits for one to look at.
func refOpen(p *program, text string, start int, mode Match, hold int) bool {
	if len(text)-start > hold {
		return false
	}
	threads := []refThread{{node: p.start}}
	for at := start; at < len(text); at++ {
		closed := refClose(p, text, at, threads)
		if mode == First {
			for i, thread := range closed {
				if p.nodes[thread.node].op == opMatch {
					closed = closed[:i]
					break
				}
			}
		}
		threads = refStep(p, text[at], closed)
	}
	before := -1
	if len(text) > 0 {
		before = int(text[len(text)-1])
	}
	seen := make(map[int32]bool)
	var open func(int32) bool
	done := false // in mode first: what comes now is preferred less than a match
	open = func(node int32) bool {
		if seen[node] || done {
			return false
		}
		seen[node] = true
		switch n := p.nodes[node]; n.op {
		case opBytes:
			return len(text)-start < hold
		case opSplit:
			return open(n.out) || open(n.alt)
		case opAssert:
			if n.assert&lookingAhead != 0 {
				return true
			}
			return holds(before, 0)&n.assert != 0 && open(n.out)
		case opCapture:
			return open(n.out)
		case opMatch:
			done = mode == First
		}
		return false
	}
	for _, thread := range threads {
		if open(thread.node) {
			return true
		}
	}
	return false
}
