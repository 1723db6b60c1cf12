//go:build linux

package gun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redoubt/netloop"
)

// lead is how long before the first shot all is ready.
const lead = 20 * time.Millisecond

// sourceWait is for how long the end of a run waits for its source.
const sourceWait = 100 * time.Millisecond

// run is what one call of Fire does.
type run struct {
	options Options
	flood   bool
	group   *netloop.Group
	feeder  *feeder
	all     []*barrel
	barrels sync.WaitGroup // not finished yet

	recorder *recorder
	judge    *judge
	origin   time.Duration // the instant that the plan counts from, on the loops' clock
	wall     int64         // Unix nanoseconds when that clock was 0
	quit     chan struct{} // closed: nothing more is to be fed
}

// Fire fires until the plan, the ammo or ctx ends, or the ammo or Phout fail.
// It then waits for what is in flight, for Options.Timeout at most. There is a
// Summary of what has been fired even if there is an error; without one, no
// shot has been.
func Fire(ctx context.Context, o Options) (*Summary, error) {
	o.defaults()
	g := &run{options: o, quit: make(chan struct{})}
	var connections int
	if connections, g.flood = o.Plan.Flood(); !g.flood {
		g.options.Pipeline, connections = 1, o.Instances
	}
	g.options.Instances = connections
	loops := min(o.Loops, connections)
	wait := netloop.Block
	if o.Busy {
		wait = netloop.Busy
	}
	group, err := netloop.New(netloop.Options{Loops: loops, Wait: wait, Memory: memory})
	if err != nil {
		return nil, err
	}
	g.group = group
	g.recorder = newRecorder(o, loops)
	g.judge = newJudge()
	fed, primed := g.feed(g.load(connections))
	select {
	case <-primed:
	case err := <-fed:
		// All of the ammo fits into what waits to be fired, or is no good.
		if err != nil && !errors.Is(err, ErrRewind) {
			group.Close()
			return nil, err
		}
		fed <- err
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil { // whatever came first
		close(g.quit)
		group.Close()
		return nil, err
	}
	return g.fire(ctx, fed)
}

// load makes the barrels. They share what is fed: one whose connections all
// hang has its own belt to wait with, and no others.
func (g *run) load(connections int) chan load {
	loops := g.group.Loops()
	feed := make(chan load, beltsAhead*len(loops))
	for i, l := range loops {
		share := (connections + len(loops) - 1 - i) / len(loops)
		g.all = append(g.all, newBarrel(g, l, feed, share))
	}
	g.barrels.Add(len(loops))
	return feed
}

// feed runs the feeder. fed brings its end, and primed is closed when as much
// waits to be fired as may.
func (g *run) feed(to chan load) (fed chan error, primed chan struct{}) {
	fed, primed = make(chan error, 1), make(chan struct{})
	full := false
	g.feeder = newFeeder(g.options.Source, g.shots(), g.options.Passes, func(l load) bool {
		select {
		case to <- l:
		default:
			if !full {
				full = true
				close(primed)
			}
			select {
			case to <- l:
			case <-g.quit:
				return false
			}
		}
		g.wakeHungry()
		return true
	})
	go func() {
		fed <- g.feeder.run() // before the barrels can end for want of shots
		close(to)
		g.wakeHungry()
	}()
	return fed, primed
}

func (g *run) wakeHungry() {
	for _, b := range g.all {
		if b.hungry.Swap(false) {
			b.loop.Post(b.fireFunc)
		}
	}
}

// shots is how many shots there will be at most; negative: nobody knows.
func (g *run) shots() int64 {
	switch limit := g.options.Limit; {
	case g.flood && limit == 0:
		return -1
	case g.flood:
		return limit
	case limit == 0:
		return g.options.Plan.Shots()
	default:
		return min(limit, g.options.Plan.Shots())
	}
}

func (g *run) fire(ctx context.Context, fed chan error) (*Summary, error) {
	go g.recorder.run()
	go g.judge.run()
	ran := make(chan error, 1)
	go func() { ran <- g.group.Run() }()

	o := &g.options
	clock := g.group.Loops()[0].Clock
	now := time.Now()
	g.wall = now.UnixNano() - int64(clock())
	g.origin = clock() + lead
	for _, b := range g.all {
		b.loop.Post(b.start)
	}
	finished := make(chan struct{})
	go func() {
		g.barrels.Wait()
		close(finished)
	}()

	var cut time.Duration // when the run was cut short; 0: it was not
	stop := func() {
		if cut == 0 { // what comes due while the last are waited for is no more the run's
			cut = clock()
		}
		for _, b := range g.all {
			b.loop.Post(func() { b.stop(cut) })
		}
	}
	var err error
	interrupted := false
	done := ctx.Done()
	failed := g.recorder.failed
	overdue := time.After(lead + o.Plan.Duration() + 2*o.Timeout + time.Second)
	for running := true; running; {
		select {
		case <-finished:
			running = false
		case e := <-fed:
			fed = nil
			err = cmp.Or(err, e)
			if e != nil && !errors.Is(e, ErrRewind) {
				stop()
			}
		case e := <-failed:
			failed = nil
			err = cmp.Or(err, e)
			stop()
		case <-overdue: // each shot that there was has been fired, and been answered or given up
			err = cmp.Or(err, ErrLateAmmo)
			stop()
		case <-done:
			done, interrupted = nil, true
			stop()
		case e := <-ran: // all loops have ended because one has failed
			err = fmt.Errorf("the event loop failed: %w", e)
			running, ran = false, nil
		}
	}
	end := clock()
	close(g.quit)
	if fed != nil {
		select {
		case e := <-fed:
			err = cmp.Or(err, e)
		case <-time.After(sourceWait): // it waits for a pipe
		}
	}
	seconds, recordError := g.recorder.close()
	err = cmp.Or(err, recordError)
	quiet, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if ran != nil {
		_ = g.group.Shutdown(quiet) // what is still open has no answer outstanding
		<-ran
	}
	s := g.summary(seconds, cut, end, interrupted)
	g.addWrong(ctx, s)
	return s, err
}
