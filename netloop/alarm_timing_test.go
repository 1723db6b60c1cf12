//go:build linux

package netloop

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkAlarm is how late alarms ring that come so many times a second. An
// instant that is past when the alarm before it has rung is left out: whatever
// holds the thread up counts once.
func BenchmarkAlarm(b *testing.B) {
	for _, w := range []struct {
		name string
		wait Wait
	}{{"block", Block}, {"busy", Busy}} {
		for _, rate := range []int{1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", w.name, rate), func(b *testing.B) {
				g, _ := benchServer(b, Options{Wait: w.wait}, echo())
				l := g.loops[0]
				late := make([]time.Duration, 0, b.N)
				var at time.Duration
				var ring func()
				done := make(chan bool)
				ring = func() {
					late = append(late, l.Clock()-at)
					if len(late) == b.N {
						close(done)
						return
					}
					for now := l.Clock(); at <= now; {
						at += time.Second / time.Duration(rate)
					}
					l.SetAlarm(at, ring)
				}
				b.ReportAllocs()
				l.Post(func() {
					at = l.Clock() + time.Millisecond
					l.SetAlarm(at, ring)
				})
				<-done
				slices.Sort(late)
				for _, q := range []struct {
					name string
					of   float64
				}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}} {
					b.ReportMetric(float64(late[int(float64(len(late)-1)*q.of)])/1e3, "µs-"+q.name)
				}
			})
		}
	}
}

// BenchmarkDial is a connection that is dialled, comes to stand and is closed,
// by the loop at both ends.
func BenchmarkDial(b *testing.B) {
	closed := make(chan bool)
	h := &funcs{
		open:  func(c *Conn) { c.Close() },
		close: func(*Conn, error) { closed <- true },
	}
	g, _ := benchServer(b, Options{Wait: Busy}, echo())
	l := g.loops[0]
	to := g.listeners[0].Addr()
	dial := func() { l.Dial(to, h, time.Second) }
	b.ReportAllocs()
	for range b.N {
		l.Post(dial)
		<-closed
	}
}
