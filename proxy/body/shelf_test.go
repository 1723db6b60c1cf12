package body

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/proxy/subst"
)

// own are rules that nobody else has.
func own(n int) Options {
	return Options{Name: fmt.Sprint("route ", n), Rules: []subst.Rule{{Find: fmt.Sprintf("(a|b)%dx+", n), Put: "[$1]", Flags: "g"}}}
}

func TestEqualRulesAreOne(t *testing.T) {
	base := Options{Name: "a", Types: []string{"text/html", "text/css"}, Rules: words(2), Hold: 100, Share: 50, Memory: true}
	shelf := new(Shelf)
	f := func(same bool, change func(*Options)) {
		t.Helper()
		o := base
		change(&o)
		list := shelf.Fill(64<<20, []Options{base, o})
		if (list[0] == list[1]) != same {
			t.Errorf("%+v and %+v are one: %v", base, o, !same)
		}
		if list[0].Name != "a" {
			t.Errorf("they are called %q, and the first is a", list[0].Name)
		}
		if n := shelf.Stats().Rules; n == 1 != same {
			t.Errorf("there are %d on the shelf", n)
		}
	}
	f(true, func(*Options) {})
	f(true, func(o *Options) { o.Name = "b" })
	f(true, func(o *Options) { o.Types = []string{"text/css", "text/html"} })
	f(false, func(o *Options) { o.Types = []string{"text/css"} })
	f(false, func(o *Options) { o.Rules = words(3) })
	f(false, func(o *Options) { o.Rules = []subst.Rule{o.Rules[1], o.Rules[0]} })
	f(false, func(o *Options) { o.Rules = []subst.Rule{o.Rules[0], {Find: o.Rules[1].Find, Put: "", Flags: "g"}} })
	f(false, func(o *Options) { o.Rules = []subst.Rule{o.Rules[0], {Find: o.Rules[1].Find, Put: "$&!"}} })
	f(false, func(o *Options) { o.Match = subst.First })
	f(false, func(o *Options) { o.Hold = 101 })
	f(false, func(o *Options) { o.Share = 50.01 })
	f(false, func(o *Options) { o.Memory = false })
	f(false, func(o *Options) { o.Pass = true })
}

// What is there stays where a configuration is read again: counters, compiled sets.
func TestReloadKeepsRules(t *testing.T) {
	shelf := new(Shelf)
	before := shelf.Fill(64<<20, []Options{own(1), own(2)})
	for _, r := range before {
		s := r.All().Stream()
		if s == nil {
			t.Fatal("rules are not compiled, although there is room")
		}
		replace(s, "a1xx b1x a2x")
		s.Close()
	}
	compiled := shelf.Stats().Compiled
	under := before[1].All().Stream() // a body that is under way
	renamed := own(1)
	renamed.Name = "other"
	after := shelf.Fill(64<<20, []Options{own(3), renamed})
	if after[1] != before[0] || after[1].Counts(0).Matches != 2 || after[1].Bodies() != 1 {
		t.Errorf("rules that stay are others, or have lost their counters: %v", after[1].Counts(0))
	}
	if s := shelf.Stats(); s.Rules != 2 || s.Sets != 2 || s.Compiled != compiled+1 {
		t.Errorf("%+v, and before %d were compiled", s, compiled)
	}
	if got := replace(under, "a2x"); got != "[a]" {
		t.Errorf("a body under way becomes %q", got)
	}
	under.Close()
	// Rules that are gone are compiled to the end, and do not count.
	sets, size := shelf.Stats().Sets, shelf.Stats().Bytes
	before[1].All().set.Store(nil)
	s := before[1].All().Compile()
	if got := replace(s, "a2x"); got != "[a]" {
		t.Errorf("%q", got)
	}
	s.Close()
	if now := shelf.Stats(); now.Sets != sets || now.Bytes != size || before[1].All().Stream() == nil {
		t.Errorf("%+v with rules that are gone, %d sets of %d bytes without", now, sets, size)
	}
	if back := shelf.Fill(64<<20, []Options{own(2)}); back[0] == before[1] || back[0].Counts(0).Matches != 0 {
		t.Error("rules that were gone come back")
	}
}

// A shelf that is full drops sets that were not used for longest.
func TestEviction(t *testing.T) {
	one := new(Shelf)
	one.Fill(64<<20, []Options{own(0)})
	memory := 8 * one.Stats().Bytes
	var wanted []Options
	for n := range 100 {
		wanted = append(wanted, own(n))
	}
	shelf := new(Shelf)
	list := shelf.Fill(memory, wanted)
	if s := shelf.Stats(); s.Rules != 100 || s.Sets < 4 || s.Bytes > memory {
		t.Fatalf("%+v of at most %d bytes", s, memory)
	}
	use := func(n int) {
		t.Helper()
		s := list[n%len(list)].All().Compile()
		if got := replace(s, fmt.Sprintf("-a%dxx-", n)); got != "-[a]-" {
			t.Errorf("rules %d make %q", n, got)
		}
		s.Close()
	}
	for n := range list {
		use(n)
		use(7) // again and again
		if s := shelf.Stats(); s.Bytes > memory {
			t.Fatalf("%+v after %d, of at most %d bytes", s, n, memory)
		}
		if list[n].All().Stream() == nil || list[7].All().Stream() == nil {
			t.Fatalf("a set that was used just now is gone, after %d", n)
		}
	}
	kept := 0
	for n := range list {
		if list[n].All().set.Load() != nil {
			if kept++; n != 7 && n < 90 {
				t.Errorf("set %d is there, which is old", n)
			}
		}
	}
	if kept < 4 {
		t.Errorf("%d sets are kept", kept)
	}
	compiled := shelf.Stats().Compiled
	use(0) // it has gone, and comes again
	if n := shelf.Stats().Compiled; n != compiled+1 {
		t.Errorf("%d were compiled, before %d", n, compiled)
	}
	// One is kept at least, whatever it takes.
	list = shelf.Fill(1, []Options{own(0), own(1)})
	use(0)
	use(1)
	if s := shelf.Stats(); s.Sets != 1 || list[1].All().Stream() == nil {
		t.Errorf("%+v with no memory to speak of", s)
	}
}

