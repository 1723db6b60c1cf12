package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
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
	cmd    *proxyCmd
	drains atomic.Int64 // how long, in nanoseconds, as the configuration in force says
	log    io.Writer
	proxy  *proxy.Proxy
	admin  *admin.Server // nil: none
}

func runProxy(s *streams, c *proxyCmd, read *config.Config) error {
	// From here on SIGHUP ends nothing.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGUSR1)
	defer func() { signal.Stop(signals); close(signals) }()

	busy := c.Wait == "busy"
	log := &sharedWriter{w: s.err}
	if text := warningOf(c.Workers, busy); text != "" {
		fmt.Fprintf(log, "warning: %s\n", text)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	loops := loopsFor(c.Workers, busy, machine.AvailableProcessors())
	roomBesides(loops)
	p, err := proxy.New(read, proxy.Options{Workers: loops, Busy: busy, Warn: func(text string) { fmt.Fprintf(log, "warning: %s\n", text) }})
	if err != nil {
		return badInput(err)
	}
	r := &runningProxy{cmd: c, log: log, proxy: p}
	r.drains.Store(int64(read.Timeouts.Drain))
	addrs, err := p.Listen()
	if err != nil {
		return cannotListen(err) // the process ends, and with it the listeners that there are
	}
	if read.Admin != "" {
		r.admin = admin.New(admin.Options{Name: "redoubt proxy", Health: p.Healthy, Metrics: p.WriteMetrics})
		addr, err := r.admin.Listen(read.Admin)
		if err != nil {
			return badInput(fmt.Errorf("--admin %s: %s: use HOST:PORT, or :PORT for this machine only", read.Admin, strings.TrimPrefix(err.Error(), "listen ")))
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
			r.take(sig)
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

// take does what a signal asks for.
func (r *runningProxy) take(sig os.Signal) {
	if next := takeSignal(sig, "redoubt proxy", r.cmd.Config, r.proxy, r.log, r.cmd.read); next != nil {
		r.drains.Store(int64(next.Timeouts.Drain))
	}
}

// readTime is how long a file may take to be read again. Other signals wait for it.
const readTime = 10 * time.Second

// takeSignal opens the log again or reads the file again, says what came of it,
// and returns a configuration that is newly in force.
func takeSignal(sig os.Signal, who, file string, p *proxy.Proxy, log io.Writer, read func() (*config.Config, error)) *config.Config {
	if sig == syscall.SIGUSR1 {
		if err := p.ReopenLog(); err != nil {
			fmt.Fprintf(log, "%s: SIGUSR1: %v\n", who, err)
		}
		return nil
	}
	if file == "" {
		fmt.Fprintf(log, "%s: SIGHUP: there is no file to read again; start with --config FILE\n", who)
		return nil
	}
	limited, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	next, err := await(limited, read)
	if limited.Err() != nil {
		err = fmt.Errorf("%s cannot be read within %v", file, readTime)
	}
	if err == nil {
		err = p.Reload(next)
	}
	if err != nil {
		fmt.Fprintf(log, "%s: SIGHUP: the old configuration stays: %v\n", who, err)
		return nil
	}
	fmt.Fprintf(log, "%s: SIGHUP: %s is in force, %s\n", who, file, summary(next))
	return next
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
