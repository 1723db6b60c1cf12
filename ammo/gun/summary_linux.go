package gun

import (
	"context"
	"time"
)

// summary puts together what the barrels have counted. They have ended. cut is
// when the run was cut short, or 0.
func (g *run) summary(seconds []Second, cut, end time.Duration, interrupted bool) *Summary {
	t := newTally()
	for _, b := range g.all {
		t.add(b.tally)
	}
	o := g.options
	s := &Summary{
		Target: o.Target.String(), Load: o.Plan.String(),
		Begin:       time.Unix(0, g.wall+int64(g.origin)).UTC().Format(time.RFC3339Nano),
		Interrupted: interrupted, ClosedLoop: g.flood,
		Workers: len(g.all), Connections: o.Instances, Timeout: o.Timeout.Seconds(),
		Timeline: seconds,
	}
	if !g.flood && cut > 0 {
		g.dropUnfed(t, cut)
	}
	s.count(t, g.feeder.tagOf)
	s.Shots.Planned = s.Shots.Sent + s.Shots.Dropped

	length := max(end-g.origin, 0)
	s.Seconds = length.Seconds()
	// The rate is that of the time for which shots were planned, or until the
	// last answer if that came later: one connection that hangs at the end must
	// not count for all.
	over := t.answered - g.origin
	switch total := g.feeder.total.Load(); {
	case cut > 0:
		over = max(over, min(cut-g.origin, o.Plan.Duration()))
	case total < 0, total == o.Plan.Shots(): // else there was less ammo than the plan would take
		over = max(over, o.Plan.Duration())
	}
	s.Rate = perSecond(s.Shots.Answered, over)
	for i := range s.Timeline {
		second := &s.Timeline[i]
		second.Planned = second.Sent
		if !g.flood {
			from, to := time.Duration(second.Second)*time.Second, time.Duration(second.Second+1)*time.Second
			second.Planned = min(o.Plan.Due(to-1), s.Shots.Planned) - min(o.Plan.Due(from-1), s.Shots.Planned)
		}
	}
	return s
}

// dropUnfed counts the shots as dropped that were due when the run was cut
// short, and had not come as far as a barrel. They are the last of those due.
func (g *run) dropUnfed(t *tally, cut time.Duration) {
	plan := g.options.Plan
	due := plan.Due(cut - g.origin)
	if most := g.shots(); due > most {
		due = most
	}
	if fed := g.feeder.total.Load(); fed >= 0 {
		due = min(due, fed)
	}
	for n := t.sent + t.dropped; n < due; n++ {
		t.dropped++
		record(t.planned, cut-g.origin-plan.At(n))
	}
}

// addWrong adds what answers were not the expected ones.
func (g *run) addWrong(ctx context.Context, s *Summary) {
	g.judge.close(ctx)
	wrong, doubts := g.judge.wrong, g.judge.shown
	for _, b := range g.all {
		wrong += b.tally.wrong
		doubts = append(doubts, b.doubts...)
	}
	if g.feeder.answers != nil {
		s.Shots.Compared = s.Shots.Answered - g.judge.unjudged
	}
	s.Shots.Wrong, s.Differences = wrong, differences(doubts)
}
