package body

import (
	"strings"
	"sync"
	"sync/atomic"

	"redoubt/proxy/subst"
)

// Subset is some of the rules of a route.
type Subset struct {
	rules   *Rules
	numbers []int // of its rules, from 0, in order

	set       atomic.Pointer[compiled] // nil: not compiled
	used      atomic.Int64             // when it was last, see Shelf.clock
	compiling sync.Mutex
}

// compiled is a set with streams to be used again, which go with it.
type compiled struct {
	*subst.Set
	size    atomic.Int64 // in bytes, when it was looked at last
	wild    bool         // see Stream.Wild
	streams sync.Pool
}

// Stream replaces in one body. It is one goroutine's at a time.
type Stream struct {
	*subst.Stream
	subset *Subset
	set    *compiled
	held   int64
}

// Empty tells that there are no rules in it.
func (s *Subset) Empty() bool { return len(s.numbers) == 0 }

// Rules are those that it is part of.
func (s *Subset) Rules() *Rules { return s.rules }

// Stream returns one for another body. Where the set is not compiled now, which takes
// milliseconds, it is one of all the rules, and the set is compiled in the background; if
// there is none of those either it is nil: see Compile.
func (s *Subset) Stream() *Stream {
	c := s.set.Load()
	if c == nil && s != s.rules.all {
		s.Prepare()
		s = s.rules.all
		c = s.set.Load()
	}
	if c == nil {
		return nil
	}
	return s.stream(c)
}

func (s *Subset) stream(c *compiled) *Stream {
	s.used.Store(s.rules.shelf.clock.Load())
	if t, ok := c.streams.Get().(*Stream); ok {
		return t
	}
	return &Stream{Stream: c.NewStream(), subset: s, set: c}
}

// Compile is like Stream, but compiles the set if need be.
func (s *Subset) Compile() *Stream { return s.stream(s.compile()) }

// Prepare compiles the set in the background, if need be, and no other is being compiled
// there: then the next time will do.
func (s *Subset) Prepare() {
	if busy := &s.rules.shelf.busy; s.set.Load() == nil && busy.CompareAndSwap(false, true) {
		go func() {
			s.compile()
			busy.Store(false)
		}()
	}
}

func (s *Subset) compile() *compiled {
	s.compiling.Lock()
	defer s.compiling.Unlock()
	if c := s.set.Load(); c != nil {
		return c
	}
	r := s.rules
	rules := make([]subst.Rule, len(s.numbers))
	for i, n := range s.numbers {
		rules[i] = r.rules[n]
	}
	set, err := subst.Compile(rules, subst.Options{Match: r.match, Hold: r.hold, Memory: r.shelf.statesOf()})
	if err != nil {
		panic("body: rules that were not checked: " + err.Error())
	}
	c := &compiled{Set: set, wild: isWild(rules, set.Info())}
	r.shelf.put(s, c)
	return c
}

// bytes is what the set takes, about.
func (s *Subset) bytes() int {
	if c := s.set.Load(); c != nil {
		return c.Bytes()
	}
	return 0
}

// Rules are wild that may make over so many bytes of one, or are so many that they may be
// slow.
const (
	wildGrowth = 16
	wildRules  = 200
)

func isWild(rules []subst.Rule, info subst.Info) bool {
	for i, r := range rules {
		refs := strings.Count(r.Put, "$")
		if max(len(r.Put)/max(info.Rules[i].Min, 1), refs) > wildGrowth {
			return true
		}
	}
	return len(rules) > wildRules
}

// Wild tells that nobody knows how much, or how soon, comes of a piece: let it be small at
// first.
func (t *Stream) Wild() bool { return t.set.wild }

// FeedTo is subst's, and keeps account of what is held.
func (t *Stream) FeedTo(piece []byte, emit func([]byte)) {
	t.Stream.FeedTo(piece, emit)
	t.hold(int64(t.Held()))
}

func (t *Stream) hold(n int64) {
	if n != t.held {
		t.subset.rules.held.Add(n - t.held)
		t.held = n
	}
}

// Won appends a bit for each rule of all, as subst.Stream.Won does for those of the
// subset.
func (t *Stream) Won(dst []uint64) []uint64 {
	from := len(dst)
	var room [4]uint64
	won := t.Stream.Won(room[:0])
	for range (len(t.subset.rules.rules) + 63) / 64 {
		dst = append(dst, 0)
	}
	for i, n := range t.subset.numbers {
		dst[from+n/64] |= won[i/64] >> (i % 64) & 1 << (n % 64)
	}
	return dst
}

// Close counts what the stream has met, and gives it back. It returns how many matches
// were replaced.
func (t *Stream) Close() (matches int64) {
	r := t.subset.rules
	t.hold(0)
	r.bodies.Add(1)
	for i, n := range t.subset.numbers {
		s := t.RuleStats(i)
		if s == (subst.RuleStats{}) {
			continue
		}
		matches += s.Matches
		c := &r.counts[n]
		c.matches.Add(uint64(s.Matches))
		c.gaveUp.Add(uint64(s.GaveUp))
		c.held.Add(uint64(s.Held))
	}
	t.Reset()
	t.set.streams.Put(t)
	if n := int64(t.set.Bytes()); t.set.size.Swap(n) < n {
		r.shelf.grown(t.subset)
	}
	return matches
}
