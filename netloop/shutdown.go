//go:build linux

package netloop

import (
	"context"
	"errors"
	"math"
	"time"
)

// ErrCut is the reason why a connection ends that was still busy when the
// time to drain was over.
var ErrCut = errors.New("cut: still busy when the time to drain was over")

// Shutdown lets no new connections come, tells all handlers, and waits until
// the last connection of all loops has ended, or ctx: then what is left is
// cut, and the error is ErrCut. It returns when Run does.
//
// No loop ends before the last connection of all, and listeners are closed
// last: a queue that somebody closes resets the connections in it. From the
// beginning of Shutdown listeners refuse the first packet of a connection, so
// that what the queues hold is all that comes.
func (g *Group) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	if g.closeUnlessStarted(); g.closed {
		g.mu.Unlock()
		return nil
	}
	for _, ls := range g.listeners {
		ls.refuseNew()
	}
	g.mu.Unlock()
	g.draining.Store(true)
	for _, l := range g.loops {
		l.Post(l.drain)
	}
	err := g.awaitQuiet(ctx)
	for _, l := range g.loops {
		l.stop(ErrCut)
	}
	<-g.ended
	return err
}

// quietTicks is for how many ticks of 2 ms all has to be quiet: the end of a
// handshake that has begun before comes as much later as the client is away.
// Where nobody listens one look is enough.
func (g *Group) quietTicks() int {
	if len(g.listeners) == 0 {
		return 1
	}
	return 25
}

func (g *Group) awaitQuiet(ctx context.Context) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for ticks := 0; ticks < g.quietTicks(); {
		select {
		case <-g.ended:
			return nil
		case <-tick.C:
			if ticks++; !g.quiet() {
				ticks = 0
			}
		case <-ctx.Done():
			if !g.quiet() {
				return ErrCut
			}
			return nil
		}
	}
	return nil
}

// quiet tells that all loops have been told to drain, their accept queues
// were empty since, and no connection is left.
func (g *Group) quiet() bool {
	for _, l := range g.loops {
		if !l.drained.Load() || l.open.Load() != 0 {
			return false
		}
	}
	return true
}

// drain begins the end: handlers are told, and those whose connections come
// out of the accept queues later are told then.
func (l *Loop) drain() {
	l.telling = true
	for _, ls := range l.listening {
		l.accept(ls)
	}
	for _, c := range l.conns {
		if c != nil { // a request may have come before the end: read first, then tell
			c.readable = true
			l.enqueue(c)
		}
	}
	l.noteDrained()
}

func (l *Loop) noteDrained() {
	for _, ls := range l.listening {
		if !ls.emptied {
			return
		}
	}
	l.drained.Store(true)
}

// cutAll closes what is left when the loop ends. Who dials in OnClose now is
// told once that there is no more dialling.
func (l *Loop) cutAll() {
	for _, c := range l.conns {
		if c != nil {
			c.cut(l.ending)
		}
	}
	l.spent = math.MinInt // all of them
	l.serviceReady()
	l.recycle()
}
