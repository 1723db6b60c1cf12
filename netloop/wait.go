//go:build linux

package netloop

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// gosched is how many polls without an event let other goroutines have the
	// thread once. A garbage collector that has to stop a busy loop then waits
	// 30 µs rather than 200.
	gosched = 64
	// alarmSpin is for how long before an alarm a loop polls rather than sleeps.
	// Sleeps end 30 µs late as a rule, one in ten 45 and one in a hundred 80 to
	// 130 with neighbours. At 1,000 alarms a second the polling takes a twentieth
	// of a processor; with 50 µs some alarms ring late, with 100 no fewer do.
	alarmSpin = 80 * time.Microsecond
	// alarmCalm is for how long before an alarm a loop does not let others have
	// the thread: to get it back takes 9 µs, and one time in a hundred 42. With
	// 20 µs one alarm in a hundred rings 35 µs late, at 10,000 a second; without
	// any the median is 2 µs rather than 0.3.
	alarmCalm = 50 * time.Microsecond
)

const never = time.Duration(math.MaxInt64)

// wait returns the events that are there, and sleeps where there are none and
// nothing else is to be done.
func (l *Loop) wait(events []epollEvent) int {
	for empty := 1; ; empty++ {
		if straight := l.calm && empty == 1; straight {
			l.calm = false
		} else {
			n, errno := pollEvents(l.ep, events)
			if n > 0 {
				return n
			}
			if errno != 0 && errno != unix.EINTR {
				l.group.fail(fmt.Errorf("netloop: epoll_pwait: %w", errno))
				return 0
			}
		}
		if l.ready != nil || l.waiting.Load() != 0 {
			return 0
		}
		l.readClock()
		timer, alarm := l.untilTimer(), l.untilAlarm()
		if timer <= 0 || alarm <= 0 {
			return 0
		}
		if empty == 1 {
			l.beginRest()
		}
		if nap := min(timer, beforeAlarm(alarm)); nap > 0 && l.group.options.Wait == Block {
			return l.sleep(events, nap)
		}
		if empty%gosched == 0 && alarm > alarmCalm {
			runtime.Gosched()
		}
	}
}

// resting is the bit of Loop.rest that says that the loop waits.
//
// The bits above it are nanoseconds: while the loop waits, for how long it has
// worked; while it works, for how long it has waited. So each is constant until
// the other begins, one word tells all, and it is written twice a wait. The
// times are those that are read anyway, before a sleep and after it.
const resting = 1

// beginRest notes that the loop waits, as of now.
func (l *Loop) beginRest() { l.rest.Store((l.now-l.rest.Load()>>1)<<1 | resting) }

// endRest notes that the loop works, as of now, if it has waited.
func (l *Loop) endRest() {
	if worked := l.rest.Load(); worked&resting != 0 {
		l.rest.Store((l.now - worked>>1) << 1)
	}
}

// Busy tells for how long the loop's thread has worked rather than waited, and
// out of how much time, since the group's begin. To look for events and find
// some is work, and so is what the system makes of the thread's time meanwhile.
// A loop that does not run waits. It is safe from any goroutine; neither number
// ever falls.
func (l *Loop) Busy() (busy, total time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := l.rest.Load()
	now := int64(l.Clock()) // behind it: nobody has worked for longer
	worked := rest >> 1
	if rest&resting == 0 {
		worked = now - worked
	}
	// A loop that begins to wait this very moment has worked a little less.
	l.worked = max(l.worked, worked)
	return time.Duration(l.worked), time.Duration(now)
}

func (l *Loop) untilTimer() time.Duration {
	if d := l.wheel.wait(l.now); d >= 0 {
		return d
	}
	return never
}

func (l *Loop) untilAlarm() time.Duration {
	if l.alarm.ring == nil {
		return never
	}
	return time.Duration(l.alarm.at - l.now)
}

// beforeAlarm is how long a loop may sleep whose alarm rings in d. The system
// takes 0.1 % of a sleep for its accuracy, and 0.5 % for threads that are nice.
func beforeAlarm(d time.Duration) time.Duration {
	if d == never {
		return never
	}
	return d - d/200 - alarmSpin
}

// sleep waits for an event, up to d.
func (l *Loop) sleep(events []epollEvent, d time.Duration) int {
	if l.alarm.ring != nil && !l.exact {
		l.exact = true
		sleepExactly()
	}
	l.asleep.Store(true)
	if l.waiting.Load() != 0 {
		l.asleep.Store(false)
		return 0
	}
	n, errno := l.nap(events, min(d, longestNap))
	l.calm = n <= fewEvents && l.group.naps && !l.coarse
	if n == 0 && errno == 0 && d > longestNap {
		n, errno = l.block(events, d-longestNap)
	}
	l.asleep.Store(false)
	if errno != 0 && errno != unix.EINTR {
		l.group.fail(fmt.Errorf("netloop: epoll_pwait: %w", errno))
	}
	return n
}

// fewEvents is up to how many a loop sleeps for without having asked first whether
// there are any: who has so little to do mostly has to wait, and the question costs
// as much as a nap that ends at once.
const fewEvents = 2

// longestNap is for how long a loop first sleeps without the scheduler knowing.
// One that knows takes the processor away from the thread after 20 µs and has to
// give it another one afterwards, and watches all threads as long as such things
// happen: at 2,000 events a second that takes as much as the work itself. Whoever
// sleeps longer has nothing to do, and tells.
const longestNap = 5 * time.Millisecond

// nap waits for events, up to d, if there is a processor more than loops: the
// scheduler does not give this one to other goroutines meanwhile.
func (l *Loop) nap(events []epollEvent, d time.Duration) (int, unix.Errno) {
	if l.coarse || !l.group.naps {
		return 0, 0
	}
	n, errno := napForEvents(l.ep, events, d)
	if errno == unix.ENOSYS || errno == unix.EPERM {
		return 0, 0 // block finds that out as well
	}
	return n, errno
}

// block waits for events, for d or, if that is never, for ever.
func (l *Loop) block(events []epollEvent, d time.Duration) (int, unix.Errno) {
	if !l.coarse {
		n, errno := blockForEvents(l.ep, events, d)
		if errno != unix.ENOSYS && errno != unix.EPERM { // a sandbox may not know the call
			return n, errno
		}
		l.coarse = true
	}
	switch {
	case d == never:
		return blockForMilliseconds(l.ep, events, -1)
	case l.alarm.ring != nil: // down, and the rest is polled
		return blockForMilliseconds(l.ep, events, int(d/time.Millisecond))
	}
	return blockForMilliseconds(l.ep, events, int((d+time.Millisecond-1)/time.Millisecond))
}
