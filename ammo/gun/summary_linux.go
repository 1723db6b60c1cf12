package gun

import (
	"time"
)

// summary puts together what the barrels have counted. They have ended. cut is
// when the run was cut short, or 0.
func (g *Gun) summary(seconds []Second, cut, end time.Duration, interrupted bool) *Summary {
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
	length := max(end-g.origin, 0)
	s.Seconds = length.Seconds()
	s.count(t, g.feeder.tagOf)
	s.Rate = perSecond(s.Shots.Answered, length)
	s.Shots.Planned = s.Shots.Sent + s.Shots.Dropped
	if !g.flood && cut > 0 {
		// Shots that were due at the end and had no connection are dropped, too.
		due := o.Plan.Due(cut - g.origin)
		if most := g.shots(); due > most {
			due = most
		}
		if fed := g.feeder.total.Load(); fed >= 0 {
			due = min(due, fed)
		}
		s.Shots.Planned = max(s.Shots.Planned, due)
		s.Shots.Dropped = s.Shots.Planned - s.Shots.Sent
	}
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
