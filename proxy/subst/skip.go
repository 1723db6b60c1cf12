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
			stretches = append(stretches, n.around)
			k.nearest = min(k.nearest, n.nearest)
			if n.near() {
				k.reach = max(k.reach, n.farthest)
			} else {
				back.join(n.before)
				k.back = &back
			}
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
// open, if the next window is at hit or behind it.
func (k *skipper) begin(text []byte, from, hit int) int {
	at := max(from, hit-k.reach)
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
	hit := k.finder.Next(text, from+k.nearest)
	if start := hit - k.nearest; k.whole > 0 && start >= from && start+k.whole <= len(text) {
		s.pos = w.middle + start + k.whole
		s.match = match{s.pos - k.whole, s.pos, 0}
		return true
	}
	at := k.begin(text, from, hit)
	if hit > len(text)-k.finder.Width() {
		s.dull = w.end
	} else {
		s.dull = w.middle + hit - k.nearest + 1
	}

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
