package body

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"redoubt/proxy/subst"
)

// Options are what a configuration says about the bodies of a route, one way.
type Options struct {
	Name   string   // in metrics and logs
	Types  []string // see ParseType
	Rules  []subst.Rule
	Match  subst.Match
	Hold   int     // bytes; 0: 8 KB
	Share  float64 // percentage of clients whose bodies are rewritten
	Memory bool    // what applies is remembered
	Pass   bool    // bodies in an unknown coding pass, rather than to be refused
}

// Rules are what Options say, ready for use by any number of goroutines.
type Rules struct {
	Name   string
	Memory bool
	Pass   bool

	id      uint64 // no others have it, nor will have
	shelf   *Shelf
	onShelf bool // guarded by the shelf's mutex
	rules   []subst.Rule
	match   subst.Match
	hold    int
	types   []mediaType
	share   uint64 // in hundredths of a per cent
	counts  []counts
	held    atomic.Int64
	bodies  atomic.Uint64

	mu      sync.Mutex
	subsets map[string]*Subset
	all     *Subset
}

// mostSubsets bounds those of one set of rules. Files are much alike: those of a site
// need few.
const mostSubsets = 64

func newRules(s *Shelf, id uint64, o Options) *Rules {
	r := &Rules{
		Name: o.Name, Memory: o.Memory, Pass: o.Pass, id: id, shelf: s, rules: o.Rules, match: o.Match, hold: o.Hold,
		share: uint64(o.Share*100 + 0.5), counts: make([]counts, len(o.Rules)), subsets: make(map[string]*Subset),
	}
	for _, text := range o.Types {
		t, err := parseType(text)
		if err != nil {
			panic(fmt.Sprintf("body: options that were not checked: %v", err))
		}
		r.types = append(r.types, t)
	}
	r.all = &Subset{rules: r}
	for i := range o.Rules {
		r.all.numbers = append(r.all.numbers, i)
	}
	return r
}

// All is the subset of all the rules.
func (r *Rules) All() *Subset { return r.all }

// Len is how many there are.
func (r *Rules) Len() int { return len(r.rules) }

// Find is what a rule, from 0, looks for.
func (r *Rules) Find(rule int) string { return r.rules[rule].Find }

// Takes tells whether bodies with a Content-Type are rewritten.
func (r *Rules) Takes(contentType []byte) bool {
	return slices.ContainsFunc(r.types, func(t mediaType) bool { return t.takes(contentType) })
}

// Covers tells whether a client is among those whose bodies are rewritten. It is the
// same ones every time, whatever the route, and those of a larger share are more.
func (r *Rules) Covers(client netip.Addr) bool {
	const whole = 100_00
	if r.share >= whole {
		return true
	}
	h := uint64(14695981039346656037) // FNV-1a
	for _, b := range client.As16() {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h ^= h >> 32 // neighbours differ in their last byte only
	h *= 0x9e3779b97f4a7c15
	return h>>32%whole < r.share
}

// Subset is that of the rules that have a bit in won, as subst.Stream.Won says; nil if
// there are too many already.
func (r *Rules) Subset(won []uint64) *Subset {
	r.mu.Lock()
	defer r.mu.Unlock()
	var key [8 * 4]byte // longer ones are allocated
	name := key[:0]
	for _, w := range won {
		name = binary.LittleEndian.AppendUint64(name, w)
	}
	if s := r.subsets[string(name)]; s != nil {
		return s
	}
	var numbers []int
	for i := range r.rules {
		if won[i/64]>>(i%64)&1 != 0 {
			numbers = append(numbers, i)
		}
	}
	s := r.all
	if len(numbers) < len(r.rules) {
		if len(r.subsets) >= mostSubsets {
			return nil
		}
		s = &Subset{rules: r, numbers: numbers}
	}
	r.subsets[string(name)] = s
	return s
}

// counts are of one rule.
type counts struct{ matches, gaveUp, held atomic.Uint64 }

// Counts are what a rule has met in all bodies so far, see subst.RuleStats.
type Counts struct{ Matches, GaveUp, Held uint64 }

// Counts are those of a rule, from 0.
func (r *Rules) Counts(rule int) Counts {
	c := &r.counts[rule]
	return Counts{c.matches.Load(), c.gaveUp.Load(), c.held.Load()}
}

// Bodies is how many have been rewritten.
func (r *Rules) Bodies() uint64 { return r.bodies.Load() }

// Held is how many bytes are held back now, as of the last pieces of bodies.
func (r *Rules) Held() int64 { return r.held.Load() }
