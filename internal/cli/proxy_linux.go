package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"redoubt/handlers/admin"
	"redoubt/internal/machine"
	"redoubt/netloop"
	"redoubt/proxy"
	"redoubt/proxy/config"
)

// runningProxy is a proxy with what a process has besides: the admin listener
// and signals.
type runningProxy struct {
	drains  atomic.Int64 // how long, in nanoseconds, as the configuration in force says
	log     io.Writer
	proxy   *proxy.Proxy
	admin   *admin.Server // nil: none
	signals signalTaker
}

func runProxy(s *streams, c *proxyCmd, read *config.Config) error {
	// From here on SIGHUP ends nothing.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGUSR1)
	defer func() { signal.Stop(signals); close(signals) }()

	busy := c.Wait == "busy"
	log := &sharedWriter{w: s.err}
	warn := warnings(log, "redoubt proxy")
	if text := warningOf(c.Workers, busy); text != "" {
		warn(text)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	loops := loopsFor(c.Workers, busy, machine.AvailableProcessors())
	roomBesides(loops)
	p, err := proxy.New(read, proxy.Options{Workers: loops, Busy: busy, Warn: warn})
	if err != nil {
		return badInput(err)
	}
	r := &runningProxy{log: log, proxy: p, signals: signalTaker{
		who: "redoubt proxy", file: c.Config, accessLog: read.Log, proxy: p, log: log,
		read: func() (*config.Config, error) { return c.read(warn) },
	}}
	r.drains.Store(int64(read.Timeouts.Drain))
	addrs, err := p.Listen()
	if err != nil {
		return cannotListen(err) // the process ends, and with it the listeners that there are
	}
	if read.Admin != "" {
		r.admin = admin.New(admin.Options{Name: "redoubt proxy", Health: p.Healthy, Metrics: p.WriteMetrics})
		addr, err := r.admin.Listen(read.Admin)
		if err != nil {
			name := "--admin"
			if c.Admin == nil {
				name = c.Config + `: "admin"`
			}
			return adminCannotListen(name, read.Admin, err)
		}
		addrs = append(addrs, addr)
	}
	for _, addr := range addrs {
		if _, err := fmt.Fprintf(s.out, "listening on %s\n", addr); err != nil { // somebody waits for it
			return err
		}
	}
	return r.serve(s.ctx, signals)
}

// serve serves until ctx ends or serving fails, then drains.
func (r *runningProxy) serve(ctx context.Context, signals <-chan os.Signal) error {
	ran, failed := make(chan error, 1), make(chan error, 1)
	go func() { ran <- r.proxy.Run() }()
	if r.admin != nil {
		go func() {
			if err := r.admin.Serve(); err != nil {
				failed <- fmt.Errorf("admin listener: %w", err)
			}
		}()
	}
	// Beside: a file may be one that nobody writes, or on a disk that is away.
	go func() {
		for sig := range signals {
			if next := r.signals.take(sig); next != nil {
				r.drains.Store(int64(next.Timeouts.Drain))
			}
		}
	}()
	select {
	case err := <-ran:
		return errors.Join(err, r.drain())
	case err := <-failed:
		return errors.Join(err, r.drain(), <-ran)
	case <-ctx.Done():
		err := r.drain()
		if errors.Is(err, netloop.ErrCut) { // told to end, it has
			fmt.Fprintf(r.log, "%v\n", errStillBusy)
			err = nil
		}
		return errors.Join(err, <-ran) // the log may not have been written whole
	}
}

// drain waits for requests under way as long as the configuration says. The
// admin listener stays to the end: it tells that this is going on.
func (r *runningProxy) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.drains.Load()))
	defer cancel()
	err := r.proxy.Shutdown(ctx)
	if r.admin != nil {
		at, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = r.admin.Shutdown(at) // a profile under way is cut
	}
	return err
}

// sharedWriter takes one Write at a time.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sharedWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}
