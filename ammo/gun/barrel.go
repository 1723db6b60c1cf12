//go:build linux

package gun

import (
	"sync/atomic"
	"time"

	"redoubt/ammo/phout"
	"redoubt/netloop"
)

// barrel is the part of the gun that lives on one loop. All of it belongs to
// that loop's thread, but what says otherwise.
type barrel struct {
	gun  *run
	loop *netloop.Loop

	loads  <-chan load // none for a while: hungry; closed: no more
	hungry atomic.Bool // set here, cleared by who has put a load into loads
	load   load        // the one being fired
	next   int         // ... from this round on
	empty  bool        // loads is closed, and all of it fired

	most     int     // connections at a time
	room     int     // how many more may be opened
	parting  []*link // beside those: servers are about to close them
	idle     []*link // connected, with room for another shot; the one used last is last
	spare    []*link // without a connection, to be used again
	flying   int     // shots in flight
	waiting  bool    // a shot is due, and no link free
	stopped  bool    // no more shots
	finished bool

	tally    *tally
	doubts   []doubt // the first answers with a wrong status
	interval *interval
	rows     []phout.Row // for phout.txt, not handed over yet
	second   netloop.Timer
	end      netloop.Timer // of a flood

	fireFunc func()    // fire, bound once
	request  [1][]byte // for Client.Send
}

func newBarrel(g *run, l *netloop.Loop, loads <-chan load, connections int) *barrel {
	b := &barrel{gun: g, loop: l, loads: loads, most: connections, room: connections, tally: newTally(), interval: newInterval(0)}
	b.fireFunc = b.fire
	b.second.Func = b.quietSecond
	b.end.Func = func() { b.stop(never) }
	if g.options.Phout != nil {
		b.rows = make([]phout.Row, 0, rowsAtOnce)
	}
	return b
}

// start is posted when all loads that can be there are there.
func (b *barrel) start() {
	b.quietSecond()
	if b.gun.flood {
		b.loop.Arm(&b.end, b.gun.origin+b.gun.options.Plan.Duration()-b.loop.Now())
	}
	b.loop.SetAlarm(b.gun.origin, b.fireFunc)
}

// never is when a flood is cut short that just comes to its end.
const never time.Duration = -1

// stop fires no more; what is in flight is waited for. Shots that were due at
// the cut have waited in vain.
func (b *barrel) stop(cut time.Duration) {
	if b.stopped || b.finished {
		return
	}
	b.stopped = true
	b.loop.StopAlarm()
	for !b.gun.flood && cut != never {
		r, number := b.peek()
		if r == nil {
			break
		}
		waited := cut - b.gun.origin - b.gun.options.Plan.At(number)
		if waited < 0 {
			break
		}
		b.drop(r, waited)
	}
	b.finish()
}

// drop counts the shot at the cursor as one that is not sent.
func (b *barrel) drop(r *round, waited time.Duration) {
	b.next++
	b.tally.countDropped(r.group, waited)
	b.interval.drops++
	record(b.interval.times, waited)
}

// peek finds the next round and its number.
func (b *barrel) peek() (r *round, number int64) {
	for b.next == len(b.load.rounds) {
		b.load, b.next = load{}, 0
		select {
		case l, ok := <-b.loads:
			if !ok {
				b.empty = true
				return nil, 0
			}
			b.load = l
			continue
		default:
		}
		if b.hungry.Swap(true) { // looked twice: the feeder fills before it looks whether one is hungry
			return nil, 0
		}
	}
	return &b.load.rounds[b.next], b.load.first + int64(b.next)
}

// atOnce is the instant of shots that have none: it is the sent one.
const atOnce time.Duration = -1

// burst is how many shots leave before answers are looked for.
const burst = 16

// fire fires what is due and there is a connection for. It is the alarm's
// function, posted when a barrel that was hungry has been fed, and called when
// a connection comes free.
func (b *barrel) fire() {
	b.waiting = false
	for n := 0; !b.stopped; n++ {
		r, number := b.peek()
		if r == nil {
			b.finish()
			return
		}
		if n == burst {
			b.loop.SetAlarm(0, b.fireFunc)
			return
		}
		planned := atOnce
		if !b.gun.flood {
			planned = b.gun.origin + b.gun.options.Plan.At(number)
			waited := b.loop.Clock() - planned
			if waited < 0 {
				b.loop.SetAlarm(planned, b.fireFunc)
				return
			}
			if waited > b.gun.options.Timeout {
				b.drop(r, waited)
				continue
			}
		}
		l := b.free()
		if l == nil {
			b.waiting = true
			return
		}
		b.next++
		b.flying++
		l.fire(b.load.belt, r, number, planned)
	}
}

// free finds a link that can take a shot.
func (b *barrel) free() *link {
	if n := len(b.idle); n > 0 {
		return b.idle[n-1]
	}
	if b.room == 0 {
		return nil
	}
	b.room--
	if n := len(b.spare); n > 0 {
		l := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return l
	}
	return newLink(b)
}

// freed says that there is room for a shot that was not there before.
func (b *barrel) freed() {
	if b.waiting {
		b.fire()
	}
}

// landed counts a shot that is in flight no more.
func (b *barrel) landed(s *shot, o Outcome, net, status, received int, end time.Duration) {
	b.flying--
	b.tick(end)
	planned := end - s.planned
	b.tally.countDone(s.round.group, o, status, received, planned, end-s.sent)
	b.interval.in += int64(received)
	if o == Answered {
		b.tally.answered = end
		b.interval.answered++
	} else {
		b.interval.failed++
	}
	if o.waited() {
		record(b.interval.times, planned)
	}
	if b.gun.options.Phout != nil {
		b.rows = append(b.rows, s.row(b.gun.wall, net, status, received, end))
		if len(b.rows) == cap(b.rows) {
			b.handOver(parcel{})
		}
	}
}

// tick goes on to the second of the run that now is in.
func (b *barrel) tick(now time.Duration) {
	for now >= b.gun.origin+time.Duration(b.interval.second+1)*time.Second {
		done := b.interval
		b.interval = newInterval(done.second + 1)
		b.handOver(parcel{done: done})
	}
}

// quietSecond is the timer's function: the seconds go on if nothing happens.
func (b *barrel) quietSecond() {
	b.tick(b.loop.Clock())
	b.loop.Arm(&b.second, b.gun.origin+time.Duration(b.interval.second+1)*time.Second-b.loop.Now())
}

// handOver gives the recorder what has gathered. If it is so far behind that it
// has no rows to give back, the barrel waits: late shots are counted, and shots
// that nobody has written down are not.
func (b *barrel) handOver(p parcel) {
	p.barrel, p.rows = b.loop.Index(), b.rows
	b.gun.recorder.in <- p
	if b.gun.options.Phout != nil {
		b.rows = <-b.gun.recorder.free
	}
}

// finish ends the barrel if nothing is left to do.
func (b *barrel) finish() {
	if b.finished || b.flying > 0 || !b.stopped && !b.empty {
		return
	}
	b.finished = true
	b.loop.StopAlarm()
	b.loop.Disarm(&b.second)
	b.loop.Disarm(&b.end)
	last := parcel{done: b.interval, last: true}
	if b.interval.isEmpty() && b.interval.second > 0 {
		last.done = nil
	}
	b.handOver(last)
	b.gun.barrels.Done()
}
