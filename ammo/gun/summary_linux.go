package gun

import (
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
		Loops: len(g.all), Connections: o.Instances, Timeout: o.Timeout.Seconds(),
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
	if g.feeder.total.Load() < 0 || !g.flood { // else the ammo has ended a flood
		planned := min(length, o.Plan.Duration())
		if cut > 0 {
			planned = min(planned, cut-g.origin)
		}
		over = max(over, planned)
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
func (g *run) addWrong(s *Summary) {
	wrong, doubts := g.judge.close()
	for _, b := range g.all {
		wrong += b.tally.wrong
		doubts = append(doubts, b.doubts...)
	}
	s.Shots.Wrong, s.Differences = wrong, differences(doubts)
}
