package subst

// Stream replaces in one body, which comes in pieces. How it is cut makes no
// difference. Only bytes of a match that is still open are held back.
//
// A Stream belongs to one goroutine at a time. It is made for use again and
// again: Reset begins the next body.
type Stream struct {
	search search
	done   int  // position up to which all has been given out
	last   int  // where the match before has ended; -1: there was none
	empty  bool // ... and was empty: the search goes on behind the next byte
	ended  bool

	buffer  *buffer // what is kept lies in it
	emitted *buffer // what was emitted may lie in it
	captor  *captor // lent, while there is work
	out     sink
	counts  []uint32      // by rule, modulo 1<<32
	carries map[int32]int // of these
	won     []uint64      // a bit for each rule
}

// sink is where output goes: appended to dst, or given to emit.
type sink struct {
	dst  []byte
	emit func(piece []byte)
}

func (o *sink) write(piece []byte) {
	switch {
	case len(piece) == 0:
	case o.emit != nil:
		o.emit(piece)
	default:
		o.dst = append(o.dst, piece...)
	}
}

// NewStream returns a Stream for one body.
func (s *Set) NewStream() *Stream {
	n := len(s.rules)
	t := &Stream{
		search: search{set: s},
		counts: make([]uint32, n), won: make([]uint64, (n+63)/64),
	}
	t.Reset()
	return t
}

// Reset begins another body. Slices that were emitted are valid no more.
func (t *Stream) Reset() {
	t.search.reset()
	t.Release()
	t.search.set.giveBack(t.buffer)
	t.buffer = nil
	t.done, t.last, t.empty, t.ended = 0, -1, false, false
	clear(t.counts)
	clear(t.won)
	t.carries = nil
}

// Feed takes the next piece of the body, and appends to dst what is certain of
// the output. The piece is the caller's again when Feed returns.
func (t *Stream) Feed(dst, piece []byte) []byte {
	t.out = sink{dst: dst}
	t.feed(piece)
	dst, t.out = t.out.dst, sink{}
	t.Release()
	return dst
}

// Finish ends the body, and appends the rest of the output to dst. Reset comes
// next.
func (t *Stream) Finish(dst []byte) []byte {
	t.out = sink{dst: dst}
	t.finish()
	dst, t.out = t.out.dst, sink{}
	t.Release()
	return dst
}

// FeedTo is Feed without a copy of what stays as it is: it calls emit with
// slices of the piece, of what was held back, and of replacements, in order and
// never empty. They are valid until the next call of FeedTo, FinishTo or Reset,
// those of the piece as long as it is. Nobody may write to them.
func (t *Stream) FeedTo(piece []byte, emit func(piece []byte)) {
	t.out = sink{emit: emit}
	t.feed(piece)
	t.out = sink{}
}

// FinishTo is Finish in the manner of FeedTo.
func (t *Stream) FinishTo(emit func(piece []byte)) {
	t.out = sink{emit: emit}
	t.finish()
	t.out = sink{}
}

// Held is how many bytes are held back.
func (t *Stream) Held() int { return t.search.text.end - t.done }

// Stats is what a stream has met since Reset.
type Stats struct {
	Matches  []int64 // replaced, by rule
	Overruns int64   // starts given up because no match had ended within the hold limit; those that were skipped are not among them
	Steps    int64   // bytes that the search went over; more than there were, where it had to begin anew
	Flushes  int64   // of the Set's cache, by all its streams, ever
}

// Stats returns a copy.
func (t *Stream) Stats() Stats {
	matches := make([]int64, len(t.counts))
	for i, n := range t.counts {
		matches[i] = int64(n) + int64(t.carries[int32(i)])<<32
	}
	return Stats{
		Matches: matches, Overruns: t.search.overruns, Steps: t.search.steps, Flushes: t.search.set.flushes.Load(),
	}
}

// RuleStats is what a stream has met of one rule since Reset.
type RuleStats struct {
	Matches int64 // replaced
	// GaveUp is how many starts were given up because no match had ended within the
	// hold limit, and Held how many bytes were held back at the ends of pieces, each
	// time counted anew. Several rules may have been open: it is one of them.
	GaveUp, Held int64
}

// RuleStats is of the rule with a number, from 0.
func (t *Stream) RuleStats(rule int) RuleStats {
	r := RuleStats{Matches: int64(t.counts[rule]) + int64(t.carries[int32(rule)])<<32}
	for i := range t.search.open {
		if o := &t.search.open[i]; int(o.rule) == rule {
			r.GaveUp, r.Held = o.gaveUp, o.held
		}
	}
	return r
}

