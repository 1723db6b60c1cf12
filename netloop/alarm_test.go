//go:build linux

package netloop

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// everyWait runs a test in each way in which a loop may wait, also where the
// system has only sleeps of milliseconds.
func everyWait(t *testing.T, f func(t *testing.T, start func(accept func(*Conn) Handler) *rig)) {
	for _, c := range []struct {
		name   string
		wait   Wait
		coarse bool
	}{{"block", Block, false}, {"coarse", Block, true}, {"busy", Busy, false}} {
		t.Run(c.name, func(t *testing.T) {
			f(t, func(accept func(*Conn) Handler) *rig {
				r := start(t, Options{Wait: c.wait}, accept)
				r.on(0, func(l *Loop) { l.coarse = c.coarse })
				return r
			})
		})
	}
}

// An alarm rings once and not before its time, and the last one set counts.
func TestAlarm(t *testing.T) {
	everyWait(t, func(t *testing.T, start func(func(*Conn) Handler) *rig) {
		r := start(all(echo()))
		rang := make(chan time.Duration, 10)
		for _, d := range []time.Duration{-time.Hour, 0, 1, 10 * time.Microsecond, alarmSpin, time.Millisecond, 30 * time.Millisecond} {
			var at time.Duration
			r.on(0, func(l *Loop) {
				wrong := func() { t.Error("an alarm rang that was replaced") }
				l.SetAlarm(l.Clock(), wrong)
				l.SetAlarm(l.Clock()+time.Millisecond, wrong)
				at = l.Clock() + d
				l.SetAlarm(at, func() {
					if now := l.Now(); now < at || now > l.Clock() {
						t.Errorf("Now is %v, Clock %v, of an alarm for %v", now, l.Clock(), at)
					}
					rang <- l.Clock()
				})
			})
			if now := wait(t, "the alarm", rang); now < at {
				t.Errorf("set for %v it rang at %v", at, now)
			}
		}
		r.on(0, func(l *Loop) {
			l.SetAlarm(l.Clock(), func() { t.Error("an alarm rang that was stopped") })
			l.StopAlarm()
			l.StopAlarm()
		})
		r.turns(10)
		if len(rang) != 0 {
			t.Error("an alarm rang twice")
		}
		r.on(0, func(l *Loop) { l.SetAlarm(math.MaxInt64, func() { t.Error("an alarm for never rang") }) })
		r.turns(3)
		r.on(0, func(l *Loop) { l.SetAlarm(math.MinInt64, func() { rang <- 0 }) })
		wait(t, "an alarm for long ago", rang)
	})
}

// One that is far off lets the loop sleep, and be woken.
func TestAlarmFarOff(t *testing.T) {
	r := start(t, Options{}, all(echo()))
	rang := make(chan bool)
	r.on(0, func(l *Loop) { l.SetAlarm(l.Clock()+time.Hour, func() { close(rang) }) })
	c := r.dial()
	for range 3 {
		until(t, "the loop sleeps", r.loops[0].asleep.Load)
		c.send("x")
		c.expect("x")
	}
	r.on(0, func(*Loop) {})
	r.jump(59 * time.Minute)
	select {
	case <-rang:
		t.Error("too early")
	default:
	}
	r.jump(time.Minute)
	wait(t, "the alarm", rang)
}

// How long a loop sleeps leaves room for what the system takes.
func TestBeforeAlarm(t *testing.T) {
	for _, d := range []time.Duration{-time.Hour, 0, alarmSpin, 2 * alarmSpin, time.Millisecond, time.Second, 1000 * time.Hour, never - 1} {
		if nap := beforeAlarm(d); nap > 0 && nap+nap/200+alarmSpin > d || nap <= 0 && d >= 2*alarmSpin {
			t.Errorf("an alarm in %v lets sleep for %v", d, nap)
		}
	}
	if beforeAlarm(never) != never {
		t.Error("no alarm does not let sleep for ever")
	}
}

// Timers and the alarm do not hide each other.
func TestAlarmAndTimers(t *testing.T) {
	everyWait(t, func(t *testing.T, start func(func(*Conn) Handler) *rig) {
		r := start(all(echo()))
		for _, c := range []struct {
			timer, alarm time.Duration
			want         string
		}{
			{5 * time.Millisecond, time.Hour, "timer"},
			{time.Hour, 5 * time.Millisecond, "alarm"},
			{5500 * time.Microsecond, 3 * time.Millisecond, "alarm"},
			{3 * time.Millisecond, 20 * time.Millisecond, "timer"},
		} {
			heard := make(chan string, 2)
			timer := Timer{Func: func() { heard <- "timer" }}
			ring := func() { heard <- "alarm" }
			r.on(0, func(l *Loop) {
				l.SetAlarm(l.Now()+c.alarm, ring)
				l.Arm(&timer, c.timer)
			})
			first := wait(t, c.want, heard)
			if both := min(c.timer, c.alarm) > time.Millisecond && max(c.timer, c.alarm) < time.Hour; both {
				wait(t, "the other", heard) // whichever a stalled machine has seen first
			} else if first != c.want {
				t.Errorf("%s came instead of %s", first, c.want)
			}
			r.on(0, func(l *Loop) {
				l.Disarm(&timer)
				l.StopAlarm()
			})
		}
	})
}

