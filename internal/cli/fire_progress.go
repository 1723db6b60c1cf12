package cli

import (
	"fmt"
	"io"
	"net/netip"
	"sync/atomic"

	"redoubt/ammo/gun"
	"redoubt/ammo/schedule"
)

// sayWhat says what is about to happen: a run may take hours.
func sayWhat(w io.Writer, plan schedule.Plan, target netip.AddrPort) {
	if connections, ok := plan.Flood(); ok {
		fmt.Fprintf(w, "firing over %s connections at %s for %v\n", thousands(int64(connections)), target, plan.Duration())
		return
	}
	fmt.Fprintf(w, "firing %s shots at %s in %v\n", thousands(plan.Shots()), target, plan.Duration())
}

// seconds shows the second that has just ended. It has a goroutine of its own,
// so that a terminal that somebody has stopped does not stop the gun.
type seconds struct {
	bar    *progressLine
	plan   schedule.Plan
	newest atomic.Pointer[gun.Second]
	news   chan struct{}
	ended  chan struct{}
}

func showSeconds(w io.Writer, plan schedule.Plan) *seconds {
	s := &seconds{bar: newProgressLine(w, "firing"), plan: plan, news: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for range s.news {
			s.update(*s.newest.Load())
		}
		s.bar.clear()
	}()
	return s
}

// show never waits.
func (s *seconds) show(second gun.Second) {
	s.newest.Store(&second)
	select {
	case s.news <- struct{}{}:
	default:
	}
}

func (s *seconds) update(second gun.Second) {
	p99 := "-"
	if second.Latency.Count > 0 {
		p99 = span(second.Latency.P99)
	}
	s.bar.update(float64(second.Second+1)/max(s.plan.Duration().Seconds(), 1), fmt.Sprintf("%s/s, %s answered, %s errors, p99 %s",
		thousands(second.Sent), thousands(second.Answered), thousands(second.Errors+second.Dropped), p99))
}

func (s *seconds) end() {
	close(s.news)
	<-s.ended
}
