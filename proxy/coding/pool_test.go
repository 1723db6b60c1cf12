package coding

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/proxy/subst"
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

// A reload that gives more memory lets those go on that wait; a smaller window counts for
// later bodies.
func TestSetLimits(t *testing.T) {
	p := NewPool(Options{Memory: 1})
	defer p.Close()
	var owners []*owner
	for range 3 {
		owners = append(owners, own(t, p, Job{From: Brotli, To: Identity}))
	}
	if s := p.Stats(); s.Running != 1 || s.Waiting != 2 {
		t.Errorf("%+v", s)
	}
	p.SetLimits(Options{Memory: 2 * Cost(Brotli, Identity, 8<<20), Window: 1 << 20})
	if s := p.Stats(); s.Running != 2 || s.Waiting != 1 {
		t.Errorf("%+v", s)
	}
	p.SetLimits(Options{Window: 1 << 20})
	owners = append(owners, own(t, p, Job{From: Brotli, To: Identity}))
	if s := p.Stats(); s.Running != 4 || s.Memory != 3*Cost(Brotli, Identity, 8<<20)+Cost(Brotli, Identity, 1<<20) {
		t.Errorf("%+v", s)
	}
	coded := encode(t, Brotli, "hello") // with a window of 4 MB
	for i, o := range owners {
		o.body.Write([]byte(coded))
		o.body.End()
		if got, err := o.finish(); i < 3 && (got != "hello" || err != nil) || i == 3 && err != ErrWindow {
			t.Errorf("body %d: %q %v", i, got, err)
		}
	}
}

// Bodies have their turns in the order in which they came, and one of them always has.
func TestQueue(t *testing.T) {
	p := NewPool(Options{Memory: 1})
	defer p.Close()
	var begun atomic.Int32
	var owners []*owner
	for i := range 5 {
		owners = append(owners, own(t, p, Job{Stream: func() *subst.Stream {
			if n := begun.Add(1); n != int32(i+1) {
				t.Errorf("body %d begins as number %d", i+1, n)
			}
			return nil
		}}))
	}
	for i, o := range owners {
		if s := p.Stats(); s.Running != 1 || s.Waiting != 4-i {
			t.Errorf("%+v with %d to go", s, 5-i)
		}
		o.body.Write([]byte("x"))
		o.body.End()
		if out, err := o.finish(); out != "x" || err != nil {
			t.Errorf("%q %v", out, err)
		}
		eventually(t, func() bool { s := p.Stats(); return s.Running+s.Waiting == 4-i })
	}
}

// A decoder that is used again has no larger window than is allowed now.
func TestWindowOfKept(t *testing.T) {
	p := NewPool(Options{Window: 2 << 20})
	defer p.Close()
	coded := zstdOf(t, 2<<20, "hello")
	for range 20 {
		for _, window := range []int64{2 << 20, 3 << 19} {
			p.SetLimits(Options{Window: window})
			o := own(t, p, Job{From: Zstd})
			o.body.Write([]byte(coded))
			o.body.End()
			if got, err := o.finish(); window == 2<<20 && (got != "hello" || err != nil) || window < 2<<20 && err != ErrWindow {
				t.Fatalf("with %d: %q %v", window, got, err)
			}
		}
	}
}

// An owner whose body is full is told when it is not, even if nothing comes out.
func TestFull(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	begin := make(chan bool)
	o := own(t, p, Job{From: Gzip, Stream: func() *subst.Stream { <-begin; return nil }})
	o.body.Write([]byte(encode(t, Gzip, "")))
	wrote := 0
	for !o.body.Full() { // the worker has not begun
		o.body.Write([]byte("what comes behind"))
		if wrote += len("what comes behind"); wrote > 2*mostIn {
			t.Fatalf("not full with %d bytes", wrote)
		}
	}
	if wrote < mostIn-100 {
		t.Errorf("full with %d bytes", wrote)
	}
	close(begin)
	if o.turn(); o.done || o.out.Len() > 0 || o.body.Full() {
		t.Errorf("done: %t, %d bytes, full: %t", o.done, o.out.Len(), o.body.Full())
	}
	o.body.End()
	if got, err := o.finish(); got != "" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

// Bodies of requests have a part of the memory, and answers do not wait for them.
func TestRequests(t *testing.T) {
	cost := Cost(Gzip, Gzip, 64<<10)
	p := NewPool(Options{Memory: requestShare * 2 * cost})
	defer p.Close()
	job := func(request bool) Job {
		return Job{From: Gzip, To: Gzip, Window: deflateWindow, Request: request}
	}
	var requests, answers []*owner
	for range 3 {
		requests = append(requests, own(t, p, job(true)))
	}
	if s := p.Stats(); s.Running != 2 || s.Waiting != 1 || requests[1].body.Waits() || !requests[2].body.Waits() || p.Crowded() {
		t.Errorf("%+v, crowded: %t", s, p.Crowded())
	}
	for range requestShare*2 - 2 {
		answers = append(answers, own(t, p, job(false)))
	}
	if s := p.Stats(); s.Running != requestShare*2 || s.Waiting != 1 || !p.Crowded() {
		t.Errorf("%+v, crowded: %t", s, p.Crowded())
	}
	answers = append(answers, own(t, p, job(false)))
	if !answers[len(answers)-1].body.Waits() {
		t.Error("more than there is memory for")
	}
	last := requests[2]
	last.body.Write([]byte("x"))
	if !last.body.Full() {
		t.Error("a body that waits wants more input")
	}
	answers[len(answers)-1].body.Stop() // it would come first
	requests[0].body.Stop()
	last.body.End() // its input is no good, which it finds out now
	if _, err := last.finish(); err == nil || last.body.Waits() {
		t.Errorf("%v, waits: %t", err, last.body.Waits())
	}
	for _, o := range append(requests, answers...) {
		o.body.Stop()
	}
	eventually(t, func() bool { return p.Stats() == Stats{} })
}

// No more work at a time than may, and who waits for input is not one of them.
func TestWorkers(t *testing.T) {
	p := NewPool(Options{Workers: 2})
	defer p.Close()
	working := func() int { return len(p.turns) }
	var owners []*owner
	for range 6 {
		o := own(t, p, Job{From: Gzip, To: Gzip})
		o.body.Write([]byte(encode(t, Gzip, "hello"))[:12])
		owners = append(owners, o)
	}
	for _, o := range owners {
		o.drained()
	}
	eventually(t, func() bool { return working() == 0 })
	text := strings.Repeat("hello zzz aab ", 10_000)
	for _, o := range owners {
		o.body.Write([]byte(encode(t, Gzip, "hello"))[12:])
		for range 20 {
			o.body.Write([]byte(encode(t, Gzip, text)))
		}
		o.body.End()
	}
	for _, o := range owners {
		if _, err := o.finish(); err != nil {
			t.Error(err)
		}
		if n := working(); n > 2 {
			t.Errorf("%d work", n)
		}
	}
	eventually(t, func() bool { return working() == 0 })
}
