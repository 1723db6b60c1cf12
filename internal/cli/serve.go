package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"redoubt/handlers"
	"redoubt/proxy/config"
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
	Listen     *string    `placeholder:"ADDR" help:"Where to listen: HOST:PORT or :PORT (:80, or what --front says). Port 0 picks a free one."`
	Data       string     `default:"/tmp/data" placeholder:"DIR" help:"Folder with data.zip, or with users_*.json, locations_*.json and visits_*.json, and options.txt (${default})."`
	Workers    int        `default:"0" placeholder:"N" help:"Event loops, one thread each; 0 means one for each processor, less one with --wait busy. With fasthttp: processors to use."`
	Wait       string     `default:"auto" enum:"auto,block,busy" help:"What a loop does while nothing happens: sleep (block), or ask for events all the time (busy), which answers some 25 µs sooner and needs a processor for each loop and one more, and no CPU quota. auto is block, for now."`
	Engine     string     `default:"${engine}" enum:"netloop,fasthttp" help:"HTTP engine: our own event loops (netloop, Linux only), or fasthttp (${default})."`
	Bodies     bodiesFlag `default:"auto" enum:"auto,ready,lean" help:"Keep every record rendered (ready), format each answer (lean), or take ready where it fits in half the memory there is (auto)."`
	ShortHeads bool       `help:"Send no Date: a few bytes less in each answer, as contests reward."`
	Front      string     `placeholder:"FILE" help:"Put the filter proxy before the API, in this process: a file as for redoubt proxy, in which the API is the upstream called api, and gets everything if the file has no routes."`
	Check      bool       `help:"With --front: read that file, say whether it is fine and what it does, and end: with 0, or with 2 if it is not."`
	Admin      string     `placeholder:"ADDR" help:"Tell of health, metrics and profiles on this address: HOST:PORT, or :PORT for this machine only. It has no password. Without it there is none of that."`

	serverFlags
}

// Help is shown below the flags' line.
func (*serveCmd) Help() string {
	return `Loads the data set into memory and answers the Travels API of HighloadCup 2017 until SIGTERM or SIGINT.

  redoubt gen --out set                             make a data set
  redoubt serve --listen :8080 --data set/data      serve it
  curl 'localhost:8080/users/1/visits?toDistance=50'
  redoubt serve --front front.json --check          is the proxy's file fine? exit code 0, or 2 with the place

When it is ready it prints a line for each listener, "listening on HOST:PORT": first this, then --admin.`
}

// maxWorkers is more than any machine has processors.
const maxWorkers = 1024

// listens is where clients will come. A wrong file of --front is found out here,
// before the data is loaded.
func (c *serveCmd) listens(warn func(string)) ([]string, error) {
	switch {
	case c.Front != "":
		front, err := c.readFront(anyAPI, warn)
		if err != nil {
			return nil, err
		}
		return front.Listen, nil
	case c.Listen != nil:
		return []string{*c.Listen}, nil
	}
	return []string{":80"}, nil
}

// anyAPI stands for the API in a file of --front as long as it does not listen.
const anyAPI = "127.0.0.1:1"

// check reads the file of --front alone.
func (c *serveCmd) check(s *streams) error {
	if c.Front == "" {
		return badInput(errors.New("--check reads the file of --front: give --front FILE"))
	}
	read, err := await(s.ctx, func() (*config.Config, error) { return c.readFront(anyAPI, warnings(s.err, "redoubt serve")) })
	if err != nil {
		return err
	}
	api := 0 // routes to it
	for _, r := range read.Routes {
		if r.Upstream.Name == "api" {
			api++
		}
	}
	fmt.Fprintf(s.out, "%s: fine, %s; it listens on %s; routes to the API: %d\n", c.Front, summary(read), strings.Join(read.Listen, " and "), api)
	return nil
}

func (c *serveCmd) Run(s *streams) error {
	if c.Workers < 0 || c.Workers > maxWorkers {
		return badInput(fmt.Errorf("--workers %d: use 1 to %d, or 0 for all processors", c.Workers, maxWorkers))
	}
	if c.Listen != nil && *c.Listen == "" {
		return badInput(errors.New("--listen is empty: use HOST:PORT, or :PORT for all addresses"))
	}
	busy := c.Wait == "busy"
	if err := checkEngine(c.Engine, busy); err != nil {
		return err
	}
	if c.Check {
		return c.check(s)
	}
	warn := warnings(s.err, "redoubt serve")
	if text := warningOf(c.Workers, busy); text != "" {
		warn(text)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // engines may change it
	listen, err := c.listens(warn)
	if err != nil {
		return err
	}
	for _, addr := range listen {
		if err := tryListen(addr); err != nil { // before the long part, not after it
			return err
		}
	}
	admin, err := startAdmin(c.Admin)
	if err != nil {
		return err
	}
	defer admin.stop()
	st, err := loadStore(s.ctx, c.Data, c.Bodies, s.err)
	if s.ctx.Err() != nil { // a server that is told to end has not failed
		fmt.Fprintln(s.err, "stopped before the data was loaded")
		return nil
	}
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // what loading needed

	limits := c.serverFlags
	if c.Front != "" {
		limits.MaxConns = 0 // those of the proxy to the API are no clients
	}
	e, err := newEngine(c.Engine, handlers.New(st), engineOptions{
		workers: c.Workers, busy: busy, short: c.ShortHeads, limits: limits, metrics: admin != nil,
	})
	if err != nil {
		return errors.Join(err, st.Close())
	}
	addrs := listen
	if c.Front != "" {
		e, addrs, err = startFront(e, c, s.err)
	} else if addrs[0], err = e.Listen(listen[0]); err != nil {
		err = cannotListen(err)
	}
	if err != nil {
		return errors.Join(err, st.Close())
	}
	admin.tell(nil, metricsOf(e, st))
	defer context.AfterFunc(s.ctx, admin.drain)()
	lines := ""
	for _, addr := range addrs {
		lines += fmt.Sprintf("listening on %s\n", addr)
	}
	if admin != nil {
		lines += fmt.Sprintf("listening on %s\n", admin.addr)
	}
	if _, err := io.WriteString(s.out, lines); err != nil { // somebody waits for it
		return err // the process ends, and with it the listeners
	}
	err = serveUntilDone(s.ctx, e, c.Drain)
	watching := admin.stop()
	if watching != nil {
		fmt.Fprintf(s.err, "--admin %s: %v\n", c.Admin, watching)
	}
	switch {
	case err == nil && watching == nil:
		return st.Close()
	case errors.Is(err, errStillBusy) && s.ctx.Err() != nil: // told to end, it has
		fmt.Fprintf(s.err, "%v\n", err)
		err = nil
	}
	return err // the store stays: a late request may still read it
}
