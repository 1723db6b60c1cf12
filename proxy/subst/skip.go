package subst

import (
	"slices"

	"redoubt/proxy/subst/prefilter"
)

// skipper goes past what cannot matter. While no start is open, the next match
// begins no farther before the next window of some rule than that rule allows:
// what comes before needs no search.
type skipper struct {
	finder  *prefilter.Finder
	nearest int      // a window is at least so far from the start of its match
	reach   int      // ... and at most, or all bytes between are in back
	back    *byteSet // nil: none is farther than reach
	hold    int      // the longest match
	whole   int      // the bytes of the only rule, whose matches are its needle, no more and no less; 0: it is not so
	loss    int      // bytes of search after which it is left alone for a while
}

const (
	// worth is what skipping may cost, in bytes of search for each byte of text, for
	// the search alone costs 1.
	worth = 0.7

	leastPause = 4 << 10 // bytes
	mostPause  = 1 << 20
)

// newSkipper looks for the signs of rules. It returns nil if a rule has none, or
// there is no rule.
func (p *program) newSkipper(signs [][]sign, o Options) *skipper {
	k := &skipper{nearest: never, hold: o.Hold, loss: 20 * perHit}
	var stretches []prefilter.Stretch
	var back byteSet
	for _, rule := range signs {
		if len(rule) == 0 {
			return nil
		}
		for i := range rule {
			n := &rule[i]
			k.nearest = min(k.nearest, n.nearest)
			if n.near() {
				k.reach = max(k.reach, n.farthest)
				n.around.Back = n.farthest
			} else {
				back.join(n.before)
				k.back = &back
			}
			stretches = append(stretches, n.around)
		}
	}
	if len(stretches) == 0 {
		return nil
	}
	if n := p.wholeOf(0, signs[0]); len(signs) == 1 && n <= o.Hold {
		k.whole = n
	}
	k.finder = prefilter.NewFinder(stretches, o.Kernel)
	return k
}

// cost is what skipping costs, in bytes of search for each byte of typical text.
func (k *skipper) cost(signs [][]sign) float64 {
	all := slices.Concat(signs...)
	looks := k.finder.Rate() * (perLook - perStretch + perStretch*k.finder.PerLook())
	return looks + costOfHits(all, rateOf(all))
}

// wholeOf is how many bytes a rule's matches have, if they are its sign with what
// is around it and nothing else.
func (p *program) wholeOf(rule int, signs []sign) int {
	n := 0
	for at := p.begin[rule]; p.nodes[at].op != opMatch; at = p.nodes[at].out {
		switch p.nodes[at].op {
		case opBytes:
			n++
		case opCapture:
		default:
			return 0
		}
	}
	if len(signs) != 1 || len(signs[0].around.Sets) != n || signs[0].around.At != signs[0].nearest {
		return 0
	}
	return n
}

// begin is where the search has to begin, from a place on where no start is
// open, if a match may begin at one, and of those whose sign is at hit or behind
// it in bytes of back.
func (k *skipper) begin(text []byte, from, at, hit int) int {
	at = max(from, at)
	if k.back == nil {
		return at
	}
	back := min(hit, len(text))
	from = max(from, back-k.hold)
	for back > from && k.back.has(text[back-1]) {
		back--
	}
	return min(at, back)
}

// nextSign is the next sign from a place in a piece on, how far before it a match
// may begin, and true. If there is none, it is where the next one may be, which
// the piece does not tell any more, and false. It is never asked farther back than
// before: from there to the sign that is known, there is none.
func (s *search) nextSign(text []byte, from int) (hit, back int, ok bool) {
	k := s.set.skipper
	if s.ahead.piece != s.text.middle || from > s.ahead.hit.At {
		s.ahead.piece = s.text.middle
		s.ahead.hit = k.finder.Next(text, from)
		s.gain -= perLook * s.ahead.hit.Looks
	}
	h := &s.ahead.hit
	if h.At > len(text)-k.finder.Width() {
		return h.At, k.reach, false
	}
	return h.At, h.Back, true
}

// skip goes to where something may begin, and on from there as long as nothing
// comes of it. It is asked where the search is at its beginning, and tells whether
// it has found a match itself.
func (s *search) skip() (certain bool) {
	w := &s.text
	if s.pos < w.middle { // kept text has been looked at, for the most part
		s.dull = w.middle
		return false
	}
	k := s.set.skipper
	text := w.piece
	for {
		from := s.pos - w.middle
		hit, back, ok := s.nextSign(text, from+k.nearest)
		if start := hit - k.nearest; ok && k.whole > 0 && start+k.whole <= len(text) {
			s.pos = w.middle + start + k.whole
			s.match = match{s.pos - k.whole, s.pos, 0}
			return true
		}
		at := hit - back
		if s.dull = w.end; ok {
			s.dull = w.middle + hit - k.nearest + 1
			// A match of another rule may begin earlier, and have its sign later.
			if back < k.reach {
				next, _, _ := s.nextSign(text, hit+1)
				at = min(at, next-k.reach)
			}
		}
		at = k.begin(text, from, at, hit)
		if at > from {
			s.pos = w.middle + at
			s.state = s.cache.beginOf(w.byteBefore(s.pos), false)
		}

		// If it does not pay, it is left alone for a while; each time for longer.
		if s.gain += at - from - perHit; s.gain > 0 {
			s.gain, s.pause = 0, leastPause
		} else if s.gain < -k.loss {
			s.gain = 0
			s.dull = max(s.dull, s.pos+s.pause)
			s.pause = min(2*s.pause, mostPause)
			return false
		}
		if !ok || !s.comesToNothing() {
			return false
		}
	}
}

// comesToNothing goes over a sign, and tells whether the search is at its
// beginning again soon after it. If not, it has gone as far as it could.
func (s *search) comesToNothing() bool {
	const soon = 64
	sign := s.dull - s.pos
	switch {
	case sign <= 0: // nothing begins before it
		return s.pos < s.text.end
	case sign+soon > s.set.options.Hold: // the hold limit is for others to see to
		return false
	}
	text := s.text.piece[s.pos-s.text.middle:]
	n := s.run(text[:sign], 1)
	if n == sign && s.state.row > s.cache.idle {
		n += s.run(text[n:min(n+soon, len(text))], s.cache.idle+1)
	}
	s.pos += n
	s.scanned += n
	s.steps += int64(n)
	return n >= sign && s.state.row <= s.cache.idle && s.pos < s.text.end
}
