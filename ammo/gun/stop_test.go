//go:build linux

package gun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/ammo"
)

// A run that is told to end before it has begun fires nothing.
func TestStopBefore(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	for range 20 { // ammo or the end: whatever is seen first
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		summary, err := shootContext(t, ctx, s.addr, "const(1000,10s)", magazineOf(keep), nil)
		switch {
		case summary == nil && !errors.Is(err, context.Canceled):
			t.Errorf("no summary, and the error is %v", err)
		case summary != nil && (err != nil || !summary.Interrupted || summary.Shots.Planned != 0):
			t.Errorf("%+v, %v", summary.Shots, err)
		}
	}
	if n := s.requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// ... also while the ammo has not come, or comes slowly.
func TestStopWithoutAmmo(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	m := magazineOf(keep)
	m.gate = make(chan struct{}, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if summary, err := shootContext(t, ctx, s.addr, "const(1000,10s)", m, nil); summary != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", summary, err)
	}
	close(m.gate) // the feeder ends with the record that it waits for
}

// A run that is told to end at any time does, with a summary in which all is
// right: shots that were due and not sent are dropped.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 5, 15, 20, 25, 40, 100, 300} {
		after *= time.Millisecond
		s := serve(t, answering(fine))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(after, cancel)
		summary, err := shootContext(t, ctx, s.addr, "const(2000,10s)", magazineOf(keep, closes), func(o *Options) { o.Loops = 2 })
		if summary == nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("after %v: %v", after, err)
			}
			continue
		}
		if err != nil || !summary.Interrupted || summary.Shots.Planned > int64(after/time.Millisecond+500)*2 || summary.Seconds > after.Seconds()+5 {
			t.Errorf("after %v: %+v in %v s, %v", after, summary.Shots, summary.Seconds, err)
		}
		if n := s.requests.Load(); n != summary.Shots.Sent || summary.Shots.Answered != n {
			t.Errorf("after %v: the server has read %d requests, of %+v", after, n, summary.Shots)
		}
	}
}

// What is in flight is waited for, as long as it may take.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		want  string
	}{
		"for slow answers": {300 * time.Millisecond, ""},
		"not for ever":     {1500 * time.Millisecond, "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := serve(t, answering(func(r *request) string {
				if r.first == 4 {
					time.AfterFunc(60*time.Millisecond, cancel)
				}
				<-ctx.Done()
				time.Sleep(c.takes)
				return ok
			}))
			begin := time.Now()
			summary, err := shootContext(t, ctx, s.addr, "const(100,10s)", magazineOf(keep), func(o *Options) {
				o.Timeout = time.Second
				o.Instances = 5
			})
			took := time.Since(begin)
			if err != nil || summary == nil || !summary.Interrupted {
				t.Fatalf("%+v, %v", summary, err)
			}
			// There was room for 5.
			n := summary.Shots
			if n.Sent != 5 || n.Planned < 6 || n.Planned > int64(took.Seconds()*100) || n.Dropped != n.Planned-5 {
				t.Errorf("%+v", n)
			}
			if c.want == "" && n.Answered != 5 || c.want != "" && summary.Errors[c.want] != 5 {
				t.Errorf("%+v, %v", n, summary.Errors)
			}
			if took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A flood that is told to end waits for what is in flight, too.
func TestStopFlood(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := serve(t, answering(func(r *request) string {
		if r.first == 30 {
			cancel()
		}
		time.Sleep(20 * time.Millisecond)
		return ok
	}))
	summary, err := shootContext(t, ctx, s.addr, "flood(5,10s)", magazineOf(keep), func(o *Options) { o.Pipeline = 3 })
	if err != nil {
		t.Fatal(err)
	}
	if !summary.Interrupted || summary.Shots.Answered != summary.Shots.Sent || summary.Shots.Sent != s.requests.Load() {
		t.Errorf("%+v, %v", summary, err)
	}
	if summary.Shots.Sent < 31 || summary.Seconds > 8 {
		t.Errorf("%+v in %v s", summary.Shots, summary.Seconds)
	}
}

