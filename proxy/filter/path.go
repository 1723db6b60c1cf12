package filter

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"redoubt/netloop/http1"
)

// paths finds the rule for a path: that of the whole path, or else that of the
// longest prefix. A look-up takes one in a map, and one in a sorted list.
type paths struct {
	exact    map[string]*Rule
	prefixes []prefix // sorted by text
	longest  int      // bytes of a text
}

type prefix struct {
	text    string
	rule    *Rule
	shorter int // the longest other one that text begins with; -1: none
}

// add takes a pattern as it is written, and also with its escapes decoded: as it
// is compared with requests whose escapes are.
func (p *paths) add(pattern string, rule *Rule) {
	decoded := decode(pattern)
	p.longest = max(p.longest, len(pattern))
	if text, ok := strings.CutSuffix(pattern, "*"); ok {
		p.prefixes = append(p.prefixes, prefix{text: text, rule: rule}, prefix{text: strings.TrimSuffix(decoded, "*"), rule: rule})
		return
	}
	for _, text := range []string{pattern, decoded} {
		if p.exact[text] == nil {
			p.exact[text] = rule
		}
	}
}

// link makes the prefixes ready, after the last add.
func (p *paths) link() {
	slices.SortStableFunc(p.prefixes, func(a, b prefix) int { return cmp.Compare(a.text, b.text) })
	p.prefixes = slices.CompactFunc(p.prefixes, func(a, b prefix) bool { return a.text == b.text })
	for i := range p.prefixes {
		at := i - 1
		for at >= 0 && !strings.HasPrefix(p.prefixes[i].text, p.prefixes[at].text) {
			at = p.prefixes[at].shorter
		}
		p.prefixes[i].shorter = at
	}
}

func (p *paths) find(path []byte) *Rule {
	if len(p.exact) == 0 && len(p.prefixes) == 0 {
		return nil
	}
	rule := p.match(path)
	if rule != nil || isPlain(path) { // Fast path - nearly all are
		return rule
	}
	return p.findRead(path)
}

// match looks for a path in one reading.
//
// A prefix of the path stands in the list at or before where the path would,
// and what stands between begins with that prefix, too. So the last one that is
// not behind the path, and those that it begins with, are all that could be.
func (p *paths) match(path []byte) *Rule {
	if rule := p.exact[string(path)]; rule != nil {
		return rule
	}
	at := sort.Search(len(p.prefixes), func(i int) bool { return p.prefixes[i].text > string(path) }) - 1
	for at >= 0 {
		have := &p.prefixes[at]
		if len(path) >= len(have.text) && string(path[:len(have.text)]) == have.text {
			return have.rule
		}
		at = have.shorter
	}
	return nil
}

// findRead looks for a path as servers may read it.
func (p *paths) findRead(path []byte) *Rule {
	const short = 256
	if len(path) > short {
		return p.findLong(path)
	}
	var ( // what is not needed need not be cleared, either
		decoded, read [short]byte
		marks         [short]mark
		segments      [short]segment
	)
	return p.findIn(target{decoded: decoded[:0], marks: marks[:0], segments: segments[:0]}, path, read[:0])
}

// findLong is findRead of any path. Its 80 KB would be on the stack of findRead, too.
//
//go:noinline
func (p *paths) findLong(path []byte) *Rule {
	var (
		decoded, read [http1.MaxTarget]byte
		marks         [http1.MaxTarget]mark
		segments      [http1.MaxTarget]segment
	)
	return p.findIn(target{decoded: decoded[:0], marks: marks[:0], segments: segments[:0]}, path, read[:0])
}

func (p *paths) findIn(t target, path, room []byte) *Rule {
	t = t.parse(path)
	same := t.alike()
	for as := range readings {
		if as&same != 0 {
			continue
		}
		read, up := t.read(room, as, p.longest)
		if rule := p.match(read); rule != nil {
			return rule
		}
		if as == 0 && !up && same&(slashed|cut) == slashed|cut {
			return nil // nothing is taken away: the others would be no different
		}
	}
	return nil
}
