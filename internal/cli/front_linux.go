package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"redoubt/internal/machine"
	"redoubt/internal/metrics"
	"redoubt/netloop"
	"redoubt/proxy"
	"redoubt/proxy/config"
)

// apiAddress is where the API listens behind the proxy: nobody else need know.
const apiAddress = "127.0.0.1:0"

// readFront reads --front, for an API at that address. warn hears of what is
// hardly meant.
func (c *serveCmd) readFront(api string, warn func(string)) (*config.Config, error) {
	loops := loopsFor(c.Workers, c.Wait == "busy", machine.AvailableProcessors())
	read, err := config.Read(c.Front, config.Options{API: api, Loops: loops, Warn: warn})
	if err != nil {
		return nil, badInput(fileError("--front", err))
	}
	if c.Listen != nil {
		if err := read.ReplaceListen(*c.Listen); err != nil {
			return nil, badInput(fmt.Errorf("--listen %w", err))
		}
	}
	if c.MaxConns > 0 {
		read.Limits.Connections = c.MaxConns
	}
	return read, nil
}

// frontEngine is an engine behind the proxy, in one process.
type frontEngine struct {
	engine
	proxy   *proxy.Proxy
	signals chan os.Signal
	taker   signalTaker
}

// startFront has the engine listen to the proxy alone, and the proxy to clients.
func startFront(inner engine, c *serveCmd, log io.Writer) (engine, []string, error) {
	api, err := inner.Listen(apiAddress)
	if err != nil {
		return nil, nil, cannotListen(err)
	}
	read, err := c.readFront(api, nil) // listens has warned
	if err != nil {
		return nil, nil, err
	}
	busy := c.Wait == "busy"
	loops := loopsFor(c.Workers, busy, machine.AvailableProcessors())
	roomBesides(2 * loops) // its own, and the API's
	log = &sharedWriter{w: log}
	warn := warnings(log, "redoubt serve")
	// A client, the proxy's connection to the API, and the API's end of it.
	p, err := proxy.New(read, proxy.Options{Workers: loops, Busy: busy, Files: 3, Warn: warn})
	if err != nil {
		return nil, nil, badInput(err)
	}
	f := &frontEngine{engine: inner, proxy: p, signals: make(chan os.Signal, 8), taker: signalTaker{
		who: "redoubt serve", file: c.Front, accessLog: read.Log, proxy: p, log: log,
		read: func() (*config.Config, error) { return c.readFront(api, warn) },
	}}
	signal.Notify(f.signals, syscall.SIGHUP, syscall.SIGUSR1)
	at, err := p.Listen()
	if err != nil {
		return nil, nil, cannotListen(err)
	}
	var addrs []string
	for _, a := range at {
		addrs = append(addrs, a.String())
	}
	return f, addrs, nil
}

// Serve runs both, until Shutdown or a failure of either.
func (f *frontEngine) Serve() error {
	ended := make(chan error, 2)
	go func() { ended <- f.engine.Serve() }()
	go func() { ended <- f.proxy.Run() }()
	defer func() { signal.Stop(f.signals); close(f.signals) }()
	go func() {
		for sig := range f.signals {
			f.taker.take(sig)
		}
	}()
	if err := <-ended; err != nil {
		return err
	}
	return <-ended
}

// Shutdown ends the proxy first: what it has under way needs the API.
func (f *frontEngine) Shutdown(ctx context.Context) error {
	err := f.proxy.Shutdown(ctx)
	if errors.Is(err, netloop.ErrCut) {
		err = errStillBusy
	}
	return errors.Join(err, f.engine.Shutdown(ctx))
}

// WriteMetrics tells of both.
func (f *frontEngine) WriteMetrics(m *metrics.Writer) {
	f.proxy.WriteMetrics(m)
	if counting, ok := f.engine.(interface{ WriteMetrics(*metrics.Writer) }); ok {
		counting.WriteMetrics(m)
	}
}
