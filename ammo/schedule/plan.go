package schedule

import (
	"fmt"
	"sort"
	"time"
)

// Limits of a plan. They keep every shot number below 2^50 and every instant
// below 2^57 ns, so that the arithmetic never overflows.
const (
	MaxRate        = 10_000_000            // shots a second
	MaxDuration    = 1000 * 24 * time.Hour // of a whole plan
	MaxParts       = 100_000               // with each step of a step(...) as one
	MaxConnections = 1_000_000             // of a flood
)

// rate is in nano-shots a second, so that rates of nine decimals are exact.
type rate int64

const perSecond rate = 1_000_000_000 // one shot a second

// Plan says when shots are to be fired: parts one after another, or one
// flood. Parse makes it. It never changes, so goroutines may share it. The
// zero Plan is over at once.
type Plan struct {
	calls    []call // as written, for String
	parts    []part // none in a flood
	shots    int64
	duration time.Duration
	conns    int // of a flood
}

// part is a span of time in which the rate goes straight from one value to
// another.
type part struct {
	from, to rate
	length   time.Duration
	shots    int64
	begin    time.Duration // sum of the lengths before
	first    int64         // sum of the shots before
}

// Shots is how many shots the plan has: 0 for a flood, which fires as many as
// its connections can.
func (p Plan) Shots() int64 { return p.shots }

// Duration is how long the plan lasts. Pauses count, also at the end.
func (p Plan) Duration() time.Duration { return p.duration }

// Flood tells whether the plan is a flood, and of how many connections.
func (p Plan) Flood() (conns int, ok bool) { return p.conns, p.conns > 0 }

// At is the instant of shot n, counted from the beginning of the plan, where
// 0 <= n < Shots(). It is exact to the nearest nanosecond and grows with n. Any
// other n is a mistake of the caller's and panics.
func (p Plan) At(n int64) time.Duration {
	if n < 0 || n >= p.shots {
		panic(fmt.Sprintf("schedule: shot %d of a plan of %d", n, p.shots))
	}
	// The last part that begins at or before n has it: those without shots
	// share their first with the one that follows.
	i := sort.Search(len(p.parts), func(i int) bool { return p.parts[i].first > n }) - 1
	part := &p.parts[i]
	if part.from == part.to {
		return part.begin + constAt(part.from, n-part.first)
	}
	return part.begin + part.lineAt(n-part.first)
}

// Due is how many shots have At <= t: the number of the first one after t.
func (p Plan) Due(t time.Duration) int64 {
	switch {
	case t < 0 || p.conns > 0:
		return 0
	case t >= p.duration:
		return p.shots
	}
	part := p.partAt(t)
	t -= part.begin
	if part.from == part.to {
		return part.first + min(constDue(part.from, t), part.shots)
	}
	return part.first + min(part.lineDue(t), part.shots)
}

// Rate is how many shots a second are planned at t. A part has its beginning
// but not its end; before the plan, after it, and in a flood the rate is 0.
func (p Plan) Rate(t time.Duration) float64 {
	if t < 0 || t >= p.duration || p.conns > 0 {
		return 0
	}
	part := p.partAt(t)
	slope := float64(part.to-part.from) / float64(part.length)
	return (float64(part.from) + slope*float64(t-part.begin)) / float64(perSecond)
}

// partAt is the part in which t lies, where 0 <= t < Duration().
func (p *Plan) partAt(t time.Duration) *part {
	return &p.parts[sort.Search(len(p.parts), func(i int) bool { return p.parts[i].begin > t })-1]
}
