package gun

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Late is how long after its instant a shot counts as late.
const Late = time.Millisecond

// maxGroups is how many tags are counted apart.
const maxGroups = 100

// times is a distribution of nanoseconds, from 64 up to an hour.
type times struct {
	*hdrhistogram.Histogram
	max int64 // to the nanosecond, where the histogram has the end of a range
}

// newTimes is right to so many digits. With three it takes 200 KB, with two 30.
func newTimes(digits int) *times {
	return &times{Histogram: hdrhistogram.New(64, int64(time.Hour), digits)}
}

func (t *times) add(o *times) {
	t.Merge(o.Histogram)
	t.max = max(t.max, o.max)
}

// at is what so many percent do not exceed.
func (t *times) at(percent float64) int64 { return min(t.ValueAtPercentile(percent), t.max) }

func record(t *times, d time.Duration) {
	ns := int64(min(max(d, 0), time.Hour))
	t.max = max(t.max, ns)
	_ = t.RecordValue(ns) // in range: it cannot fail
}

// tally is what a barrel has counted.
type tally struct {
	sent, late, dropped int64
	wrong               int64         // answers with another status than was expected
	answered            time.Duration // when the last answer came, on the loops' clock
	outcomes            [outcomes]int64
	statuses            [1000]int64 // of answers
	in, out             int64       // bytes

	planned *times // latency from the planned instant
	actual  *times // latency from the sent instant
	delay   *times // from the planned instant to the sent one
	groups  [maxGroups + 1]*groupTally

	opened, open, most int64 // connections
	strays             int64 // ... on which bytes came that nobody had asked for
}

// groupTally is what has become of the shots with one tag.
type groupTally struct {
	sent, dropped, failed int64
	planned, actual       *times
}

func newTally() *tally {
	return &tally{planned: newTimes(3), actual: newTimes(3), delay: newTimes(3)}
}

func (t *tally) group(g uint8) *groupTally {
	if t.groups[g] == nil {
		t.groups[g] = &groupTally{planned: newTimes(2), actual: newTimes(2)}
	}
	return t.groups[g]
}

func (t *tally) countSent(g uint8, delay time.Duration) {
	t.sent++
	t.group(g).sent++
	record(t.delay, delay)
	if delay > Late {
		t.late++
	}
}

func (t *tally) countDropped(g uint8, waited time.Duration) {
	t.dropped++
	group := t.group(g)
	group.dropped++
	record(t.planned, waited)
	record(group.planned, waited)
}

func (t *tally) countDone(g uint8, o Outcome, status, bytes int, planned, actual time.Duration) {
	t.outcomes[o]++
	t.in += int64(bytes)
	group := t.group(g)
	if o == Answered {
		t.statuses[status]++
	} else {
		group.failed++
	}
	if o.waited() {
		record(t.planned, planned)
		record(t.actual, actual)
		record(group.planned, planned)
		record(group.actual, actual)
	}
}

// waited tells whether the time that a shot took says something about the
// server's speed.
func (o Outcome) waited() bool { return o == Answered || o == Timeout || o == ConnectTimeout }

// add adds what another barrel has counted.
func (t *tally) add(o *tally) {
	t.sent += o.sent
	t.late += o.late
	t.wrong += o.wrong
	t.answered = max(t.answered, o.answered)
	t.dropped += o.dropped
	for i, n := range o.outcomes {
		t.outcomes[i] += n
	}
	for i, n := range o.statuses {
		t.statuses[i] += n
	}
	t.in += o.in
	t.out += o.out
	t.planned.add(o.planned)
	t.actual.add(o.actual)
	t.delay.add(o.delay)
	for i, from := range o.groups {
		if from == nil {
			continue
		}
		to := t.group(uint8(i))
		to.sent += from.sent
		to.dropped += from.dropped
		to.failed += from.failed
		to.planned.add(from.planned)
		to.actual.add(from.actual)
	}
	t.opened += o.opened
	t.most += o.most
	t.strays += o.strays
}

// interval is what a barrel has counted in one second of the run.
type interval struct {
	second                        int
	sent, answered, failed, drops int64
	in, out                       int64
	times                         *times // latency from the planned instant
}

func (i *interval) isEmpty() bool {
	return i.sent == 0 && i.answered == 0 && i.failed == 0 && i.drops == 0
}

func newInterval(second int) *interval {
	return &interval{second: second, times: newTimes(2)}
}

func (i *interval) add(o *interval) {
	i.sent += o.sent
	i.answered += o.answered
	i.failed += o.failed
	i.drops += o.drops
	i.in += o.in
	i.out += o.out
	i.times.add(o.times)
}
