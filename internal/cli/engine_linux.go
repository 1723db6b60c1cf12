package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"redoubt/handlers"
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
	if o.busy {
		wait = netloop.Busy
	}
	p := machine.AvailableProcessors()
	if o.workers == 0 {
		o.workers = p.Whole()
		if o.busy { // a processor for all that is not a loop
			o.workers = max(o.workers-1, 1)
		}
	}
	if o.busy {
		// A loop that waits busily never gives its place to other goroutines.
		if least := o.workers + 1; runtime.GOMAXPROCS(0) < least {
			runtime.GOMAXPROCS(least)
		}
		if text := busyWarning(o.workers, p); text != "" && o.warn != nil {
			o.warn(text)
		}
	}
	s, err := loopserve.New(api, loopserve.Options{
		Workers: o.workers, Wait: wait, MaxConns: o.limits.MaxConns,
		HeadTimeout: o.limits.HeadTimeout, BodyTimeout: o.limits.BodyTimeout,
		IdleTimeout: o.limits.IdleTimeout, WriteTimeout: o.limits.WriteTimeout, ShortHeads: o.short,
	})
	return loopEngine{s}, err
}

// busyWarning says where busy waiting does more harm than good.
func busyWarning(workers int, p machine.Processors) string {
	switch {
	case p.Quota > 0:
		return fmt.Sprintf("--wait busy uses up the CPU quota of %.3g processors, and then stands still for milliseconds: give it processors of its own (docker run --cpuset-cpus), or use --wait block", p.Quota)
	case workers >= p.Count:
		return fmt.Sprintf("--wait busy with %d workers takes all %d processors there are, and clients on this machine wait for their turn: use fewer workers, or --wait block", workers, p.Count)
	}
	return ""
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
