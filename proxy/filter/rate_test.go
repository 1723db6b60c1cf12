package filter

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

func TestSetIsTwoCacheLines(t *testing.T) {
	if n := unsafe.Sizeof(set{}); n != 128 {
		t.Errorf("%d bytes", n)
	}
	if n := unsafe.Sizeof(connShard{}); n != 64 {
		t.Errorf("%d bytes", n)
	}
}

// bucket is a rate in other words: time that fills up to limit, of which each
// request takes an interval.
type bucket struct {
	filled time.Duration
	at     time.Duration
}

func (b *bucket) take(l *limiter, now time.Duration) (wait time.Duration) {
	b.filled, b.at = min(l.limit, b.filled+now-b.at), now
	if b.filled < l.interval {
		return l.interval - b.filled
	}
	b.filled -= l.interval
	return 0
}

func TestRateAgainstAModel(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, rate := range []Rate{{Requests: 1, Burst: 1}, {Requests: 3, Burst: 7}, {Requests: 200, Burst: 400}, {Requests: 1e6, Burst: 10}, {Requests: 0.01, Burst: 3}} {
		l := build(t, Options{Rate: rate}).limiter
		model := map[uint64]*bucket{}
		now, refused, most := time.Duration(0), 0, 20+random.IntN(2000) // too few for eight in a set
		for range 200_000 {
			key := random.Uint64N(uint64(most))
			if random.IntN(2) == 0 {
				key %= 5 // some ask often
			}
			now += time.Duration(random.ExpFloat64() * float64(l.interval) / 50)
			b := model[key]
			if b == nil {
				b = &bucket{filled: l.limit}
				model[key] = b
			}
			want := b.take(l, now)
			if got := l.take(key, now); got != want {
				t.Fatalf("%+v, client %d at %v: %v, not %v", rate, key, now, got, want)
			}
			if want > 0 {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("%+v: nobody was refused", rate)
		}
	}
}

// Sets overflow: against a list of which the client due the earliest is dropped.
func TestEvictionAgainstAModel(t *testing.T) {
	type entry struct {
		key uint64
		due time.Duration
	}
	random := rand.New(rand.NewPCG(5, 6))
	l := newLimiter(time.Second, 5*time.Second, 1)
	var model []entry // due times differ, for each instant is another
	now, lost := time.Duration(0), 0
	for range 100_000 {
		now += 1 + time.Duration(random.ExpFloat64()*float64(time.Second)/15)
		key := random.Uint64N(12)
		at, first := -1, 0
		for i, e := range model {
			if e.key == key {
				at = i
			}
			if e.due < model[first].due {
				first = i
			}
		}
		switch {
		case at >= 0:
		case len(model) < setSize:
			at, model = len(model), append(model, entry{key: key})
		default:
			if model[first].due > now {
				lost++
			}
			at, model[first] = first, entry{key: key}
		}
		due := max(now, model[at].due) + l.interval
		want := max(0, due-l.limit-now)
		if want == 0 {
			model[at].due = due
		}
		if got := l.take(key, now); got != want {
			t.Fatalf("client %d at %v: %v, not %v", key, now, got, want)
		}
	}
	if lost == 0 {
		t.Error("no client was driven out early")
	}
}

// Many clients that ask once drive each other out, and not the one that asks
// too fast.
func TestWhoAsksTooFastStays(t *testing.T) {
	l := newLimiter(time.Second, 10*time.Second, 1)
	const fast = 42
	for range 10 {
		l.take(fast, 0)
	}
	for other := uint64(1000); other < 2000; other++ {
		if l.take(other, 0) > 0 {
			t.Fatal("a new client has to wait")
		}
		if l.take(fast, 0) == 0 {
			t.Fatal("the fast one has been driven out")
		}
	}
}

func TestRatesAtOnce(t *testing.T) {
	f := build(t, Options{Rate: Rate{Requests: 1, Burst: 1000}, Methods: []string{"TRACE"}})
	var let, refused atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r := parse(t, "GET / HTTP/1.1")
			for range 100_000 {
				if isRefused(f.Check(someone, 1, r, 0)) {
					refused.Add(1)
				} else {
					let.Add(1)
				}
			}
		})
	}
	all.Wait()
	if let.Load() != 1000 || uint64(refused.Load()) != f.Rules()[0].Hits() {
		t.Errorf("%d let in, %d refused, %d counted", let.Load(), refused.Load(), f.Rules()[0].Hits())
	}
}

func TestBurstByDefault(t *testing.T) {
	for requests, want := range map[float64]int{200: 200, 0.1: 1, 1: 1, 2.9: 2} {
		f := build(t, Options{Rate: Rate{Requests: requests}})
		n := 0
		for f.limiter.take(1, 0) == 0 {
			n++
		}
		if n != want {
			t.Errorf("%v: %d at once, not %d", requests, n, want)
		}
	}
}