// Won appends a bit for each rule, 64 to a word, that has won a match, whether it
// was replaced or has only kept others away. The others might as well not have been
// there: without them the output is the same.
func (t *Stream) Won(dst []uint64) []uint64 { return append(dst, t.won...) }

// Set is what the stream replaces by.
func (t *Stream) Set() *Set { return t.search.set }

func (t *Stream) feed(piece []byte) {
	if t.ended {
		panic("subst: Feed after Finish, without Reset")
	}
	if len(piece) == 0 {
		return
	}
	t.Release()
	w := &t.search.text
	w.piece, w.middle = piece, w.end
	w.end += len(piece)
	t.search.wake()
	t.work(t.search.advance)
	t.search.rest()

	from := t.search.oldest()
	if t.empty { // the match at pos is dealt with, and the byte behind it not there
		from = t.search.pos
	}
	t.unchanged(from)
	t.keep(from)
	if n := t.Held(); n > 0 && len(t.search.state.groups) > 0 {
		t.search.openRule().held += int64(n)
	}
}

func (t *Stream) finish() {
	if t.ended {
		return
	}
	t.ended = true
	t.Release()
	t.search.wake()
	t.work(func() event {
		if e := t.search.advance(); e != more {
			return e
		}
		return t.search.finish()
	})
	t.unchanged(t.search.text.end)
	t.search.stop()
	t.search.text.kept, t.search.text.piece = nil, nil
	t.emitted, t.buffer = t.buffer, nil
}

// work deals with matches until there is no more to find.
func (t *Stream) work(next func() event) {
	t.find(next)
	if t.captor != nil {
		t.search.set.captors.Put(t.captor)
		t.captor = nil
	}
}

func (t *Stream) find(next func() event) {
	s := &t.search
	for {
		if t.empty {
			if s.match.end == s.text.end {
				return
			}
			t.empty = false
			s.begin(s.match.end + 1)
		}
		switch next() {
		case more:
			return
		case gone:
			s.begin(s.oldest() + 1)
		case found:
			if !t.take(s.match) {
				return
			}
		}
	}
}

// take deals with a match. It is false if a byte more is needed to tell whether
// it is one.
func (t *Stream) take(m match) bool {
	s := &t.search
	t.won[m.rule/64] |= 1 << (m.rule % 64)
	if m.start == m.end {
		if m.end == s.text.end && !t.ended && s.text.byteBefore(m.end) >= 0x80 {
			return false
		}
		t.empty = true
		if m.end != t.last && !s.text.inside(m.end) {
			t.last = m.end
			t.replace(m)
		}
		return true
	}
	t.last = m.end
	t.replace(m)
	s.begin(m.end)
	return true
}

// replace gives out what comes before a match, and what is put in its place.
func (t *Stream) replace(m match) {
	r := &t.search.set.rules[m.rule]
	if t.counts[m.rule] > 0 && !r.all { // it has acted; it still shields
		return
	}
	if t.counts[m.rule]++; t.counts[m.rule] == 0 {
		t.carry(m.rule)
	}
	t.unchanged(m.start)
	t.done = m.end
	var groups []int
	if r.put.usesGroups {
		if t.captor == nil {
			t.captor = t.search.set.captor()
		}
		groups = t.captor.find(&t.search.text, m)
	}
	for i := range r.put.pieces {
		p := &r.put.pieces[i]
		switch {
		case p.group < 0:
			t.out.write(p.text)
		case p.group == 0:
			t.stretch(m.start, m.end)
		case groups[2*p.group+1] >= 0:
			t.stretch(groups[2*p.group], groups[2*p.group+1])
		}
	}
}

// carry notes that a count has begun again from 0.
func (t *Stream) carry(rule int32) {
	if t.carries == nil {
		t.carries = make(map[int32]int)
	}
	t.carries[rule]++
}

// unchanged gives out what has not been, up to a position.
func (t *Stream) unchanged(to int) {
	if to > t.done {
		t.stretch(t.done, to)
		t.done = to
	}
}

// stretch gives out a part of the text.
func (t *Stream) stretch(from, to int) {
	w := &t.search.text
	for from < to {
		part := w.from(from)
		part = part[:min(len(part), to-from)]
		t.out.write(part)
		from += len(part)
	}
}
