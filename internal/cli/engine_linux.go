package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"redoubt/handlers"
	"redoubt/handlers/admin"
	"redoubt/internal/loopserve"
	"redoubt/internal/machine"
	"redoubt/netloop"
)

const (
	defaultEngine = "netloop"
	hasNetloop    = true
)

type loopEngine struct{ *loopserve.Server }

func newLoopEngine(api *handlers.API, o engineOptions) (engine, error) {
	wait := netloop.Block
	loops := loopsFor(o.workers, o.busy, machine.AvailableProcessors())
	if o.busy {
		wait = netloop.Busy
	}
	roomBesides(loops)
	s, err := loopserve.New(api, loopserve.Options{
		Workers: loops, Wait: wait, MaxConns: o.limits.MaxConns,
		HeadTimeout: o.limits.HeadTimeout, BodyTimeout: o.limits.BodyTimeout,
		IdleTimeout: o.limits.IdleTimeout, WriteTimeout: o.limits.WriteTimeout, ShortHeads: o.short,
		Metrics: o.metrics, KeepFiles: admin.MostClients,
	})
	return loopEngine{s}, err
}

// roomBesides has the scheduler run other goroutines while all loops run: a busy
// loop never gives its place to one, and one that naps not for milliseconds..
func roomBesides(loops int) {
	if least := loops + 1; runtime.GOMAXPROCS(0) < least {
		runtime.GOMAXPROCS(least)
	}
}

// busyWarning says where busy waiting does more harm than good.
func busyWarning(workers int, p machine.Processors) string {
	loops := loopsFor(workers, true, p)
	switch {
	case p.Quota > 0:
		return fmt.Sprintf("--wait busy uses up the CPU quota of %.3g, and then stands still for milliseconds: give it processors of its own (docker run --cpuset-cpus), or use --wait block", p.Quota)
	case p.Count == 1:
		return "--wait busy takes the only processor there is, and all else waits for its turn: use --wait block"
	case loops >= p.Count:
		return fmt.Sprintf("--wait busy with --workers %d takes all %d processors there are, and all else waits for its turn: use fewer workers, or --wait block", loops, p.Count)
	}
	return ""
}

func warningOf(workers int, busy bool) string {
	if !busy {
		return ""
	}
	return busyWarning(workers, machine.AvailableProcessors())
}

func (e loopEngine) Listen(addr string) (string, error) {
	at, err := e.Server.Listen(addr)
	return at.String(), err
}

func (e loopEngine) Shutdown(ctx context.Context) error {
	err := e.Server.Shutdown(ctx)
	if errors.Is(err, netloop.ErrCut) {
		return errStillBusy
	}
	return err
}
