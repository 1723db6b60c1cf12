package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"redoubt/ammo"
	"redoubt/ammo/gun"
	"redoubt/ammo/schedule"
	"redoubt/internal/machine"
)

type fireCmd struct {
	Target string `required:"" placeholder:"HOST:PORT" help:"Whom to fire at."`
	Ammo   string `required:"" placeholder:"FILE" help:"Requests: Yandex.Tank's request-style ammo, plain or gzip; - is standard input."`
	Load   string `required:"" placeholder:"LOAD" help:"When to fire, such as 'const(500,30s)' or 'flood(64,10s)'; see above."`

	Instances int           `placeholder:"N" help:"Connections at a time at most (1000). A flood says its own."`
	Pipeline  int           `default:"1" placeholder:"N" help:"Shots in flight on each connection of a flood (${default})."`
	Loop      int64         `default:"0" placeholder:"N" help:"Fire the ammo this many times at most; 0 is as often as the load takes."`
	Limit     int64         `default:"0" placeholder:"N" help:"Fire this many shots at most; 0 is no limit."`
	Timeout   time.Duration `default:"2s" placeholder:"TIME" help:"Give up a shot after this time (${default})."`
	Workers   int           `default:"1" placeholder:"N" help:"Threads that fire (${default})."`
	Busy      bool          `help:"Never sleep: times are right to the microsecond, for a whole processor a worker."`
	Wait      time.Duration `default:"0" placeholder:"TIME" help:"How long to wait for a server that is still starting, such as 10s. 0 does not wait."`

	Answers string   `placeholder:"FILE" help:"Expected answers, a line for each record of the ammo: every answer is compared."`
	Out     string   `placeholder:"DIR" help:"Write summary.json, hdr.txt and phout.txt to this folder."`
	EnumTag bool     `name:"enum-ammo" help:"Tags in phout.txt are numbered, TAG#N."`
	Fail    []string `sep:"none" placeholder:"LIMIT" help:"Exit with 1 if this is so, such as 'p99>5ms' or 'errors>0.1%'. May be repeated."`
	PID     int      `placeholder:"PID" help:"The server's process on this machine: report its CPU time and memory."`
	JSON    bool     `help:"Print the summary as JSON."`
}

// Help is shown above the flags.
func (*fireCmd) Help() string {
	return `Fires each shot at its planned instant, whatever the server does, and counts what comes of it. Latency is measured from
the planned instant, so that a server that stalls pays for all who would have waited, and from the sent one.

LOAD is one or more of these, one after another:
  const(RATE,TIME)             so many shots a second
  line(FROM,TO,TIME)           a rate that changes evenly
  step(FROM,TO,BY,TIME)        a rate that climbs, or falls, by so much; TIME for each step
  pause(TIME)                  nothing
or a flood, where each answer brings the next shot on its connection:
  flood(CONNECTIONS,TIME)
Rates may be fractions; times are such as 90s, 1h30m, 1.5s or 500ms.

LIMIT: ` + gun.LimitHelp + `.

  redoubt fire --target localhost:8080 --ammo set/ammo/phase_1_get.ammo --load 'line(1,2000,30s) const(2000,30s)' --fail 'errors>0'
  redoubt fire --target localhost:8080 --ammo set/ammo/phase_1_get.ammo --load 'flood(64,10s)' --out run-1

Exits with 0 if the run came to its end, 1 if it was interrupted, not one shot was answered, answers
were wrong, or a LIMIT was broken, 2 for wrong flags or ammo.`
}

