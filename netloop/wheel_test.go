//go:build linux

package netloop

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const tick = 1 << tickBits

// plain is the wheel's model: each timer with the tick at which it has to go
// off, looked through one by one.
type plain struct {
	timers []*plainTimer
	done   int64
}

type plainTimer struct {
	Timer
	due   int64 // tick; 0: not armed
	when  int64
	fired int
}

func (p *plain) arm(t *plainTimer, when int64) {
	t.when = when
	t.due = max((when+tick-1)/tick, p.done+1)
}

func TestWheelAgainstModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 0))
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	var w wheel
	var model plain
	var now int64
	for range 60 {
		model.timers = append(model.timers, &plainTimer{})
	}
	arm := func(pt *plainTimer) {
		d := int64(0)
		switch rnd.IntN(5) {
		case 0: // past, or now
			d = -rnd.Int64N(3 * tick)
		case 1:
			d = rnd.Int64N(4 * tick)
		case 2:
			d = rnd.Int64N(wheelSlots * tick)
		case 3: // beyond the ring
			d = rnd.Int64N(20 * wheelSlots * tick)
		case 4: // about the ring's length
			d = (wheelSlots-3+rnd.Int64N(6))*tick + rnd.Int64N(3) - 1
		}
		when := max(now+d, 1)
		w.arm(&pt.Timer, when)
		model.arm(pt, when)
	}
	for _, pt := range model.timers {
		pt.Func = func() {
			if pt.due == 0 || pt.when > now {
				t.Fatalf("at %d a timer of %d went off (due in tick %d)", now, pt.when, pt.due)
			}
			pt.fired++
			pt.due = 0
			// What the function of a timer may do: arm itself, forget another.
			switch rnd.IntN(8) {
			case 0:
				w.arm(&pt.Timer, now+5*tick)
				model.due(pt, now+5*tick, now)
			case 1:
				other := model.timers[rnd.IntN(len(model.timers))]
				w.forget(&other.Timer)
				other.due = 0
			}
		}
	}
	fired := 0
	for step := range 60_000 {
		pt := model.timers[rnd.IntN(len(model.timers))]
		switch rnd.IntN(6) {
		case 0, 1, 2:
			arm(pt)
		case 3:
			w.forget(&pt.Timer)
			pt.due = 0
		default:
			move := []int64{0, 1, tick / 3, tick, 5 * tick, wheelSlots * tick / 2, wheelSlots * tick, 3 * wheelSlots * tick}
			now += rnd.Int64N(move[rnd.IntN(len(move))] + 1)
			w.advance(now)
			model.done = now / tick
			for _, pt := range model.timers {
				if pt.due != 0 && pt.due <= now/tick {
					t.Fatalf("step %d: at tick %d a timer of tick %d has not gone off", step, now/tick, pt.due)
				}
				fired += pt.fired
				pt.fired = 0
			}
		}
		first := int64(math.MaxInt64)
		for _, pt := range model.timers {
			if pt.due != 0 {
				first = min(first, pt.due)
			}
		}
		d := w.wait(now)
		if first != math.MaxInt64 && (d < 0 || int64(d) > max(first*tick-now, 0)) {
			t.Fatalf("step %d: at %d the wheel waits %d, but a timer is due in %d", step, now, d, first*tick-now)
		}
	}
	if fired < 1000 {
		t.Fatalf("only %d timers went off", fired)
	}
}

// due is arm from within advance: everything up to now counts as past.
func (p *plain) due(t *plainTimer, when, now int64) {
	p.done = now / tick
	p.arm(t, when)
}

// A timer that is put off stays where it is until its slot is due, and then
// goes off in time.
func TestWheelIsLazy(t *testing.T) {
	var w wheel
	fired := 0
	timer := Timer{Func: func() { fired++ }}
	w.arm(&timer, 10*tick)
	for when := int64(11 * tick); when <= 30*tick; when += tick {
		w.arm(&timer, when)
	}
	if timer.tick != 10 {
		t.Fatalf("put off, the timer moved to slot %d", timer.tick)
	}
	w.advance(29 * tick)
	if fired != 0 || timer.tick != 30 {
		t.Fatalf("fired %d times, in slot %d", fired, timer.tick)
	}
	if w.advance(30 * tick); fired != 1 {
		t.Fatalf("fired %d times", fired)
	}
	if d := w.wait(30 * tick); d >= 0 {
		t.Fatalf("an empty wheel waits %v", d)
	}
}

// After a long sleep the first timer is at its own place at once.
func TestWheelSkips(t *testing.T) {
	var w wheel
	now := int64(30 * 24 * time.Hour)
	w.skip(now)
	fired := 0
	timer := Timer{Func: func() { fired++ }}
	when := now + int64(time.Second)
	w.arm(&timer, when)
	if at := timer.tick << tickBits; at < when || at > when+1<<tickBits {
		t.Errorf("armed for %d, waits at %d", when, at)
	}
	w.skip(when + int64(time.Minute)) // not over what is armed
	if w.advance(when - 1); fired != 0 {
		t.Error("too early")
	}
	if w.advance(when + 1<<tickBits); fired != 1 {
		t.Errorf("went off %d times", fired)
	}
}

func TestWheelDoesNotAllocate(t *testing.T) {
	var w wheel
	timers := make([]Timer, 100)
	for i := range timers {
		timers[i].Func = func() {}
	}
	var now int64
	if n := testing.AllocsPerRun(1000, func() {
		for i := range timers {
			w.arm(&timers[i], now+int64(i)*tick)
		}
		w.forget(&timers[50])
		now += 70 * tick
		w.advance(now)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// A loop's timers go off on its thread, in time, also those that are armed
// for ever or for no time.
func TestTimersOfLoop(t *testing.T) {
	bothWaits(t, func(t *testing.T, w Wait) {
		r := start(t, Options{Wait: w}, all(echo()))
		fired := make(chan time.Duration, 1)
		var soon, never Timer
		r.on(0, func(l *Loop) {
			begin := l.Now()
			soon.Func = func() { fired <- l.Now() - begin }
			never.Func = func() { t.Error("a timer for ever went off") }
			l.Arm(&never, math.MaxInt64)
			l.Arm(&soon, 5*time.Millisecond)
		})
		if after := wait(t, "a timer", fired); after < 5*time.Millisecond {
			t.Errorf("too early, after %v", after)
		}
		r.on(0, func(l *Loop) { l.Arm(&soon, -time.Second) })
		wait(t, "a timer for now", fired)
		r.jump(time.Hour)
		r.on(0, func(l *Loop) { l.Disarm(&never) })
	})
}
