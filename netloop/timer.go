package netloop

import (
	"math/bits"
	"time"
)

// Timer calls Func on its loop's thread once a set time has come. It belongs
// to whoever embeds it, is armed and disarmed as often as one likes at no
// cost to speak of, and must be disarmed before its memory is used for
// something else.
type Timer struct {
	Func func()

	when       int64 // nanoseconds; 0: not armed
	tick       int64 // of the slot that it is linked in
	next, prev *Timer
	linked     bool
}

// wheel is a ring of slots, one a tick of 2^20 ns (1.05 ms), over the coming
// 4.3 s. It is lazy: a timer that moves to a later time stays where it is and
// moves on only when its slot is due, so that a deadline that is put off with
// every request costs one store. A timer beyond the ring waits in its last
// slot, and moves on from there likewise.
type wheel struct {
	done   int64 // ticks up to here are past
	slots  [wheelSlots]*Timer
	filled [wheelSlots / 64]uint64 // a bit for each slot that is not empty
	words  uint64                  // a bit for each word of filled that is not 0
}

const (
	tickBits   = 20
	wheelSlots = 4096
)

// arm sets t to go off at when, not before, and at most a tick and the length
// of an iteration after.
func (w *wheel) arm(t *Timer, when int64) {
	t.when = max(when, 1)
	tick := (t.when + 1<<tickBits - 1) >> tickBits
	if t.linked {
		if t.tick <= tick {
			return
		}
		w.unlink(t)
	}
	w.link(t, tick)
}

// forget disarms t and takes it out of its slot.
func (w *wheel) forget(t *Timer) {
	t.when = 0
	if t.linked {
		w.unlink(t)
	}
}

func (w *wheel) link(t *Timer, tick int64) {
	t.tick = min(max(tick, w.done+1), w.done+wheelSlots-1)
	i := t.tick % wheelSlots
	head := w.slots[i]
	t.next, t.prev, t.linked = head, nil, true
	if head != nil {
		head.prev = t
	}
	w.slots[i] = t
	w.filled[i/64] |= 1 << (i % 64)
	w.words |= 1 << (i / 64)
}

func (w *wheel) unlink(t *Timer) {
	i := t.tick % wheelSlots
	if t.next != nil {
		t.next.prev = t.prev
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else if w.slots[i] = t.next; t.next == nil {
		if w.filled[i/64] &^= 1 << (i % 64); w.filled[i/64] == 0 {
			w.words &^= 1 << (i / 64)
		}
	}
	t.next, t.prev, t.linked = nil, nil, false
}

// skip goes straight to now where nothing is armed: step by step, the first
// timers after a day's sleep would have to turn the ring thousands of times.
func (w *wheel) skip(now int64) {
	if w.words == 0 {
		w.done = max(w.done, now>>tickBits)
	}
}

// advance calls what is due at now.
func (w *wheel) advance(now int64) {
	until := now >> tickBits
	for w.done < until {
		tick := w.first()
		if tick == 0 || tick > until {
			w.done = until
			return
		}
		w.done = tick
		for t := w.slots[tick%wheelSlots]; t != nil; t = w.slots[tick%wheelSlots] {
			w.unlink(t)
			switch {
			case t.when == 0:
			case t.when > now:
				w.link(t, (t.when+1<<tickBits-1)>>tickBits)
			default:
				t.when = 0
				t.Func()
			}
		}
	}
}

// first returns the first tick after done whose slot is not empty, or 0.
func (w *wheel) first() int64 {
	if w.words == 0 {
		return 0
	}
	begin := (w.done + 1) % wheelSlots
	i := begin / 64
	if rest := w.filled[i] >> (begin % 64); rest != 0 {
		return w.done + 1 + int64(bits.TrailingZeros64(rest))
	}
	// The words after i in the order of the ring; word i itself comes last.
	turned := bits.RotateLeft64(w.words, -int(i+1))
	i = (i + 1 + int64(bits.TrailingZeros64(turned))) % int64(len(w.filled))
	slot := i*64 + int64(bits.TrailingZeros64(w.filled[i]))
	return w.done + 1 + (slot-begin+wheelSlots)%wheelSlots
}

// wait is how long after now something may be due: 0 if it already is, and
// negative if nothing is armed.
func (w *wheel) wait(now int64) time.Duration {
	tick := w.first()
	if tick == 0 {
		return -1
	}
	return time.Duration(max(tick<<tickBits-now, 0))
}
