//go:build linux

package netloop

// newConn gives a descriptor a slot.
func (l *Loop) newConn(fd int32) *Conn {
	var slot uint32
	if n := len(l.free); n > 0 {
		slot = l.free[n-1]
		l.free = l.free[:n-1]
	} else {
		slot = uint32(len(l.conns))
		l.conns = append(l.conns, nil)
		l.gens = append(l.gens, 0)
	}
	c := l.objects.Get()
	c.reset(l, fd, slot)
	l.conns[slot] = c
	l.open.Add(1)
	return c
}

// endConn takes the slot back. The object itself waits for the end of the
// iteration: callers further up may still look at it.
func (l *Loop) endConn(c *Conn) {
	l.conns[c.slot] = nil
	l.gens[c.slot]++
	l.free = append(l.free, c.slot)
	if c.accepted {
		l.group.conns.Add(-1)
		l.placeFreed()
	}
	l.wheel.forget(&c.timer)
	l.dead = append(l.dead, c)
}

// recycle takes in the objects of connections that have ended and are in no
// queue any more.
func (l *Loop) recycle() {
	keep := l.dead[:0]
	for _, c := range l.dead {
		if c.queued {
			keep = append(keep, c)
			continue
		}
		c.handler = nil
		l.objects.Put(c)
	}
	l.dead = keep
}

// enqueue has c serviced once more in this iteration or the next.
func (l *Loop) enqueue(c *Conn) {
	if c.queued {
		return
	}
	c.queued, c.nextReady = true, nil
	if l.last == nil {
		l.ready = c
	} else {
		l.last.nextReady = c
	}
	l.last = c
}

// turnWork is how many bytes an iteration works on, read, sent or otherwise
// spent, before it looks for new events. Who is left waits in the ready queue,
// where each iteration serves one at least: a hundred who ask for long answers
// then delay a newcomer by the one under way, not by all.
const turnWork = 1 << 20

// serviceReady services those that were enqueued before it began, as far as
// turnWork goes: who comes meanwhile waits for new events to be seen first.
func (l *Loop) serviceReady() {
	for c, last := l.ready, l.last; c != nil; c = l.ready {
		if l.ready = c.nextReady; l.ready == nil {
			l.last = nil
		}
		c.queued, c.nextReady = false, nil
		c.service()
		l.lookAtAlarm()
		if c == last || l.spent >= turnWork {
			return
		}
	}
}
