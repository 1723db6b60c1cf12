package slab

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

var benchSizes = []int{1 << 10, 16 << 10, 256 << 10, 4 << 20}

func name(size int) string { return fmt.Sprintf("%dK", size>>10) }

// use touches a block as a small request would.
func use(b []byte) { b[0], b[len(b)-1] = 1, 1 }

func BenchmarkGetPut(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(name(size), func(b *testing.B) {
			c := newArena(b, 64<<20).NewCache()
			b.ReportAllocs()
			for b.Loop() {
				block, err := c.Get(size)
				if err != nil {
					b.Fatal(err)
				}
				use(block)
				c.Put(block)
			}
		})
	}
}

func BenchmarkMake(b *testing.B) {
	var sink []byte
	for _, size := range benchSizes {
		b.Run(name(size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = make([]byte, size)
				use(sink)
			}
		})
	}
	runtime.KeepAlive(sink)
}

func BenchmarkSyncPool(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(name(size), func(b *testing.B) {
			pool := sync.Pool{New: func() any { block := make([]byte, size); return &block }}
			b.ReportAllocs()
			for b.Loop() {
				block := pool.Get().(*[]byte)
				use(*block)
				pool.Put(block)
			}
		})
	}
}

// Blocks are taken by one thread and freed by another, 64 at a time.
func BenchmarkCrossing(b *testing.B) {
	a := newArena(b, 64<<20)
	full, empty := make(chan [][]byte, 4), make(chan [][]byte, 4)
	for range 4 {
		empty <- make([][]byte, 64)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		c := a.NewCache()
		for all := range full {
			for _, block := range all {
				c.Put(block)
			}
			empty <- all
		}
	})
	c := a.NewCache()
	b.ReportAllocs()
	for n := 0; n < b.N; n += 64 {
		all := <-empty
		for i := range all {
			block, err := c.Get(16 << 10)
			if err != nil {
				b.Fatal(err)
			}
			all[i] = block
		}
		full <- all
	}
	close(full)
	wg.Wait()
}

// An arena that has seen much: half full with blocks of all sizes in random
// order of time, taken and freed in random order.
func BenchmarkAged(b *testing.B) {
	c := newArena(b, 256<<20).NewCache()
	r := rand.New(rand.NewPCG(1, 2))
	live := make([][]byte, 8192)
	step := func() {
		i := r.IntN(len(live))
		if live[i] != nil {
			c.Put(live[i])
		}
		block, err := c.Get(MinBlock << r.IntN(1+r.IntN(7)))
		if err != nil {
			b.Fatal(err)
		}
		use(block)
		live[i] = block
	}
	for range 1 << 20 {
		step()
	}
	b.Run("mixed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			step()
		}
	})
	b.Run("16K", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			block, _ := c.Get(16 << 10)
			use(block)
			c.Put(block)
		}
	})
	b.Run("16Kx64", func(b *testing.B) { // beyond the cache's bound: the arena splits and merges
		var all [64][]byte
		for b.Loop() {
			for i := range all {
				all[i], _ = c.Get(16 << 10)
			}
			for _, block := range all {
				c.Put(block)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/block")
	})
}

// A 4 MB block that goes back to the system and is faulted in again each time.
func BenchmarkEmptied(b *testing.B) {
	a := newArena(b, 64<<20)
	c := a.NewCache()
	var all [keepTouched + 1][]byte
	for b.Loop() {
		for i := range all {
			all[i], _ = c.Get(MaxBlock)
			for j := 0; j < MaxBlock; j += 4096 {
				all[i][j] = 1
			}
		}
		for _, block := range all {
			c.Put(block)
		}
	}
}

func BenchmarkCollect(b *testing.B) {
	c := newArena(b, 64<<20).NewCache()
	for b.Loop() {
		c.Collect()
	}
}

func BenchmarkObjects(b *testing.B) {
	type conn struct {
		next *conn
		_    [500]byte
	}
	b.Run("slab", func(b *testing.B) {
		p := NewObjects[conn](0)
		b.ReportAllocs()
		for b.Loop() {
			x := p.Get()
			x.next = x
			p.Put(x)
		}
	})
	b.Run("new", func(b *testing.B) {
		var sink *conn
		b.ReportAllocs()
		for b.Loop() {
			sink = new(conn)
			sink.next = sink
		}
	})
	b.Run("pool", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(conn) }}
		b.ReportAllocs()
		for b.Loop() {
			x := p.Get().(*conn)
			x.next = x
			p.Put(x)
		}
	})
}
