package subst

import "slices"

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

	whole  []byte // the buffer that what is kept lies in, from its beginning
	spare  []byte // ... and the other one
	out    sink
	counts []int64 // by rule
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
	t := &Stream{search: search{set: s}, counts: make([]int64, len(s.rules))}
	t.Reset()
	return t
}

// Reset begins another body. Slices that were emitted are valid no more.
func (t *Stream) Reset() {
	t.search.reset()
	t.search.text.kept = t.whole[:0]
	t.done, t.last, t.empty, t.ended = 0, -1, false, false
	clear(t.counts)
}

// Feed takes the next piece of the body, and appends to dst what is certain of
// the output. The piece is the caller's again when Feed returns.
func (t *Stream) Feed(dst, piece []byte) []byte {
	t.out = sink{dst: dst}
	t.feed(piece)
	dst, t.out = t.out.dst, sink{}
	return dst
}

// Finish ends the body, and appends the rest of the output to dst. Reset comes
// next.
func (t *Stream) Finish(dst []byte) []byte {
	t.out = sink{dst: dst}
	t.finish()
	dst, t.out = t.out.dst, sink{}
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
	Overruns int64   // starts given up because no match had ended within the hold limit
	Steps    int64   // bytes that the search went over; more than there were, where it had to begin anew
	Flushes  int64   // of the Set's cache, by all its streams
}

// Stats returns a copy.
func (t *Stream) Stats() Stats {
	return Stats{
		Matches: slices.Clone(t.counts), Overruns: t.search.overruns, Steps: t.search.steps, Flushes: t.search.set.flushes.Load(),
	}
}

func (t *Stream) feed(piece []byte) {
	if t.ended {
		panic("subst: Feed after Finish, without Reset")
	}
	if len(piece) == 0 {
		return
	}
	w := &t.search.text
	w.piece, w.middle = piece, w.end
	w.end += len(piece)
	t.work(t.search.advance)
	t.search.report()

	from := t.search.oldest()
	if t.empty { // the match at pos is dealt with, and the byte behind it not there
		from = t.search.pos
	}
	t.unchanged(from)
	t.keep(from)
}

func (t *Stream) finish() {
	if t.ended {
		return
	}
	t.ended = true
	t.work(func() event {
		if e := t.search.advance(); e != more {
			return e
		}
		return t.search.finish()
	})
	t.unchanged(t.search.text.end)
	t.search.stopSimulation()
}

// work deals with matches until there is no more to find.
func (t *Stream) work(next func() event) {
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
	t.counts[m.rule]++
	t.unchanged(m.start)
	t.done = m.end
	var groups []int
	if r.put.usesGroups {
		c := t.search.set.captor()
		defer t.search.set.captors.Put(c)
		groups = c.find(&t.search.text, m)
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

// keep keeps the text from a position on. What was emitted of the text kept so
// far stays as it is until the next piece, so that is moved to the other
// buffer, if it has to be moved at all.
func (t *Stream) keep(from int) {
	w := &t.search.text
	var back [len(w.back)]byte
	for n := range back {
		if pos := from - n; pos > 0 {
			back[n] = byte(w.byteBefore(pos))
		}
	}
	w.back = back
	switch {
	case from >= w.middle:
		buf := append(t.spare[:0], w.piece[from-w.middle:]...)
		t.spare, t.whole, w.kept = t.whole, buf, buf
	default:
		rest := w.kept[from-w.begin:]
		need := len(rest) + len(w.piece)
		if need <= cap(rest) {
			w.kept = append(rest, w.piece...)
			break
		}
		if cap(t.spare) < need+need/4 { // a quarter more, or small pieces would move all each time
			t.spare = make([]byte, 0, need+need/4)
		}
		buf := append(append(t.spare[:0], rest...), w.piece...)
		t.spare, t.whole, w.kept = t.whole, buf, buf
	}
	w.begin, w.middle, w.piece = from, w.end, nil
}
