//go:build linux

package gun

import (
	"context"
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
	feeds := g.load(connections)
	fed, primed := g.feed(feeds)
	select {
	case <-primed:
	case err := <-fed:
		// All of the ammo fits into what waits to be fired, or is no good.
		if err != nil {
			group.Close()
			return nil, err
		}
		fed <- nil
	case <-ctx.Done():
		close(g.quit)
		group.Close()
		return nil, ctx.Err()
	}
	return g.fire(ctx, fed)
}

// load makes the barrels. In a flood they share what is fed, as one may be
// faster than the other; in a scheduled run each has its own part.
func (g *run) load(connections int) (feeds []chan load) {
	loops := g.group.Loops()
	for i, l := range loops {
		if i == 0 || !g.flood {
			feeds = append(feeds, make(chan load, beltsAhead))
		}
		share := (connections + len(loops) - 1 - i) / len(loops)
		g.all = append(g.all, newBarrel(g, l, feeds[len(feeds)-1], share))
	}
	g.barrels.Add(len(loops))
	return feeds
}

// feed runs the feeder. fed brings its end, and primed is closed when as much
// waits to be fired as may.
func (g *run) feed(feeds []chan load) (fed chan error, primed chan struct{}) {
	fed, primed = make(chan error, 1), make(chan struct{})
	turn, full := 0, false
	g.feeder = newFeeder(g.options.Source, g.shots(), g.options.Passes, func(l load) bool {
		to := feeds[turn]
		turn = (turn + 1) % len(feeds)
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
		for _, c := range feeds {
			close(c)
		}
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
	for running := true; running; {
		select {
		case <-finished:
			running = false
		case err = <-fed:
			if fed = nil; err != nil {
				stop()
			}
		case err = <-failed:
			failed = nil
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
			if err == nil {
				err = e
			}
		case <-time.After(sourceWait): // it waits for a pipe
		}
	}
	seconds, recordError := g.recorder.close()
	if err == nil {
		err = recordError
	}
	quiet, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if ran != nil {
		_ = g.group.Shutdown(quiet) // what is still open has no answer outstanding
		<-ran
	}
	s := g.summary(seconds, cut, end, interrupted)
	g.addWrong(s)
	return s, err
}
