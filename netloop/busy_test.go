//go:build linux

package netloop

import (
	"runtime"
	"testing"
	"time"
)

// share is how much of the time a loop has worked while f ran.
func share(l *Loop, f func()) float64 {
	busy, total := l.Busy()
	f()
	after, end := l.Busy()
	return float64(after-busy) / float64(end-total)
}

// A loop without anything to do is idle, one whose handler takes half of the
// time is half busy, and one that is held is busy all the time, as seen from
// outside while it lasts.
func TestBusy(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		burn := func(d time.Duration) {
			for begin := time.Now(); time.Since(begin) < d; {
			}
		}
		r := start(t, Options{Wait: w}, all(&funcs{data: func(c *Conn, in []byte) int {
			burn(10 * time.Millisecond)
			c.Write(in)
			return len(in)
		}}))
		l := r.loops[0]
		if s := share(l, func() { time.Sleep(200 * time.Millisecond) }); s < 0 || s > 0.2 {
			t.Errorf("idle: %.3f", s)
		}
		c := r.dial()
		if s := share(l, func() {
			for range 15 {
				c.send("x")
				c.expect("x")
				time.Sleep(10 * time.Millisecond)
			}
		}); s < 0.2 || s > 0.8 {
			t.Errorf("half busy: %.3f", s)
		}
		release := r.hold(0)
		if s := share(l, func() { time.Sleep(50 * time.Millisecond) }); s != 1 {
			t.Errorf("held: %.3f", s)
		}
		release()
		r.turns(1)
		if s := share(l, func() { time.Sleep(200 * time.Millisecond) }); s > 0.2 {
			t.Errorf("idle again: %.3f", s)
		}
		c.Close()
		r.stop()
		if s := share(l, func() { time.Sleep(20 * time.Millisecond) }); s != 0 {
			t.Errorf("ended: %.3f", s)
		}
	})
}

// What is read from outside never goes back, and its parts agree.
func TestBusyFromOutside(t *testing.T) {
	g, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if busy, total := g.loops[0].Busy(); busy != 0 || total <= 0 {
		t.Errorf("before Run: %v of %v", busy, total)
	}
	time.Sleep(200 * time.Millisecond)
	ran := make(chan error)
	go func() { ran <- g.Run() }()
	time.Sleep(50 * time.Millisecond) // it waits for the first event
	r := &rig{Group: g, t: t}
	r.turns(2)
	if busy, total := g.loops[0].Busy(); busy > 100*time.Millisecond || total < 200*time.Millisecond {
		t.Errorf("just begun: %v of %v", busy, total)
	}
	if err := r.shutdown(patience); err != nil || <-ran != nil {
		t.Fatal(err)
	}
	// One processor for the loop, which keeps it while it naps, one for who asks all
	// the time, and one for the client.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	r = start(t, Options{}, all(echo()))
	ended := make(chan struct{})
	c := r.dial()
	b := []byte("x")
	go func() {
		defer close(ended)
		for range times(8000) {
			if _, err := c.Write(b); err != nil {
				t.Error(err)
				return
			}
			if _, err := c.Read(b); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	var busy, total time.Duration
	for {
		b, n := r.loops[0].Busy()
		if b < busy || n < total || b > n {
			t.Errorf("%v of %v after %v of %v", b, n, busy, total)
			<-ended
			return
		}
		busy, total = b, n
		select {
		case <-ended:
			return
		default:
		}
	}
}
