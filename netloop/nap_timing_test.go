//go:build linux

package netloop

import (
	"runtime"
	"testing"
	"time"
)

// BenchmarkCollectorBesideNaps is how long a garbage collection takes, which has
// to stop all threads twice, while a loop sleeps in a way that the scheduler does
// not know of.
func BenchmarkCollectorBesideNaps(b *testing.B) {
	for _, how := range []string{"no loop", "napping", "asleep"} {
		b.Run(how, func(b *testing.B) {
			if how != "no loop" {
				g, err := New(Options{})
				if err != nil {
					b.Fatal(err)
				}
				ended := make(chan error)
				go func() { ended <- g.Run() }()
				if how == "napping" {
					stop := make(chan bool)
					go func() { // wakes it before a nap is over
						for tick := time.NewTicker(time.Millisecond); ; {
							select {
							case <-tick.C:
								g.Loops()[0].Post(func() {})
							case <-stop:
								return
							}
						}
					}()
					defer close(stop)
				}
				defer func() { g.Close(); g.Shutdown(b.Context()); <-ended }()
				time.Sleep(20 * time.Millisecond)
			}
			for b.Loop() {
				runtime.GC()
			}
		})
	}
}
