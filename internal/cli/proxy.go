package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	"redoubt/internal/machine"
	"redoubt/proxy/config"
)

type proxyCmd struct {
	Config  string   `placeholder:"FILE" help:"The configuration: JSON with comments. --schema prints all keys."`
	Listen  string   `placeholder:"ADDR" help:"Where to listen: HOST:PORT or :PORT. Port 0 picks a free one."`
	To      string   `placeholder:"ADDR" help:"Instead of a file: the server that gets all requests, HOST:PORT or http://HOST:PORT."`
	Replace replaces `sep:"none" placeholder:"s/RE/TEXT/gi" help:"With --to: a rule for the bodies of answers; may be repeated. Any delimiter will do for /."`
	Types   []string `placeholder:"TYPE" help:"With --replace: media types of bodies that it applies to; text/html unless said."`
	Check   bool     `help:"Read the configuration, say whether it is fine, and end: with 0, or with 2 if it is not."`
	Nginx   string   `placeholder:"FILE" help:"Read a configuration of nginx, print one that does the same, and end; what cannot be carried over is told on standard error."`
	Schema  bool     `help:"Print a configuration of all keys with their defaults and what they mean, and end."`
	Admin   *string  `placeholder:"ADDR" help:"Where to listen for health, metrics and profiles, such as 127.0.0.1:9180. Nobody is asked for a password there."`
	Workers int      `default:"0" placeholder:"N" help:"Event loops, one thread each; 0 means one for each processor, less one with --wait busy."`
	Wait    string   `default:"auto" enum:"auto,block,busy" help:"What a loop does while nothing happens: sleep (block), or ask for events all the time (busy). auto is block, for now."`

	proxyLimits
}

// proxyLimits are those of the configuration that may be given as for serve.
type proxyLimits struct {
	MaxConns     *int           `placeholder:"N" help:"Clients' connections at a time; 0 means as many as there are file descriptors for. More than that wait."`
	HeadTimeout  *time.Duration `placeholder:"TIME" help:"How long a request's head may take (10s); 0s is no limit, as for all times here."`
	BodyTimeout  *time.Duration `placeholder:"TIME" help:"How long a request's body may take from one part to the next (30s)."`
	IdleTimeout  *time.Duration `placeholder:"TIME" help:"How long a client's connection may stay without a request, and a server's answer without the next part of its body (75s)."`
	WriteTimeout *time.Duration `placeholder:"TIME" help:"How long a client may take for the next 64 KB of an answer, or the rest of it (30s)."`
	Drain        *time.Duration `placeholder:"TIME" help:"How long requests under way may take after SIGTERM or SIGINT (10s)."`
}

// Help is shown below the flags' line.
func (*proxyCmd) Help() string {
	return `A filtering reverse proxy: decides who is let in, rewrites headers and URLs, and sends requests on to the servers of a route.

  redoubt proxy --listen :8080 --to 127.0.0.1:9000              all requests to one server
  redoubt proxy --listen :8080 --to 127.0.0.1:9000 --replace 's/Acme/Emca/g'   ... and other text in its pages
  redoubt proxy --schema > proxy.json                           a file to begin with; it has all keys
  redoubt proxy --config proxy.json --check                     is it fine? exit code 0, or 2 with the place
  redoubt proxy --nginx nginx.conf > proxy.json                 one that does what nginx does, as far as it can
  redoubt proxy --config proxy.json --admin 127.0.0.1:9180      as the file says, watched at http://127.0.0.1:9180/metrics

Flags that are given win over the file. When it is ready it prints a line "listening on HOST:PORT" for each listener, the admin
listener's last. SIGHUP reads the file again: the new one is in force as a whole, or, if anything is wrong with it, the old one
stays, and no connection is dropped. SIGUSR1 opens the access log again. SIGTERM and SIGINT end it once requests under way have
been answered.

Exits with 2 for wrong flags or a wrong file, with file, line and column. docs/proxy.md has the configuration key by key.`
}

// garbage is how much of it, in per cent of what is in use, the proxy lets come together.
// On a request's way there is none; with 100, which is usual, a thousand routes with thirty
// rules each take 321 MB at their peak rather than 229.
const garbage = 30

