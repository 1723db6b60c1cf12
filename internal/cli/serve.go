package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"redoubt/handlers"
	"redoubt/internal/fastserve"
)

// serverFlags are the limits that every server of ours has.
type serverFlags struct {
	MaxConns     int           `default:"0" placeholder:"N" help:"Connections at a time; 0 means as many as there are file descriptors for. More than that wait."`
	HeadTimeout  time.Duration `default:"10s" help:"How long a request's head may take."`
	BodyTimeout  time.Duration `default:"30s" help:"How long a request's body may take."`
	IdleTimeout  time.Duration `default:"75s" help:"How long a connection may stay without a request."`
	WriteTimeout time.Duration `default:"30s" help:"How long an answer may take to send."`
	Drain        time.Duration `default:"10s" help:"How long requests under way may take after SIGTERM or SIGINT."`
}

// Validate is called by kong on a parsed command line.
func (f *serverFlags) Validate() error {
	if f.MaxConns < 0 {
		return fmt.Errorf("--max-conns %d: use 1 or more, or 0 for as many as there are file descriptors for", f.MaxConns)
	}
	for name, t := range map[string]time.Duration{"head-timeout": f.HeadTimeout, "body-timeout": f.BodyTimeout,
		"idle-timeout": f.IdleTimeout, "write-timeout": f.WriteTimeout, "drain": f.Drain} {
		if t < 0 {
			return fmt.Errorf("--%s %v: a time cannot be negative", name, t)
		}
	}
	return nil
}

func (f *serverFlags) options() fastserve.Options {
	return fastserve.Options{
		MaxConns: f.MaxConns, HeadTimeout: f.HeadTimeout, BodyTimeout: f.BodyTimeout,
		IdleTimeout: f.IdleTimeout, WriteTimeout: f.WriteTimeout,
	}
}

type serveCmd struct {
	Listen     string     `default:":80" placeholder:"ADDR" help:"Where to listen: HOST:PORT or :PORT (${default}). Port 0 picks a free one."`
	Data       string     `default:"/tmp/data" placeholder:"DIR" help:"Folder with data.zip, or with users_*.json, locations_*.json and visits_*.json, and options.txt (${default})."`
	Workers    int        `default:"0" placeholder:"N" help:"Processors to use; 0 means all."`
	Engine     string     `default:"fasthttp" enum:"fasthttp" help:"HTTP engine: ${enum}."`
	Bodies     bodiesFlag `default:"auto" enum:"auto,ready,lean" help:"Keep every record rendered (ready), format each answer (lean), or take ready where it fits in half the memory there is (auto)."`
	ShortHeads bool       `help:"Send no Date: a few bytes less in each answer, as contests reward."`

	serverFlags
}

// Help is shown below the flags' line.
func (*serveCmd) Help() string {
	return `Loads the data set into memory and answers the Travels API of HighloadCup 2017 until SIGTERM or SIGINT.

  redoubt gen --out set                             make a data set
  redoubt serve --listen :8080 --data set/data      serve it
  curl 'localhost:8080/users/1/visits?toDistance=50'

When it is ready it prints one line, "listening on HOST:PORT".`
}

// maxWorkers is more than any machine has processors.
const maxWorkers = 1024

func (c *serveCmd) Run(s *streams) error {
	if c.Workers < 0 || c.Workers > maxWorkers {
		return badInput(fmt.Errorf("--workers %d: use 1 to %d, or 0 for all processors", c.Workers, maxWorkers))
	}
	if c.Listen == "" {
		return badInput(errors.New("--listen is empty: use HOST:PORT, or :PORT for all addresses"))
	}
	if c.Workers > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Workers))
	}
	if err := tryListen(c.Listen); err != nil { // before the long part, not after it
		return err
	}
	st, err := loadStore(s.ctx, c.Data, c.Bodies, s.err)
	if s.ctx.Err() != nil { // a server that is told to end has not failed
		fmt.Fprintln(s.err, "stopped before the data was loaded")
		return nil
	}
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // what loading needed

	listener, err := listen(c.Listen)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	options := c.options()
	options.ShortHeads = c.ShortHeads
	server := fastserve.New(handlers.New(st), options)
	if _, err := fmt.Fprintf(s.out, "listening on %s\n", listener.Addr()); err != nil { // somebody waits for it
		return errors.Join(err, listener.Close(), st.Close())
	}
	switch err = serveUntilDone(s.ctx, server, listener, c.Drain); {
	case err == nil:
		return st.Close()
	case errors.Is(err, fastserve.ErrBusy) && s.ctx.Err() != nil: // told to end, it has
		fmt.Fprintf(s.err, "%v\n", err)
		err = nil
	}
	return err // the store stays: a late request may still read it
}

// serveUntilDone serves until ctx ends or accepting fails, then drains. Only
// after no error nobody uses the API any more.
func serveUntilDone(ctx context.Context, server *fastserve.Server, l net.Listener, drain time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		draining, cancel := context.WithTimeout(context.Background(), drain)
		defer cancel()
		return errors.Join(err, server.Shutdown(draining))
	case <-ctx.Done():
	}
	draining, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	if err := server.Shutdown(draining); err != nil {
		return err
	}
	return <-failed
}

// tryListen tells early what listen would say. A port that is not open while
// the data loads is refused, not left waiting.
func tryListen(addr string) error {
	l, err := listen(addr)
	if err != nil {
		return err
	}
	return l.Close()
}

func listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, os.ErrPermission):
		err = fmt.Errorf("%w: ports below 1024 need root or CAP_NET_BIND_SERVICE; choose another with --listen :8080", err)
	default:
		err = fmt.Errorf("%w: choose another address with --listen HOST:PORT, or :PORT for all addresses", err)
	}
	return nil, badInput(errors.New(strings.TrimPrefix(err.Error(), "listen ")))
}
