package subst

import (
	"fmt"
	"sync"
	"sync/atomic"

	"redoubt/proxy/subst/prefilter"
)

// Set is rules that have been compiled. It does not change, but for what its
// streams have found out about bytes they met, which they share; any number of
// goroutines may use it.
type Set struct {
	options  Options
	rules    []rule
	program  *program
	info     Info
	stride   int // entries in a row of the table
	patience patience
	young    int      // bytes up to which a group's age is part of the state
	skipper  *skipper // nil: nothing is skipped
	current  atomic.Pointer[cache]
	flushes  atomic.Int64
	caches   atomic.Int64 // how many there have been

	simulations sync.Pool              // of *simulation: also for the ends of streams
	captors     sync.Pool              // of *captor
	trails      sync.Pool              // of *trails
	buffers     [bufferSizes]sync.Pool // of *buffer, by size
}

// youngest is how old a group may be for its start to follow from the state:
// most are dead by then, and no start has to be kept. Each age makes states of
// its own.
const youngest = 8

// Compile makes a Set of rules. Errors in them are *RuleError.
func Compile(rules []Rule, o Options) (*Set, error) {
	given := o.Memory > 0
	o = o.filled()
	if !prefilter.Supported(o.Kernel) {
		return nil, fmt.Errorf("subst: this processor has no %v", o.Kernel)
	}
	parsed, err := parseRules(rules)
	if err != nil {
		return nil, err
	}
	p, err := newProgram(parsed)
	if err != nil {
		return nil, err
	}
	s := &Set{options: o, rules: parsed, program: p, info: p.info(parsed, o.Hold), patience: usual()}
	s.young = min(youngest, o.Hold-1)
	s.stride = len(p.classes)
	signs := p.signs(parsed)
	if k := p.newSkipper(signs, o); k != nil && k.cost(signs) <= worth {
		s.skipper = k
	}
	s.info.signs(signs, s.skipper)
	c := newCache(s)
	if !given {
		s.options.Memory = max(o.Memory, leastStates*(c.begins[0][0].bytes()+4*s.stride))
	}
	s.current.Store(c)
	return s, nil
}

// leastStates is for how many states there is room by default. Each has all ways
// to begin a match, which are many where rules are: 24 KB for three thousand.
const leastStates = 500

// filled puts defaults where nothing is said.
func (o Options) filled() Options {
	if o.Hold <= 0 {
		o.Hold = defaultHold
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	return o
}

// Info tells what became of the rules.
func (s *Set) Info() Info { return s.info }

// Options are those of Compile, with defaults filled in.
func (s *Set) Options() Options { return s.options }

// flush gives up what a cache holds that is full. It is false if that has not
// paid: a cache that is filled up again at once is no use.
func (s *Set) flush(c *cache) bool {
	const pays = 32            // bytes for each state
	if s.current.Load() != c { // another stream has done it
		return true
	}
	if c.scanned.Load() < pays*int64(len(*c.rows.Load())) {
		return false
	}
	if s.current.CompareAndSwap(c, newCache(s)) {
		s.flushes.Add(1)
	}
	return true
}
