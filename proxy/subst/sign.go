package subst

import (
	"regexp/syntax"
	"slices"

	"redoubt/proxy/subst/prefilter"
)

// sign is a needle of few bytes: what is looked for, a window of the prefilter.
type sign struct {
	needle
	around prefilter.Stretch // the sign within the needle
	rate   float64           // expected hits per byte
	sure   float64           // ... of those where the whole needle is
	way    float64           // about how many bytes before those a match may begin
}

const (
	// perLook is what a look around a sign costs, in bytes of search, if there is one
	// needle to look for, and perStretch for each more. perHit is what it costs to
	// search on the spot, besides the way back.
	perLook    = 15
	perStretch = 3
	perHit     = 60
	// reach is the distance up to which the search begins as far before a hit as
	// any match might; if it can be farther, it looks back at the bytes.
	reach = 32
)

// rarest is the rarest sign in a needle.
func (n *needle) rarest() sign {
	const most = 64 // bytes before and behind
	all := windowOf(n.sets)
	at, found, rate := prefilter.Choose(all)
	from, to := max(0, at-most), min(len(all), at+most)
	s := sign{needle: *n, around: prefilter.Stretch{Sets: all[from:to], At: at - from}, rate: rate}
	s.sure = min(rate, prefilter.Rate(s.around.Sets))
	s.sets, s.nearest = n.sets[at:at+len(found)], n.nearest+at
	for _, set := range n.sets[:at] {
		s.before.join(set)
	}
	if n.farthest >= 0 {
		s.farthest += at
		s.way = float64(s.farthest)
	}
	if !s.near() { // as if bytes came independently
		s.way = min(1/max(1-prefilter.Rate(windowOf([]byteSet{s.before})), 0.001), 1000)
	}
	return s
}

// windowOf is sets as the prefilter has them.
func windowOf(sets []byteSet) prefilter.Window {
	w := make(prefilter.Window, len(sets))
	for i := range sets {
		w[i] = prefilter.Set(sets[i])
	}
	return w
}

// near tells whether all matches begin within reach of the window.
func (s *sign) near() bool { return s.farthest >= 0 && s.farthest <= reach }

// cost is what looking for signs takes from each byte of a text, in bytes of
// search, where those of all rules come at some rate.
func cost(signs []sign, rate float64) (sum float64) {
	for _, s := range signs {
		sum += s.rate * perLook
	}
	return sum + costOfHits(signs, rate)
}

// costOfHits is the part of it that is for what looking finds. If matches may
// begin anywhere before a sign, the search looks back for that at each hit, also
// of other rules.
func costOfHits(signs []sign, rate float64) (sum float64) {
	for _, s := range signs {
		sum += s.sure * (perHit + s.way)
		if !s.near() {
			sum += rate * s.way
		}
	}
	return sum
}

// rateOf is how often to expect one of some signs to be sure, per byte.
func rateOf(signs []sign) (sum float64) {
	for _, s := range signs {
		sum += s.sure
	}
	return sum
}

// signs are those that rules are looked for by: one of a rule's signs is in each
// of its matches. A rule of which that cannot be said has none.
func (p *program) signs(rules []rule) [][]sign {
	// Which are best depends on those of the others, so they are chosen twice.
	all := make([][]sign, len(rules))
	rate := 0.0
	for range 2 {
		for i := range rules {
			all[i] = p.signsOf(i, rules[i].find, rate)
		}
		rate = rateOf(slices.Concat(all...))
	}
	return all
}

// signsOf are the signs of a rule that cost least, where those of all rules
// come at some rate.
func (p *program) signsOf(i int, find *syntax.Regexp, rate float64) (best []sign) {
	for find.Op == syntax.OpCapture {
		find = find.Sub[0]
	}
	ways := []*syntax.Regexp{find}
	if find.Op == syntax.OpAlternate {
		ways = find.Sub
	}
	for _, way := range ways {
		var least []sign
		for _, t := range stretchesOf(way) {
			if signs := t.signs(); least == nil || cost(signs, rate) < cost(least, rate) {
				least = signs
			}
		}
		if least == nil {
			best = nil
			break
		}
		best = append(best, least...)
	}
	if sets, sure := p.leading(i, 4*prefilter.Width); sure > 0 {
		lead := needle{sets: sets[:sure]}
		if w := []sign{lead.rarest()}; best == nil || cost(w, rate) < cost(best, rate) {
			return w
		}
	}
	return best
}
