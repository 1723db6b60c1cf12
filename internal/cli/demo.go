package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"redoubt/ammo"
	"redoubt/data/gen"
	"redoubt/handlers"
)

type demoCmd struct {
	Seed uint64 `default:"1" placeholder:"S" help:"Another seed gives other data and requests (${default})."`
}

// Help is shown below the flags' line.
func (*demoCmd) Help() string {
	return `Generates a data set like the contest's training set in a temporary folder, loads it, serves it on a free port of
this machine, fires the requests of all three phases at it, and compares every answer with the expected one. Once with
formatted bodies (lean) and once with rendered ones (ready), as the second phase changes the data. On Linux it does so once
more through the proxy, which looks in every answer for what its rules replace, finds nothing, and puts in a header; then it
fires on a climbing schedule, straight at the server and through the proxy, and tells how long answers took. It takes seconds,
leaves nothing behind, and exits with 0 if not one answer was wrong.`
}

// demoQuestions are shown with their answers before the shelling.
var demoQuestions = []string{
	"/users/1",
	"/locations/1/avg?fromAge=30&gender=f",
	"/users/1/visits?toDistance=40&fromDate=1200000000",
	"/users/4294967297",
	"/users/1/visits?toDate=yesterday",
}

func (c *demoCmd) Run(s *streams) error {
	err := c.show(s)
	if err != nil && s.ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

func (c *demoCmd) show(s *streams) error {
	dir, err := os.MkdirTemp("", "redoubt-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := c.generate(s, dir); err != nil {
		return err
	}

	d := demo{streams: s, dir: dir, step: 1}
	if err := d.shell("Serving it with lean bodies", "lean", d.ask); err != nil {
		return err
	}
	if err := d.shell("Serving it with ready bodies", "ready", d.check); err != nil {
		return err
	}
	if hasNetloop {
		if err := d.shell("Serving it through a proxy, which looks for four expressions in every body", "ready", d.throughProxy); err != nil {
			return err
		}
	}
	asked := thousands(int64(d.asked))
	if d.wrong > 0 {
		fmt.Fprintf(s.out, "\nFAILED: %s of %s answers wrong\n", thousands(int64(d.wrong)), asked)
		return fmt.Errorf("%s answers wrong", thousands(int64(d.wrong)))
	}
	fmt.Fprintf(s.out, "\nPASSED: 0 of %s answers wrong\n", asked)
	return nil
}

func (c *demoCmd) generate(s *streams, dir string) error {
	fmt.Fprintln(s.out, "1. Generating a data set with ammo and answers")
	options := gen.DefaultOptions()
	options.Seed = c.Seed
	begin := time.Now()
	bar := newProgressLine(s.err, "generating")
	summary, err := gen.Write(s.ctx, dir, options, func(p gen.Progress) {
		bar.update(float64(p.Done)/float64(max(p.Total, 1)), p.Step)
	})
	bar.clear()
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "   %s users, %s locations, %s visits, %s requests, in %.1f s\n",
		thousands(int64(summary.Users)), thousands(int64(summary.Locations)), thousands(int64(summary.Visits)),
		thousands(int64(options.Requests)), time.Since(begin).Seconds())
	return nil
}

// demo is one under way.
type demo struct {
	*streams
	dir          string
	step         int // that was begun last
	asked, wrong int
}

// begin says what comes.
func (d *demo) begin(what string) {
	d.step++
	fmt.Fprintf(d.out, "%d. %s\n", d.step, what)
}

// shell loads the set and serves it for as long as fire takes.
func (d *demo) shell(what string, bodies bodiesFlag, fire func(api string) error) error {
	d.begin(what)
	st, err := loadStore(d.ctx, filepath.Join(d.dir, "data"), bodies, indented{d.out})
	if err != nil {
		return err
	}
	e, err := newEngine(defaultEngine, handlers.New(st), engineOptions{})
	if err != nil {
		return errors.Join(err, st.Close())
	}
	addr, err := e.Listen("127.0.0.1:0")
	if err != nil {
		return errors.Join(err, st.Close())
	}
	ctx, stop := context.WithCancel(d.ctx)
	served := make(chan error, 1)
	go func() { served <- serveUntilDone(ctx, e, 5*time.Second) }()
	defer func() {
		stop()
		if <-served == nil { // else a late request may still read the store
			st.Close()
		}
	}()
	return fire(addr)
}

func (d *demo) ask(addr string) error {
	if err := showAnswers(d.out, addr); err != nil {
		return err
	}
	return d.check(addr)
}

func (d *demo) check(addr string) error { return d.checkPhases(addr, ammo.TravelsPhases(d.dir)) }

// checkPhases fires all three phases and compares.
func (d *demo) checkPhases(addr string, phases []ammo.Phase) error {
	options := ammo.CheckOptions{Target: addr, Phases: phases, Connections: 8, Show: 3}
	bar := newProgressLine(d.err, "shelling")
	options.Progress = checkProgress(bar, options.Phases)
	report, err := ammo.Check(d.ctx, options)
	bar.clear()
	d.asked += report.Asked
	d.wrong += report.Wrong
	if err == nil {
		printReport(indented{d.out}, report, options.Show)
	}
	return err
}

// showAnswers asks a few questions as a newcomer with curl would.
func showAnswers(w io.Writer, addr string) error {
	for _, target := range demoQuestions {
		response, err := http.Get("http://" + addr + target)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "   GET %s\n       %d %s\n", target, response.StatusCode, ammo.Decoded(body, 110))
	}
	return nil
}

// indented writes lines three columns further to the right.
type indented struct{ io.Writer }

func (w indented) Write(line []byte) (int, error) {
	if _, err := io.WriteString(w.Writer, "   "); err != nil {
		return 0, err
	}
	return w.Writer.Write(line)
}
