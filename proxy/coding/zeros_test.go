package coding

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// A body of 1 MB that becomes 1 GB takes no more memory than another, even if nobody takes
// what comes out.
func TestZeros(t *testing.T) {
	members := 16
	if testing.Short() || instrumented {
		members = 1
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 64 {
		w.Write(zeros)
	}
	w.Close()
	coded := bytes.Repeat(b.Bytes(), members)
	p := NewPool(Options{})
	defer p.Close()
	var o *owner
	took := held(func() any {
		o = own(t, p, Job{From: Gzip, To: Identity})
		for !o.body.Full() && len(coded) > 0 {
			n := min(len(coded), 10_000)
			o.body.Write(coded[:n])
			coded = coded[n:]
		}
		eventually(t, func() bool { return waitingBlocks(o.body) >= mostOut/blockSize })
		time.Sleep(20 * time.Millisecond)
		return o
	})
	if cost := Cost(Gzip, Identity, deflateWindow); took > cost && !instrumented {
		t.Errorf("%d bytes of memory, counted as %d", took, cost)
	}
	got := 0
	for {
		for len(coded) > 0 && !o.body.Full() {
			n := min(len(coded), 10_000)
			o.body.Write(coded[:n])
			coded = coded[n:]
		}
		if len(coded) == 0 {
			o.body.End()
		}
		if n := o.out.Len(); n > mostOut+blockSize {
			t.Fatalf("%d bytes at once", n)
		}
		got += o.out.Len()
		o.out.Reset()
		if o.done {
			break
		}
		o.turn()
	}
	if got != members<<26 || o.err != nil {
		t.Errorf("%d bytes, %v", got, o.err)
	}
}

// waitingBlocks is how many blocks of output wait.
func waitingBlocks(b *Body) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.out)
}

// Events that nobody takes are joined: each of them was flushed by itself.
func TestSmallEvents(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, to := range all {
		o := own(t, p, Job{To: to})
		text := ""
		for range 1500 {
			event := "data: hello\n\n"
			text += event
			o.body.Write([]byte(event))
			for range 20 {
				runtime.Gosched()
			}
		}
		o.drained()
		if n := waitingBlocks(o.body); n > mostOut/blockSize {
			t.Errorf("%v: %d blocks", to, n)
		}
		o.body.End()
		coded, err := o.finish()
		if got, bad := decode(to, coded); got != text || err != nil || bad != nil {
			t.Errorf("%v: %d bytes, %v %v", to, len(got), err, bad)
		}
	}
}

// A body that has been done for costs as little as can be: nothing of its coders is made
// anew.
func TestAllocations(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	p := NewPool(Options{})
	defer p.Close()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it takes what is kept for other bodies
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // so does each of two
	text := strings.Repeat("hello zzz aab ", 1000)
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	var parts [][]byte
	for _, from := range all {
		for _, to := range all {
			coded := []byte(encode(t, from, text))
			var before, after runtime.MemStats
			one := func() {
				b := p.Start(Job{From: from, To: to}, wake)
				b.Write(coded)
				b.End()
				for done := false; !done; {
					<-woken
					parts, done, _ = b.Take(parts[:0])
				}
				b.Stop()
			}
			for range 20 {
				one()
			}
			runtime.ReadMemStats(&before)
			const n = 100
			for range n {
				one()
			}
			runtime.ReadMemStats(&after)
			count, size := (after.Mallocs-before.Mallocs)/n, (after.TotalAlloc-before.TotalAlloc)/n
			t.Logf("%-8v to %-8v %3d allocations, %6d bytes", from, to, count, size)
			if count > 12 || size > 2048 { // the body, its goroutine, its lists of blocks
				t.Errorf("%v to %v: %d allocations, %d bytes", from, to, count, size)
			}
		}
	}
}
