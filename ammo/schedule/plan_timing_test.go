package schedule

import (
	"testing"
	"time"
)

// timedPlans are an easy one, one whose roots floating point finds, one where
// it does not, and one of many parts.
func timedPlans() []string {
	return []string{"const(10000,1h)", "line(1,10000,1h)", "line(10000000,0,1000d)", "step(1,100000,1,1s)"}
}

func BenchmarkAt(b *testing.B) {
	for _, text := range timedPlans() {
		b.Run(text, func(b *testing.B) {
			p := parse(b, text)
			n, step := int64(0), p.Shots()/1000003+1
			for b.Loop() {
				if n += step; n >= p.Shots() {
					n = 0
				}
				p.At(n)
			}
		})
	}
}

func BenchmarkDue(b *testing.B) {
	for _, text := range timedPlans() {
		b.Run(text, func(b *testing.B) {
			p := parse(b, text)
			t, step := time.Duration(0), p.Duration()/1000003+1
			for b.Loop() {
				if t += step; t >= p.Duration() {
					t = 0
				}
				p.Due(t)
			}
		})
	}
}
