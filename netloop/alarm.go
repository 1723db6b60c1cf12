//go:build linux

package netloop

import "time"

// Clock is the time since the group's begin, read now. Now costs nothing, but
// is as old as the iteration.
func (l *Loop) Clock() time.Duration { return time.Since(l.group.begin) }

// alarm is the loop's shot clock: a single instant, but met to the
// microsecond, where a Timer has ticks of a millisecond.
type alarm struct {
	at   int64  // nanoseconds since the group's begin
	ring func() // nil: not set
}

// SetAlarm has f called, once, when Clock has reached at: within microseconds
// if the thread has a processor, and no event's handler takes longer than that.
// A loop has one alarm, and the last call counts. To set it costs a store, and
// garbage only if f is made anew each time: keep a method value.
//
// The alarm is looked at in each iteration and after each event, each posted
// function and each turn of a connection, never inside of them. If f sets it to
// an instant that has passed already, it rings at the next of these looks, with
// events between, and the loop does not sleep. While f runs, Now is what Clock
// was as it was called. An alarm does not keep a group from ending.
func (l *Loop) SetAlarm(at time.Duration, f func()) { l.alarm = alarm{int64(max(at, 0)), f} }

// StopAlarm takes the alarm back.
func (l *Loop) StopAlarm() { l.alarm = alarm{} }

// lookAtAlarm calls the alarm's function if its time has come. While none is
// set this costs a comparison, otherwise the reading of the clock.
func (l *Loop) lookAtAlarm() {
	if l.alarm.ring != nil {
		l.ringIfDue()
	}
}

func (l *Loop) ringIfDue() {
	if int64(l.Clock()) < l.alarm.at || l.ending != nil {
		return
	}
	l.readClock()
	ring := l.alarm.ring
	l.StopAlarm()
	ring()
}
