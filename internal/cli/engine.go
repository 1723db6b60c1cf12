package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"redoubt/handlers"
	"redoubt/internal/fastserve"
	"redoubt/internal/machine"
)

// An engine speaks HTTP for the API.
type engine interface {
	// Listen opens an address and returns where it listens.
	Listen(addr string) (string, error)
	// Serve answers until Shutdown or a failure.
	Serve() error
	// Shutdown stops listening and waits, until ctx ends, for requests under
	// way: errStillBusy if they do not end in time.
	Shutdown(ctx context.Context) error
}

// errStillBusy says that requests were cut, or left running, at the end of
// the time to drain.
var errStillBusy = errors.New("some connections were still busy when the time to drain was over")

// engineOptions are what an engine is made of.
type engineOptions struct {
	workers int // 0: as many as the machine has room for
	busy    bool
	short   bool // heads
	limits  serverFlags
	metrics bool // requests are counted and timed, if the engine can
}

// checkEngine refuses what newEngine could not make.
func checkEngine(name string, busy bool) error {
	switch {
	case name == "netloop" && !hasNetloop:
		return badInput(errors.New("--engine netloop needs Linux; --engine fasthttp runs anywhere"))
	case name != "netloop" && busy:
		return badInput(errors.New("--wait busy needs --engine netloop"))
	}
	return nil
}

// newEngine returns the engine of that name.
func newEngine(name string, api *handlers.API, o engineOptions) (engine, error) {
	if name == "netloop" {
		return newLoopEngine(api, o)
	}
	if o.workers > 0 {
		runtime.GOMAXPROCS(o.workers)
	}
	return &fastEngine{server: fastserve.New(api, fastserve.Options{
		MaxConns: o.limits.MaxConns, HeadTimeout: o.limits.HeadTimeout, BodyTimeout: o.limits.BodyTimeout,
		IdleTimeout: o.limits.IdleTimeout, WriteTimeout: o.limits.WriteTimeout, ShortHeads: o.short,
	})}, nil
}

// loopsFor is how many loops there will be: as many as asked for, or by the
// machine.
func loopsFor(workers int, busy bool, p machine.Processors) int {
	switch {
	case workers > 0:
		return workers
	case busy: // a processor for all that is not a loop
		return max(p.Whole()-1, 1)
	}
	return p.Whole()
}

type fastEngine struct {
	server   *fastserve.Server
	listener net.Listener
}

func (e *fastEngine) Listen(addr string) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	e.listener = l
	return l.Addr().String(), nil
}

func (e *fastEngine) Serve() error { return e.server.Serve(e.listener) }

func (e *fastEngine) Shutdown(ctx context.Context) error {
	err := e.server.Shutdown(ctx)
	if errors.Is(err, fastserve.ErrBusy) {
		return errStillBusy
	}
	return err
}

// serveUntilDone serves until ctx ends or serving fails, then drains. Only
// after no error nobody uses the API any more.
func serveUntilDone(ctx context.Context, e engine, drain time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- e.Serve() }()
	select {
	case err := <-failed:
		draining, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		return errors.Join(err, e.Shutdown(draining))
	case <-ctx.Done():
	}
	draining, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if err := e.Shutdown(draining); err != nil {
		return err
	}
	return <-failed
}

// tryListen tells early what listening would say. A port that is not open
// while the data loads is refused, not left waiting.
func tryListen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return cannotListen(err)
	}
	return l.Close()
}

// cannotListen shows the way out.
func cannotListen(err error) error {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		err = fmt.Errorf("%w: raise the limit with ulimit -n", err)
	case errors.Is(err, os.ErrPermission):
		err = fmt.Errorf("%w: ports below 1024 need root or CAP_NET_BIND_SERVICE; choose another with --listen :8080", err)
	default:
		err = fmt.Errorf("%w: choose another address with --listen HOST:PORT, or :PORT for all addresses", err)
	}
	return badInput(errors.New(strings.TrimPrefix(err.Error(), "listen ")))
}