// What comes due while the last answers are waited for is no more the run's,
// also if it is told to end a second time.
func TestStopTwice(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &ending{magazine: numbered(4 * beltsAhead * beltRounds), at: (beltsAhead + 1) * beltRounds, gate: make(chan struct{})}
	var begin, failed atomic.Int64
	s := serve(t, answering(func(r *request) string {
		switch r.first {
		case 0:
			begin.Store(time.Now().UnixMilli())
		case 100:
			failed.Store(time.Now().UnixMilli())
			close(m.gate) // the ammo fails
			time.AfterFunc(1200*time.Millisecond, cancel)
			<-ctx.Done()
			time.Sleep(50 * time.Millisecond)
		}
		return ok
	}))
	summary, err := shootContext(t, ctx, s.addr, "const(1000,60s)", m, func(o *Options) { o.Timeout = 10 * time.Second })
	if !errors.Is(err, errBroken) || summary == nil || !summary.Interrupted {
		t.Fatalf("%+v, %v", summary, err)
	}
	if n, due := summary.Shots, failed.Load()-begin.Load(); n.Planned > due+900 || n.Answered != n.Sent {
		t.Errorf("%+v, and %d were due when the ammo failed", n, due)
	}
}

// What the ammo had no records for is not planned, however long the plan is.
func TestStopBehindTheAmmo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := serve(t, answering(func(r *request) string {
		if r.first == 0 {
			time.AfterFunc(200*time.Millisecond, cancel)
		}
		<-ctx.Done()
		return ok
	}))
	summary, err := shootContext(t, ctx, s.addr, "const(1000,60s)", numbered(20), func(o *Options) { o.Passes, o.Timeout = 1, 10*time.Second })
	if err != nil || summary.Shots.Planned > 20 || summary.Shots.Answered != summary.Shots.Sent {
		t.Errorf("%+v, %v", summary, err)
	}
}

// ending is a source that fails at a record, once its gate is closed.
type ending struct {
	*magazine
	at   int
	gate chan struct{}
}

func (e *ending) Next() (ammo.Record, error) {
	if e.magazine.at < e.at {
		return e.magazine.Next()
	}
	<-e.gate
	return ammo.Record{}, errBroken
}

// writer fails after so many bytes.
type writer struct{ left int }

var errFull = errors.New("the disk is full")

func (w *writer) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// A run whose phout.txt cannot be written ends, at the latest at its end, with
// the error and a summary.
func TestPhoutFails(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	for _, c := range []struct {
		load string
		left int
	}{{"const(20000,10s)", 0}, {"const(20000,10s)", 500_000}, {"flood(5,10s)", 100_000}, {"const(1000,100ms)", 0}, {"const(1000,100ms)", 50}} {
		begin := time.Now()
		summary, err := shootContext(t, t.Context(), s.addr, c.load, magazineOf(keep), func(o *Options) { o.Phout = &writer{c.left} })
		if !errors.Is(err, errFull) || summary == nil || summary.Shots.Sent == 0 {
			t.Errorf("%s with room for %d bytes: %+v, %v", c.load, c.left, summary, err)
		}
		if took := time.Since(begin); took > 8*time.Second {
			t.Errorf("%s with room for %d bytes took %v", c.load, c.left, took)
		}
	}
}

