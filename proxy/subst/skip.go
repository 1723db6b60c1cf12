package subst

import "redoubt/proxy/subst/prefilter"

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

// worth is what skipping may cost, in bytes of search for each byte of text, for
// the search alone costs 1.
const worth = 0.7

// newSkipper looks for the signs of rules. It returns nil if a rule has none, or
// nothing can ever match.
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
// may begin, and whether it is one at all: else it is where the piece ends, as
// far as signs go.
func (s *search) nextSign(text []byte, from int) (hit, back int, ok bool) {
	k := s.set.skipper
	if s.ahead.piece != s.text.middle || from > s.ahead.hit {
		s.ahead.piece = s.text.middle
		s.ahead.hit, s.ahead.back = k.finder.Next(text, from)
	}
	hit, back = s.ahead.hit, s.ahead.back
	if hit > len(text)-k.finder.Width() {
		return hit, k.reach, false
	}
	return hit, back, true
}

// skip goes to where something may begin. It is asked where the search is at
// its beginning, and tells whether it has found a match itself.
func (s *search) skip() (certain bool) {
	w := &s.text
	if s.pos < w.middle { // kept text has been looked at, for the most part
		s.dull = w.middle
		return false
	}
	k := s.set.skipper
	text := w.piece
	from := s.pos - w.middle
	hit, back, ok := s.nextSign(text, from+k.nearest)
	if start := hit - k.nearest; ok && k.whole > 0 && start >= from && start+k.whole <= len(text) {
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

	// Each time costs as much as some bytes of search.
	if s.gain += at - from - perLook - perHit; s.gain > 0 {
		s.gain = 0
	} else if s.gain < -k.loss {
		s.gain = 0
		s.dull = max(s.dull, s.pos+4096)
	}
	if at > from {
		s.pos = w.middle + at
		s.state = s.cache.beginOf(w.byteBefore(s.pos), false)
	}
	return false
}
