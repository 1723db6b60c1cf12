package cli

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"redoubt/handlers"
)

// serverFlags are the limits that every server of ours has.
type serverFlags struct {
	MaxConns     int           `default:"0" placeholder:"N" help:"Connections at a time; 0 means as many as there are file descriptors for. More than that wait."`
	HeadTimeout  time.Duration `default:"10s" help:"How long a request's head may take; 0 is no limit, as for all times here."`
	BodyTimeout  time.Duration `default:"30s" help:"How long a request's body may take."`
	IdleTimeout  time.Duration `default:"75s" help:"How long a connection may stay without a request."`
	WriteTimeout time.Duration `default:"30s" help:"How long a client may take for the next 64 KB of an answer, or the rest of it (fasthttp: for all of it)."`
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

type serveCmd struct {
	Listen     string     `default:":80" placeholder:"ADDR" help:"Where to listen: HOST:PORT or :PORT (${default}). Port 0 picks a free one."`
	Data       string     `default:"/tmp/data" placeholder:"DIR" help:"Folder with data.zip, or with users_*.json, locations_*.json and visits_*.json, and options.txt (${default})."`
	Workers    int        `default:"0" placeholder:"N" help:"Event loops, one thread each; 0 means one for each processor, less one with --wait busy. With fasthttp: processors to use."`
	Wait       string     `default:"auto" enum:"auto,block,busy" help:"What a loop does while nothing happens: sleep (block), or ask for events all the time (busy), which answers some 25 µs sooner and needs a processor for each loop and one more, and no CPU quota. auto is block, for now."`
	Engine     string     `default:"${engine}" enum:"netloop,fasthttp" help:"HTTP engine: our own event loops (netloop, Linux only), or fasthttp (${default})."`
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
	busy := c.Wait == "busy"
	if err := checkEngine(c.Engine, busy); err != nil {
		return err
	}
	if text := warningOf(c.Workers, busy); text != "" {
		fmt.Fprintf(s.err, "warning: %s\n", text)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // engines may change it
	if err := tryListen(c.Listen); err != nil {     // before the long part, not after it
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

	e, err := newEngine(c.Engine, handlers.New(st), engineOptions{
		workers: c.Workers, busy: busy, short: c.ShortHeads, limits: c.serverFlags,
	})
	if err != nil {
		return errors.Join(err, st.Close())
	}
	addr, err := e.Listen(c.Listen)
	if err != nil {
		return errors.Join(cannotListen(err), st.Close())
	}
	if _, err := fmt.Fprintf(s.out, "listening on %s\n", addr); err != nil { // somebody waits for it
		return err // the process ends, and with it the listener
	}
	switch err = serveUntilDone(s.ctx, e, c.Drain); {
	case err == nil:
		return st.Close()
	case errors.Is(err, errStillBusy) && s.ctx.Err() != nil: // told to end, it has
		fmt.Fprintf(s.err, "%v\n", err)
		err = nil
	}
	return err // the store stays: a late request may still read it
}