// Writing that takes its time makes shots late at the worst, and none is lost.
func TestPhoutSlow(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	var written atomic.Int64
	slow := writerFunc(func(b []byte) (int, error) {
		time.Sleep(5 * time.Millisecond)
		for _, c := range b {
			if c == '\n' {
				written.Add(1)
			}
		}
		return len(b), nil
	})
	summary := shoot(t, s, "const(10000,500ms)", magazineOf(keep), func(o *Options) { o.Phout, o.Timeout = slow, patience })
	if written.Load() != summary.Shots.Sent || summary.Shots.Sent != 5000 {
		t.Errorf("%d shots written, of %+v", written.Load(), summary.Shots)
	}
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// Ammo that breaks at its beginning leaves no summary.
func TestAmmoBreaksAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	m := numbered(3)
	m.broken = 2
	if summary, err := shootContext(t, t.Context(), s.addr, "const(100,1s)", m, nil); summary != nil || err != errBroken {
		t.Errorf("%+v, %v", summary, err)
	}
	if summary, err := shootContext(t, t.Context(), s.addr, "const(100,1s)", magazineOf(), nil); summary != nil || err != ErrNoAmmo {
		t.Errorf("%+v, %v", summary, err)
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

// Ammo that breaks in the midst ends the run with the error, and with a
// summary of what has been fired.
func TestAmmoBreaksLater(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	for _, load := range []string{"const(5000,10s)", "flood(3,10s)"} {
		for _, loops := range []int{1, 2} {
			m := numbered(3 * beltsAhead * beltRounds)
			m.broken = len(m.records) - 10
			summary, err := shootContext(t, t.Context(), s.addr, load, m, func(o *Options) { o.Loops = loops })
			if summary == nil || err != errBroken || summary.Shots.Sent == 0 || summary.Shots.Planned >= int64(m.broken) || summary.Interrupted {
				t.Errorf("%s: %+v, %v", load, summary, err)
			}
		}
	}
}

// A source that cannot be read again ends a run that needs it, when all that
// it has given has been fired.
func TestRewindFails(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	m := numbered(100)
	m.rewind = io.ErrClosedPipe
	// A small one stays in memory.
	summary := shoot(t, s, "const(1000,300ms)", m, nil)
	if summary.Shots.Answered != 300 || m.passes != 0 {
		t.Errorf("%+v, %d passes", summary.Shots, m.passes)
	}
	const records = keepBytes>>20 + 2 // of a megabyte: too many to stay
	m = new(magazine)
	request := fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", 1<<20, strings.Repeat("x", 1<<20))
	for i := range records {
		m.records = append(m.records, ammo.Record{Bytes: []byte(request), Number: i + 1})
	}
	m.rewind = io.ErrClosedPipe
	summary, err := shootContext(t, context.Background(), s.addr, "const(100,3s)", m, func(o *Options) { o.Timeout = patience })
	if !errors.Is(err, ErrRewind) || summary.Shots.Sent+summary.Shots.Dropped != records {
		t.Errorf("%v, %+v", err, summary.Shots)
	}
}

// A source that stops giving does not keep a run from ending.
func TestAmmoStops(t *testing.T) {
	t.Parallel()
	s := serve(t, answering(fine))
	m := numbered(beltsAhead*beltRounds + 10*beltRounds)
	m.gate = make(chan struct{}, len(m.records))
	for range len(m.records) - 5 {
		m.gate <- struct{}{}
	}
	defer close(m.gate)
	summary, err := shootContext(t, context.Background(), s.addr, "const(10000,200ms)", m, func(o *Options) { o.Timeout = 200 * time.Millisecond })
	if !errors.Is(err, ErrLateAmmo) || summary.Shots.Sent == 0 || summary.Shots.Planned != 2000 {
		t.Errorf("%v, %+v", err, summary.Shots)
	}
}

// A barrel whose connections all hang does not keep ammo from the others.
func TestHungBarrel(t *testing.T) {
	t.Parallel()
	s := silentOnce(t)
	summary := shoot(t, s, "const(200,2s)", numbered(10), func(o *Options) { o.Instances, o.Loops = 2, 2 })
	// The one that hangs has a belt, and takes one more when its time is over.
	if n := summary.Shots; n.TimedOut == 0 || n.Answered < 400-3*beltRounds {
		t.Errorf("%+v", n)
	}
}
