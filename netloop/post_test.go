//go:build linux

package netloop

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Of many functions from many goroutines none is lost, and those of one come
// in order.
func TestPost(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		const posters = 16
		each := times(100_000 / posters)
		r := start(t, Options{Wait: w}, all(echo()))
		l := r.loops[0]
		last := make([]int, posters)
		left := posters * each
		done := make(chan bool)
		for p := range posters {
			go func() {
				for i := range each {
					l.Post(func() {
						if last[p] != i {
							t.Errorf("poster %d: %d comes after %d", p, i, last[p]-1)
						}
						last[p]++
						if left--; left == 0 {
							close(done)
						}
					})
					if i%64 == p {
						runtime.Gosched() // let the loop fall asleep
					}
				}
			}()
		}
		wait(t, "all that was posted", done)
	})
}

// No wake-up is lost where a loop is about to sleep.
func TestPostToSleeping(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		r := start(t, Options{Wait: w, Loops: 2}, all(echo()))
		done := make(chan bool)
		n := times(20_000)
		var bounce func()
		bounce = func() { // from one loop to the other and back
			if n--; n == 0 {
				close(done)
				return
			}
			r.loops[n%2].Post(bounce)
		}
		r.loops[0].Post(bounce)
		wait(t, "the end of bouncing", done)
	})
}

// A function that posts others does not keep the loop from its connections.
func TestPostFromLoop(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	var again func()
	var stop atomic.Bool
	again = func() {
		if !stop.Load() {
			r.loops[0].Post(again)
		}
	}
	r.loops[0].Post(again)
	c := r.dial()
	c.send("x")
	c.expect("x")
	stop.Store(true)
}

// Post before, during and after the end neither hangs nor touches descriptors
// that others have by then.
func TestPostAndTheEnd(t *testing.T) {
	for range times(20) {
		r := start(t, Options{Loops: 2}, all(echo()))
		var posters sync.WaitGroup
		var stop atomic.Bool
		for _, l := range r.loops {
			posters.Add(1)
			go func() {
				defer posters.Done()
				for !stop.Load() {
					for range 10 {
						l.Post(func() {})
					}
					time.Sleep(10 * time.Microsecond)
				}
			}()
		}
		r.stop()
		stop.Store(true)
		posters.Wait()
		called := false
		for _, l := range r.loops {
			for range 100 {
				l.Post(func() { called = true })
			}
			if called || l.posted != nil {
				t.Error("a loop that has ended keeps what is posted")
			}
		}
	}
}