func (c *fireCmd) Run(s *streams) error {
	plan, limits, err := c.parse()
	if err != nil {
		return badInput(err)
	}
	ctx := s.ctx
	if !signal.Ignored(syscall.SIGHUP) { // a terminal that goes away must not cost the report
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	source, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer source.Close()
	options := gun.Options{
		Source: source, Plan: plan, Passes: c.Loop, Limit: c.Limit, Instances: c.Instances, Pipeline: c.Pipeline,
		Loops: c.Workers, Busy: c.Busy, Timeout: c.Timeout, Numbered: c.EnumTag,
	}
	if options.Target, err = reach(ctx, c.Target, c.Wait); err != nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	results, err := newResults(c.Out)
	if err != nil {
		return err
	}
	defer results.close()
	if results != nil {
		options.Phout = results.phout
	}
	server, own := watch{pid: c.PID}, watch{pid: os.Getpid()}
	if err := server.look(&server.before); err != nil {
		return badInput(fmt.Errorf("--pid: %w", err))
	}
	_ = own.look(&own.before) // not everywhere
	sayWhat(s.err, plan, options.Target)
	progress := showSeconds(s.err, plan)
	options.OnSecond = progress.show
	told := make(chan struct{})
	tell := context.AfterFunc(ctx, func() {
		defer close(told)
		fmt.Fprintf(s.err, "\ninterrupted: waiting %v at most for what is in flight; once more ends it without a report\n", c.Timeout)
	})
	defer func() { // nobody writes to s.err once this has returned
		if !tell() {
			<-told
		}
	}()
	// A loop that fires gives its place to nobody, and something has to read
	// ammo and write results.
	if least := c.Workers + 2; runtime.GOMAXPROCS(0) < least {
		runtime.GOMAXPROCS(least)
	}
	summary, err := gun.Fire(ctx, options)
	progress.end()
	if summary == nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return c.ammoError(err)
	}
	summary.Ammo = c.Ammo
	if e := server.look(&server.after); e != nil {
		fmt.Fprintf(s.err, "warning: --pid: %v: it has ended during the run\n", e)
	} else if c.PID != 0 {
		summary.Server = server.used(summary.Shots.Answered)
	}
	if own.look(&own.after) == nil {
		summary.Gun = own.used(summary.Shots.Answered)
	}
	err = errors.Join(err, results.finish(summary))
	if c.JSON {
		text, e := json.MarshalIndent(summary, "", "  ")
		if e != nil {
			return e
		}
		fmt.Fprintf(s.out, "%s\n", text)
	} else {
		printSummary(s.out, summary)
	}
	if err != nil {
		return c.ammoError(err)
	}
	return c.judge(s, summary, limits)
}

func (c *fireCmd) parse() (plan schedule.Plan, limits []gun.Limit, err error) {
	if _, port, err := net.SplitHostPort(c.Target); err != nil || strings.Contains(c.Target, "/") {
		return plan, nil, fmt.Errorf("--target %s: write HOST:PORT, such as localhost:8080, without http://", c.Target)
	} else if n, err := net.LookupPort("tcp", port); err != nil || n == 0 {
		return plan, nil, fmt.Errorf("--target %s: %q is no port", c.Target, port)
	}
	if plan, err = schedule.Parse(c.Load); err != nil {
		return plan, nil, fmt.Errorf("--load: %w", err)
	}
	for _, text := range c.Fail {
		limit, err := gun.ParseLimit(text)
		if err != nil {
			return plan, nil, fmt.Errorf("--fail: %w", err)
		}
		limits = append(limits, limit)
	}
	_, flood := plan.Flood()
	for _, limit := range limits {
		if flood && limit.NeedsPlan() {
			return plan, nil, fmt.Errorf("--fail %s: in a flood no shot is late or dropped, so it says nothing", limit)
		}
	}
	if c.Instances == 0 && !flood {
		c.Instances = gun.DefaultInstances
	}
	switch {
	case flood && c.Instances != 0:
		err = fmt.Errorf("--instances %d: %s says how many connections there are", c.Instances, plan)
	case !flood && plan.Shots() == 0:
		err = fmt.Errorf("--load %s: there is not one shot in it", plan)
	case c.Instances < 1 && !flood || c.Pipeline < 1 || c.Workers < 1:
		err = errors.New("--instances, --pipeline and --workers are at least 1")
	case c.Loop < 0 || c.Limit < 0 || c.Wait < 0 || c.PID < 0:
		err = errors.New("--loop, --limit, --wait and --pid cannot be negative")
	case c.Timeout < time.Millisecond || c.Timeout > time.Hour:
		err = fmt.Errorf("--timeout %v: it is from 1ms to 1h", c.Timeout)
	case c.Pipeline > 1 && !flood:
		err = errors.New("--pipeline is for floods: in other loads each shot has its own instant, and a connection that is free")
	case c.Pipeline > 10000 || c.Instances > schedule.MaxConnections || c.Workers > 1024:
		err = errors.New("--pipeline is at most 10,000, --instances 1,000,000 and --workers 1,024")
	}
	return plan, limits, err
}

// ammoSource is ammo, with or without answers.
type ammoSource interface {
	gun.Source
	io.Closer
}