// A set that is prepared is there soon, and compiled once.
func TestPrepare(t *testing.T) {
	shelf := new(Shelf)
	r := shelf.Fill(64<<20, []Options{{Rules: words(8)}})[0]
	sub := r.Subset([]uint64{5})
	if all := sub.Stream(); all == nil || all.subset != r.All() { // until it is there
		t.Fatalf("%+v", all)
	} else if got := replace(all, "w0 w1 w2"); got != "w0! w1! w2!" {
		t.Errorf("%q", got)
	}
	for range 10 {
		sub.Prepare()
	}
	for end := time.Now().Add(10 * time.Second); sub.set.Load() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never is")
		}
	}
	for range 10 {
		sub.Prepare()
	}
	if n := shelf.Stats().Compiled; n != 2 { // all, and this
		t.Errorf("%d sets were compiled", n)
	}
	s := sub.Stream()
	if got := replace(s, "w0 w1 w2"); got != "w0! w1 w2!" {
		t.Errorf("%q", got)
	}
	s.Close()
}

// Many use a shelf that is too small while it is filled again and again.
func TestManyAtOnce(t *testing.T) {
	var wanted []Options
	for n := range 20 {
		o := own(n)
		o.Rules = append(o.Rules, words(5)...)
		wanted = append(wanted, o)
	}
	one := new(Shelf)
	one.Fill(64<<20, wanted[:1])
	memory := 5 * one.Stats().Bytes
	shelf := new(Shelf)
	var list atomic.Pointer[[]*Rules]
	first := shelf.Fill(memory, wanted)
	list.Store(&first)
	over := time.Now().Add(300 * time.Millisecond)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 1))
			for time.Now().Before(over) {
				rules := *list.Load()
				n := rnd.IntN(len(rules))
				r := rules[n]
				s := r.All().Stream()
				if s == nil {
					s = r.All().Compile()
				}
				name := strings.TrimPrefix(r.Name, "route ")
				got := replace(s, "a", name, "xx w1 w2 ", "w", "3 w4x")
				if got != "[a] w1! w2! w3! w4x" {
					t.Errorf("%s: %q", r.Name, got)
					return
				}
				sub := r.Subset(s.Won(nil))
				s.Close()
				if sub == nil || sub.Empty() || sub == r.All() {
					t.Error("the subset is none, empty or all")
					return
				}
				sub.Prepare()
				if s := sub.Stream(); s != nil {
					if got := replace(s, "w1 w2"); got != "w1! w2!" {
						t.Errorf("%q", got)
					}
					s.Close()
				}
				r.Counts(0)
				shelf.Stats()
			}
		})
	}
	for time.Now().Before(over) {
		from := rand.IntN(10)
		next := shelf.Fill(memory, wanted[from:from+1+rand.IntN(10)])
		list.Store(&next)
		time.Sleep(time.Millisecond)
	}
	group.Wait()
	for shelf.busy.Load() { // or other tests would count what that allocates
		time.Sleep(time.Millisecond)
	}
	last := shelf.Fill(memory, wanted[:3])
	for _, r := range last {
		if n := r.Held(); n != 0 {
			t.Errorf("%s holds %d bytes when all is over", r.Name, n)
		}
	}
	if s := shelf.Stats(); s.Rules != 3 || s.Bytes > memory {
		t.Errorf("%+v, of at most %d bytes", s, memory)
	}
}

// Sets grow with the texts that they meet. What they grow to counts as well.
func TestSetsThatGrow(t *testing.T) {
	const memory = 1 << 20
	var wanted []Options
	for n := range 100 {
		o := own(n)
		o.Rules = append(o.Rules, subst.Rule{Find: "<script[^>]*tracker[^>]*></script>", Flags: "gi"}, subst.Rule{Find: "a[^b]{0,50}z", Flags: "g"})
		wanted = append(wanted, o)
	}
	shelf := new(Shelf)
	list := shelf.Fill(memory, wanted)
	rnd := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a1x", "<script a tracker x></script>", "aaaaaaaaaa", "z", "b", " ", "a2xx", "<scr", ">"}
	var text strings.Builder
	for text.Len() < 10_000 {
		text.WriteString(parts[rnd.IntN(len(parts))])
	}
	for _, r := range list {
		if s := r.All().Stream(); s != nil {
			replace(s, text.String())
			s.Close()
		}
	}
	if s := shelf.Stats(); s.Bytes > memory*5/4 {
		t.Errorf("%+v, of at most %d bytes", s, memory)
	}
}
