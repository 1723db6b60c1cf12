package coding

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// workers is how many of this package's goroutines there are, but for tests.
func workers() int {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	return strings.Count(string(all), "coding.(*Body).work(")
}

// Whoever stops, whenever, leaves nothing behind.
func TestStops(t *testing.T) {
	p := NewPool(Options{Memory: 1})
	text := strings.Repeat("hello zzz aab ", 20_000)
	for i := range 100 {
		from, to := all[i%5], all[i/5%5]
		coded := encode(t, from, text)
		o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
		second := own(t, p, Job{From: from, To: to}) // waits
		o.body.Write([]byte(coded[:len(coded)*(i%7)/7]))
		if i%3 == 0 {
			time.Sleep(time.Duration(i%11) * 100 * time.Microsecond)
			o.take()
		}
		if i%2 == 0 {
			second.body.Stop()
			o.body.Stop()
		} else {
			o.body.Stop()
			second.body.Stop()
		}
	}
	eventually(t, func() bool { return p.Stats() == Stats{} })
	if n := workers(); n > 0 {
		t.Errorf("%d goroutines are left", n)
	}
	p.Close()
}

// A worker that waits for its owner, for input or for room, ends when that stops.
func TestStopsWaiting(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, to := range all {
		hungry := own(t, p, Job{From: Gzip, To: to, Stream: rules(t)})
		hungry.body.Write([]byte(encode(t, Gzip, "hello"))[:12])
		hungry.drained()
		full := own(t, p, Job{To: to, Stream: rules(t)})
		full.body.Write(manyKinds(mostPiece))
		eventually(t, func() bool { return waitingBlocks(full.body) == mostOut/blockSize })
		if s := p.Stats(); s.Running != 2 || s.Memory != Cost(Gzip, to, p.Window())+Cost(Identity, to, p.Window()) {
			t.Errorf("%+v", s)
		}
		hungry.body.Stop()
		full.body.Stop()
		eventually(t, func() bool { return p.Stats() == Stats{} })
		for _, b := range []*Body{hungry.body, full.body} {
			b.mu.Lock()
			if b.in != nil || b.out != nil || b.taken != nil {
				t.Error("a body that was given up has memory")
			}
			b.mu.Unlock()
			if out, done, err := b.Take(nil); len(out) != 0 || !done || err != ErrStopped {
				t.Errorf("%q %t %v", out, done, err)
			}
			b.Write([]byte("more")) // to no avail
			b.End()
			b.Stop()
		}
	}
}

// A pool that closes tells all owners, and leaves nothing behind.
func TestClose(t *testing.T) {
	p := NewPool(Options{Memory: 2 * Cost(Gzip, Gzip, 64<<10)})
	var owners []*owner
	for range 5 {
		o := own(t, p, Job{From: Gzip, To: Gzip, Window: deflateWindow})
		o.body.Write([]byte(encode(t, Gzip, "hello"))[:12])
		owners = append(owners, o)
	}
	if s := p.Stats(); s.Running != 2 || s.Waiting != 3 {
		t.Errorf("%+v", s)
	}
	p.Close()
	if n := workers(); n > 0 {
		t.Errorf("%d goroutines are left", n)
	}
	owners = append(owners, own(t, p, Job{}))
	for i, o := range owners {
		if _, err := o.finish(); err != ErrStopped {
			t.Errorf("body %d: %v", i, err)
		}
	}
	if s := p.Stats(); s != (Stats{}) {
		t.Errorf("%+v", s)
	}
	p.Close() // again
}

// Closing and stopping may meet.
func TestCloseAndStop(t *testing.T) {
	coded := []byte(encode(t, Gzip, strings.Repeat("hello zzz aab ", 1000)))
	for range 50 {
		p := NewPool(Options{Memory: 3 * Cost(Gzip, Gzip, 64<<10)})
		ended := make(chan bool)
		for i := range 8 {
			go func() {
				defer func() { ended <- true }()
				o := own(t, p, Job{From: Gzip, To: Gzip, Window: deflateWindow, Stream: rules(t)})
				o.body.Write(coded)
				if i%2 == 0 {
					o.take()
				}
				o.body.End()
				o.take()
				o.body.Stop()
			}()
		}
		p.Close()
		for range 8 {
			<-ended
		}
		p.Close()
		if s := p.Stats(); s != (Stats{}) || workers() > 0 {
			t.Fatalf("%+v, %d goroutines", s, workers())
		}
	}
}