// open opens the ammo. That of a named pipe waits until somebody writes to it.
func (c *fireCmd) open(ctx context.Context) (ammoSource, error) {
	type opened struct {
		source ammoSource
		err    error
	}
	done := make(chan opened, 1)
	go func() {
		if c.Answers != "" {
			paired, err := ammo.OpenPaired(c.Ammo, c.Answers)
			done <- opened{paired, err}
			return
		}
		file, err := ammo.Open(c.Ammo)
		done <- opened{file, err}
	}()
	select {
	case o := <-done:
		return o.source, badInput(o.err)
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

// judge tells whether the run is a good one.
func (c *fireCmd) judge(s *streams, summary *gun.Summary, limits []gun.Limit) error {
	if summary.Interrupted {
		return errInterrupted
	}
	broken := 0
	for _, limit := range limits {
		kept, got := limit.Check(summary)
		word := "not so"
		if !kept {
			broken++
			word = "FAILS"
		}
		fmt.Fprintf(s.err, "--fail %s: %s, it was %s\n", limit, word, got)
	}
	switch {
	case broken > 0:
		return fmt.Errorf("%d of %d limits broken", broken, len(limits))
	case summary.Shots.Wrong > 0:
		return fmt.Errorf("%s of %s answers wrong", thousands(summary.Shots.Wrong), thousands(summary.Shots.Answered))
	case summary.Shots.Planned > 0 && summary.Shots.Answered == 0:
		return errors.New("not one shot was answered")
	}
	return nil
}

// ammoError makes errors of the ammo exit with 2.
func (c *fireCmd) ammoError(err error) error {
	if errors.Is(err, gun.ErrNoAmmo) {
		return badInput(fmt.Errorf("%s: %w: want a line \"SIZE TAG\" and a request of so many bytes", c.Ammo, err))
	}
	if errors.Is(err, gun.ErrRewind) {
		return badInput(fmt.Errorf("%w; --loop 1 ends there", err))
	}
	if bad := (*ammo.SyntaxError)(nil); errors.As(err, &bad) {
		return badInput(err)
	}
	return err
}

// reach makes sure that something listens at the target, waiting for it for
// some time, and returns the address that did.
func reach(ctx context.Context, target string, wait time.Duration) (netip.AddrPort, error) {
	const pause = 50 * time.Millisecond
	dialer := net.Dialer{Timeout: 5 * time.Second}
	if wait > 0 {
		dialer.Timeout = min(dialer.Timeout, wait)
	}
	for until := time.Now().Add(wait); ; {
		conn, err := dialer.DialContext(ctx, "tcp", target)
		if err == nil {
			defer conn.Close()
			return conn.RemoteAddr().(*net.TCPAddr).AddrPort(), nil
		}
		if ctx.Err() != nil {
			return netip.AddrPort{}, ctx.Err()
		}
		if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) && unknown.IsNotFound {
			return netip.AddrPort{}, badInput(fmt.Errorf("--target %s: there is no host of that name", target))
		}
		if time.Now().Add(pause).After(until) {
			hint := ""
			if wait == 0 {
				hint = "; is the server running? --wait 10s waits for one that is starting"
			}
			if wait > 0 {
				hint = fmt.Sprintf(", for %v", wait)
			}
			return netip.AddrPort{}, fmt.Errorf("cannot connect to %s: %w%s", target, err, hint)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return netip.AddrPort{}, ctx.Err()
		}
	}
}

// watch is what a server's process has used before and after a run.
type watch struct {
	pid           int
	before, after machine.Process
}

func (w *watch) look(at *machine.Process) (err error) {
	if w.pid != 0 {
		*at, err = machine.ProcessOf(w.pid)
	}
	return err
}

func (w *watch) used(answers int64) *gun.Process {
	cpu := w.after.CPU - w.before.CPU
	p := &gun.Process{PID: w.pid, CPU: cpu.Seconds(), RSS: w.after.RSS}
	if answers > 0 {
		p.PerRequest = float64(cpu.Nanoseconds()) / 1000 / float64(answers)
	}
	return p
}

// results is the folder of --out. All of its methods do nothing if it is nil.
type results struct {
	dir   string
	phout *os.File
}

// resultFiles are what a run writes, in the order in which it does.
var resultFiles = [...]string{"phout.txt", "summary.json", "hdr.txt"}

// newResults makes the folder. It does not write over another run's results.
func newResults(dir string) (*results, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, badInput(fmt.Errorf("--out: %w", err))
	}
	for _, name := range resultFiles {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return nil, badInput(fmt.Errorf("--out %s: %s is there from another run: name another folder, or remove it", dir, name))
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, resultFiles[0]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, badInput(fmt.Errorf("--out: %w", err))
	}
	return &results{dir, f}, nil
}

// finish writes what is known at the end.
func (r *results) finish(s *gun.Summary) error {
	if r == nil {
		return nil
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	err = errors.Join(
		r.phout.Close(),
		os.WriteFile(filepath.Join(r.dir, resultFiles[1]), append(text, '\n'), 0o666),
		os.WriteFile(filepath.Join(r.dir, resultFiles[2]), s.Percentiles(), 0o666),
	)
	r.phout = nil
	return err
}

// close is for runs that did not come as far as finish. A run without a shot
// leaves no file.
func (r *results) close() {
	if r == nil || r.phout == nil {
		return
	}
	r.phout.Close()
	os.Remove(r.phout.Name())
}
