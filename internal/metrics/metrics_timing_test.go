package metrics

import (
	"io"
	"sync/atomic"
	"testing"
	"time"
)

func BenchmarkCounter(b *testing.B) {
	var c Counter
	b.ReportAllocs()
	for b.Loop() {
		c.Add(1)
	}
}

// BenchmarkCounterAtomic is what is saved.
func BenchmarkCounterAtomic(b *testing.B) {
	var c atomic.Uint64
	for b.Loop() {
		c.Store(c.Load() + 1)
	}
}

func BenchmarkObserve(b *testing.B) {
	var h Histogram
	b.ReportAllocs()
	d := time.Duration(0)
	for b.Loop() {
		h.Observe(d)
		d = (d + 7919) & (1<<24 - 1)
	}
}

func BenchmarkHistogramText(b *testing.B) {
	var h Histogram
	w := NewWriter(io.Discard)
	w.Family("a", KindHistogram, "b")
	b.ReportAllocs()
	for b.Loop() {
		w.Histogram(nil, &h, &h)
	}
}
