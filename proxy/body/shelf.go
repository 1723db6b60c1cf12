package body

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Shelf holds the rules that are in force, and as many compiled sets of them as
// there is memory for. The zero value is empty. Any number of goroutines may use it.
type Shelf struct {
	mu     sync.Mutex
	memory int // bytes of sets, about
	ids    uint64
	rules  map[[sha256.Size]byte]*Rules
	out    []*Subset    // those that are compiled
	clock  atomic.Int64 // counts sets that were compiled
	busy   atomic.Bool  // with one in the background
}

// Fill puts rules on the shelf, instead of those that are there, and returns them in
// order: equal ones are one, and one that is there stays with all it has counted and
// compiled. Rules that are gone keep their sets for as long as somebody has them. memory is how many bytes all sets may take, about; 0: 64 MB. As many as take three
// quarters of it are compiled at once.
func (s *Shelf) Fill(memory int, wanted []Options) []*Rules {
	if memory <= 0 {
		memory = defaultMemory
	}
	s.mu.Lock()
	before := s.rules
	s.memory, s.rules = memory, make(map[[sha256.Size]byte]*Rules)
	list := make([]*Rules, len(wanted))
	for i, o := range wanted {
		key := o.key()
		r := s.rules[key]
		if r == nil {
			r = before[key]
		}
		if r == nil {
			s.ids++
			r = newRules(s, s.ids, o)
		}
		s.rules[key], list[i] = r, r
	}
	for _, r := range before {
		r.onShelf = false
	}
	for _, r := range list {
		r.onShelf = true
	}
	// Those of rules that are gone stay with these, which loops go on with until they
	// have the new ones.
	s.out = slices.DeleteFunc(s.out, func(sub *Subset) bool { return !sub.rules.onShelf })
	s.mu.Unlock()
	for _, r := range list {
		if s.bytes() > memory/4*3 {
			break
		}
		r.all.compile()
	}
	return list
}

const defaultMemory = 64 << 20

// key is the same for options that are equal but for their names and the order of their
// types.
func (o *Options) key() [sha256.Size]byte {
	types := slices.Sorted(slices.Values(o.Types))
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %d %d %g %t %t", types, o.Rules, o.Match, o.Hold, o.Share, o.Memory, o.Pass))
}

// Stats tells what is on a shelf.
type Stats struct {
	Rules    int   // sets of rules that differ
	Sets     int   // ... and of those, and parts of them, that are compiled
	Bytes    int   // ... which take so much, about
	Compiled int64 // how many were compiled so far
}

// Stats counts.
func (s *Shelf) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{Rules: len(s.rules), Sets: len(s.out), Bytes: s.sum(), Compiled: s.clock.Load()}
}

func (s *Shelf) bytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum()
}

func (s *Shelf) sum() (n int) {
	for _, sub := range s.out {
		n += sub.bytes()
	}
	return n
}

// The states that a set keeps take their share of half the memory, within limits.
const (
	leastStates = 64 << 10
	mostStates  = 2 << 20
)

func (s *Shelf) statesOf() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.memory / 2 / max(1, len(s.rules))
	if n >= mostStates {
		return 0 // subst's default, which knows more
	}
	return max(n, leastStates)
}

// put takes note of a set that has been compiled, and drops those that were not used
// for longest if there is too much.
func (s *Shelf) put(sub *Subset, c *compiled) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub.set.Store(c)
	if !sub.rules.onShelf { // it goes with its rules, which are gone
		return
	}
	sub.used.Store(s.clock.Add(1))
	s.out = append(s.out, sub)
	s.trim(sub)
}

// grown is told that a set has come to take more.
func (s *Shelf) grown(sub *Subset) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim(sub)
}

// trim drops what was not used for longest while there is too much, but for one set.
func (s *Shelf) trim(but *Subset) {
	for sum := s.sum(); sum > s.memory && len(s.out) > 1; {
		oldest := -1
		for i, o := range s.out {
			if o != but && (oldest < 0 || o.used.Load() < s.out[oldest].used.Load()) {
				oldest = i
			}
		}
		sum -= s.out[oldest].bytes()
		s.out[oldest].set.Store(nil)
		s.out = slices.Delete(s.out, oldest, oldest+1)
	}
}