func (c *proxyCmd) Run(s *streams) error {
	if c.Nginx != "" {
		return convertNginx(s, c.Nginx)
	}
	if c.Schema {
		s.out.Write(config.Schema()) // out remembers what fails
		return nil
	}
	if c.Workers < 0 || c.Workers > maxWorkers {
		return badInput(fmt.Errorf("--workers %d: use 1 to %d, or 0 for all processors", c.Workers, maxWorkers))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	read, err := await(s.ctx, func() (*config.Config, error) { return c.read(warnings(s.err, "redoubt proxy")) })
	if err != nil {
		return err
	}
	if c.Check {
		fmt.Fprintf(s.out, "%s: fine, %s\n", c.name(), summary(read))
		return nil
	}
	return runProxy(s, c, read)
}

// await reads a configuration, unless ctx ends before: the file may be a pipe into
// which nobody writes.
func await(ctx context.Context, read func() (*config.Config, error)) (*config.Config, error) {
	type result struct {
		config *config.Config
		err    error
	}
	done := make(chan result, 1)
	go func() {
		c, err := read()
		done <- result{c, badInput(err)}
	}()
	select {
	case r := <-done:
		return r.config, r.err
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

// name is what the configuration comes from.
func (c *proxyCmd) name() string {
	if c.Config == "" {
		return c.Listen + " to " + c.To
	}
	return c.Config
}

// summary counts what there is.
func summary(c *config.Config) string {
	count := func(n int, what string) string {
		if n != 1 {
			what += "s"
		}
		return fmt.Sprint(n, " ", what)
	}
	return count(len(c.Routes), "route") + ", " + count(len(c.Upstreams), "upstream")
}

// read reads the configuration, from the file or the flags in its place, and
// puts in what flags say. warn hears of what is hardly meant.
func (c *proxyCmd) read(warn func(string)) (read *config.Config, err error) {
	switch {
	case c.Config != "" && c.To != "":
		return nil, errors.New("--config and --to do not go together: the file says where requests go")
	case c.Config != "" && len(c.Replace)+len(c.Types) > 0:
		return nil, errors.New("--config and --replace do not go together: write the rules into the file, as \"body\": {\"rules\": [...]}")
	case c.Config != "":
		loops := loopsFor(c.Workers, c.Wait == "busy", machine.AvailableProcessors())
		if read, err = config.Read(c.Config, config.Options{Loops: loops, Warn: warn}); err != nil {
			return nil, fileError("--config", err)
		}
		if c.Listen != "" {
			if err := read.ReplaceListen(c.Listen); err != nil {
				return nil, fmt.Errorf("--listen %w", err)
			}
		}
	case c.Listen == "" && c.To == "":
		return nil, errors.New("nothing to do: give --config FILE, or --listen ADDR --to ADDR; --schema prints a file to begin with")
	case c.To == "":
		return nil, errors.New("--to is missing: the server that gets the requests, HOST:PORT")
	case c.Listen == "":
		return nil, errors.New("--listen is missing: where clients connect, HOST:PORT or :PORT")
	case len(c.Types) > 0 && len(c.Replace) == 0:
		return nil, errors.New("--types says where --replace applies: give --replace 's/RE/TEXT/g' as well")
	default:
		rules, err := c.Replace.rules()
		if err != nil {
			return nil, err
		}
		if read, err = config.Simple(c.Listen, c.To, c.Types, rules); err != nil {
			return nil, err
		}
	}
	if c.Admin != nil {
		if err := read.ReplaceAdmin(*c.Admin); err != nil {
			return nil, fmt.Errorf("--admin %w", err)
		}
	}
	return read, c.override(read)
}

// warnings writes what an operator should know, a line each.
func warnings(w io.Writer, who string) func(text string) {
	return func(text string) { fmt.Fprintf(w, "%s: warning: %s\n", who, text) }
}

// fileError names the flag where the file as such is wrong. What is in it has a
// place.
func fileError(flag string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return err
}

// override puts in the limits that were given.
func (l *proxyLimits) override(c *config.Config) error {
	if l.MaxConns != nil {
		if *l.MaxConns < 0 {
			return fmt.Errorf("--max-conns %d: use 1 or more, or 0 for as many as there are file descriptors for", *l.MaxConns)
		}
		c.Limits.Connections = *l.MaxConns
	}
	for _, t := range []struct {
		name  string
		given *time.Duration
		to    *time.Duration
	}{
		{"head-timeout", l.HeadTimeout, &c.Timeouts.Head}, {"body-timeout", l.BodyTimeout, &c.Timeouts.Body},
		{"idle-timeout", l.IdleTimeout, &c.Timeouts.Idle}, {"write-timeout", l.WriteTimeout, &c.Timeouts.Write}, {"drain", l.Drain, &c.Timeouts.Drain},
	} {
		if t.given == nil {
			continue
		}
		if *t.given < 0 {
			return fmt.Errorf("--%s %v: a time cannot be negative", t.name, *t.given)
		}
		*t.to = *t.given
	}
	return nil
}