// The alarm is looked at between the events of a batch, and never inside of a
// handler. One that is always due rings once between two events and holds none
// up.
func TestAlarmBetweenEvents(t *testing.T) {
	everyWait(t, func(t *testing.T, start func(func(*Conn) Handler) *rig) {
		const clients = 20
		var l *Loop
		var log []byte
		inside := false
		var ring func()
		ring = func() {
			if inside {
				t.Error("the alarm rang inside of a handler")
			}
			log = append(log, 'a')
			l.SetAlarm(0, ring)
		}
		r := start(all(&funcs{
			data: func(c *Conn, in []byte) int {
				inside = true
				log = append(log, 'e')
				l = c.Loop()
				l.SetAlarm(l.Clock(), ring)
				c.Write(in)
				inside = false
				return len(in)
			},
		}))
		var all []*client
		for range clients {
			c := r.dial()
			c.send("x")
			c.expect("x")
			all = append(all, c)
		}
		release := r.hold(0)
		for _, c := range all {
			c.send("x")
		}
		log = log[:0] // the loop is held
		release()
		for _, c := range all {
			c.expect("x")
		}
		r.on(0, func(l *Loop) {
			l.StopAlarm()
			log = log[slices.Index(log, 'e'):]
			for range clients - 1 {
				if len(log) < 3 || string(log[:3]) != "eae" {
					t.Fatalf("events and alarms came as %q", log)
				}
				log = log[2:]
			}
		})
	})
}

// The same for posted functions and connections that have another turn.
func TestAlarmBetweenTurns(t *testing.T) {
	var log []byte
	var conns []*Conn
	again := false
	r := start(t, Options{}, all(&funcs{data: func(c *Conn, in []byte) int {
		if again {
			log = append(log, 'e')
			return len(in)
		}
		conns = append(conns, c)
		return 0
	}}))
	for range 3 {
		r.dial().send("x")
	}
	until(t, "all are there", func() (is bool) {
		r.on(0, func(*Loop) { is = len(conns) == 3 })
		return is
	})
	l := r.loops[0]
	var ring func()
	ring = func() { log = append(log, 'a'); l.SetAlarm(0, ring) }
	r.on(0, func(l *Loop) {
		again = true
		for _, c := range conns {
			c.Again()
		}
		l.SetAlarm(0, ring)
		l.serviceReady()
		l.StopAlarm()
		if string(log) != "eaeaea" {
			t.Errorf("turns and alarms came as %q", log)
		}
	})
	log = nil
	release := r.hold(0)
	l.Post(func() { l.SetAlarm(0, ring) })
	for range 3 {
		l.Post(func() { log = append(log, 'e') })
	}
	l.Post(l.StopAlarm)
	release()
	r.on(0, func(*Loop) {
		for len(log) > 0 && log[0] == 'a' {
			log = log[1:]
		}
		if string(log) != "eaeaea" {
			t.Errorf("posted functions and alarms came as %q", log)
		}
	})
}

// A loop whose alarm is always due does not sleep, and ends all the same; then
// nothing rings any more.
func TestAlarmAlwaysDue(t *testing.T) {
	everyWait(t, func(t *testing.T, start func(func(*Conn) Handler) *rig) {
		r := start(all(&funcs{close: func(c *Conn, _ error) {
			c.Loop().SetAlarm(0, func() { t.Error("an alarm rang after the end") })
			c.Again() // one more turn, in vain
		}, shutdown: func(*Conn) {}}))
		var rings atomic.Int64
		l := r.loops[0]
		var ring func()
		ring = func() { rings.Add(1); l.SetAlarm(0, ring) }
		r.on(0, func(*Loop) { ring() })
		until(t, "it has rung often", func() bool { return rings.Load() > 1000 })
		c := r.dial()
		c.send("x")
		r.turns(2)
		if err := r.shutdown(20 * time.Millisecond); err != ErrCut {
			t.Errorf("Shutdown: %v", err)
		}
		if err := wait(t, "Run", r.ran); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// An alarm makes no garbage.
func TestAlarmAllocations(t *testing.T) {
	const noise = 0.5
	bothWaits(t, func(t *testing.T, w Wait) {
		r := start(t, Options{Wait: w}, all(echo()))
		l := r.loops[0]
		left := 0
		done := make(chan bool)
		var ring func()
		ring = func() {
			if left--; left < 0 {
				done <- true
				return
			}
			l.SetAlarm(l.Clock()+200*time.Microsecond, ring)
		}
		if n := allocationsOf(func(rounds int) {
			l.Post(func() { left = rounds; ring() })
			<-done
		}); n > noise {
			t.Errorf("%v allocations for an alarm", n)
		}
	})
}
