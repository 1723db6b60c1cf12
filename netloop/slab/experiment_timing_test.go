package slab

import (
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"testing"
)

// traffic is the memory of a proxy's exchanges, 256 at a time: two objects each,
// and as many blocks as an exchange may need. The larger a block the rarer it is.
type traffic struct {
	live   [256]exchangeMemory
	random *rand.Rand

	object   func() *[600]byte
	noObject func(*[600]byte)
	block    func(int) []byte
	noBlock  func([]byte)
}

type exchangeMemory struct {
	client, link *[600]byte
	blocks       [4][]byte
	n            int
}

// turn ends an exchange and begins another.
func (t *traffic) turn() {
	e := &t.live[t.random.IntN(len(t.live))]
	if e.client != nil {
		for _, b := range e.blocks[:e.n] {
			t.noBlock(b)
		}
		t.noObject(e.client)
		t.noObject(e.link)
	}
	e.client, e.link, e.n = t.object(), t.object(), 0
	for size := 1 << 10; size <= 256<<10 && e.n < len(e.blocks); size <<= 2 {
		b := t.block(size)
		use(b)
		e.blocks[e.n] = b
		if e.n++; t.random.IntN(4) != 0 {
			break
		}
	}
}

// BenchmarkExchangeMemory is the slab experiment: what memory costs an exchange
// from the Go heap, from a slab that has just been made (its pages are touched for
// the first time), from one that is warm, and from one that a million exchanges of
// all sizes have gone through. gc-share is the garbage collector's part of the
// processor time meanwhile.
func BenchmarkExchangeMemory(b *testing.B) {
	heap := func() *traffic {
		return &traffic{
			object: func() *[600]byte { return new([600]byte) }, noObject: func(*[600]byte) {},
			block: func(n int) []byte { return make([]byte, n) }, noBlock: func([]byte) {},
		}
	}
	slabbed := func(b *testing.B) *traffic {
		c, o := newArena(b, 256<<20).NewCache(), NewObjects[[600]byte](0)
		return &traffic{
			object: o.Get, noObject: o.Put,
			block: func(n int) []byte {
				block, err := c.Get(n)
				if err != nil {
					b.Fatal(err)
				}
				return block
			},
			noBlock: c.Put,
		}
	}
	run := func(name string, make func(*testing.B) *traffic, before, each int) {
		b.Run(name, func(b *testing.B) {
			t := make(b)
			t.random = rand.New(rand.NewPCG(1, 2))
			for range before {
				t.turn()
			}
			runtime.GC()
			gc, all := processorTime()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n++; each > 0 && n%each == 0 { // a new slab, and whatever it costs
					b.StopTimer()
					t = make(b)
					t.random = rand.New(rand.NewPCG(1, 2))
					b.StartTimer()
				}
				t.turn()
			}
			gc2, all2 := processorTime()
			if all2 > all {
				b.ReportMetric((gc2-gc)/(all2-all), "gc-share")
			}
		})
	}
	run("heap", func(*testing.B) *traffic { return heap() }, 10_000, 0)
	run("cold", slabbed, 0, 300)
	run("hot", slabbed, 10_000, 0)
	run("aged", slabbed, 1_000_000, 0)
}

// processorTime is what the garbage collector has taken so far, and what the
// program has without idling, in seconds.
func processorTime() (gc, all float64) {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	runtime.GC() // which brings the figures up to date
	metrics.Read(s)
	return s[0].Value.Float64(), s[1].Value.Float64() - s[2].Value.Float64()
}
