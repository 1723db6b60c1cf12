package coding

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/proxy/subst"
)

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

// Who waits for input lets others work, and without a turn nobody works.
func TestTurns(t *testing.T) {
	p := NewPool(Options{Workers: 2})
	defer p.Close()
	working := func() int { return len(p.turns) }
	text := strings.Repeat("hello zzz aab ", 1000)
	coded := encode(t, Gzip, text)
	var owners []*owner
	for range 6 {
		o := own(t, p, Job{From: Gzip, To: Gzip, Stream: rules(t)})
		o.body.Write([]byte(coded[:12]))
		owners = append(owners, o)
	}
	for _, o := range owners {
		o.drained()
	}
	eventually(t, func() bool { return working() == 0 })
	p.turns <- struct{}{}
	p.turns <- struct{}{}
	late := own(t, p, Job{Stream: rules(t)})
	late.body.Write([]byte(text))
	late.body.End()
	time.Sleep(10 * time.Millisecond)
	if n := waitingBlocks(late.body); n > 0 {
		t.Errorf("%d blocks of output, while two others work", n)
	}
	<-p.turns
	for _, o := range append(owners, late) {
		if o != late {
			o.body.Write([]byte(coded[12:]))
			o.body.End()
		}
		out, err := o.finish()
		if o != late {
			out, _ = decode(Gzip, out)
		}
		if out != replaced(text) || err != nil {
			t.Errorf("%d bytes, %v", len(out), err)
		}
	}
	eventually(t, func() bool { return working() == 1 }) // the test
	<-p.turns
}
