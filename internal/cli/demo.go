package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"redoubt/ammo"
	"redoubt/ammo/gun"
	"redoubt/ammo/schedule"
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
formatted bodies (lean) and once with rendered ones (ready), as the second phase changes the data. Then it fires on a
climbing schedule and tells how long answers took. It takes seconds, leaves nothing behind, and exits with 0 if not one
answer was wrong.`
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

	var total ammo.Report
	for i, bodies := range []bodiesFlag{"lean", "ready"} {
		report, err := c.shell(s, i+2, dir, bodies)
		if err != nil {
			return err
		}
		total.Asked += report.Asked
		total.Wrong += report.Wrong
	}
	if total.Wrong > 0 {
		fmt.Fprintf(s.out, "\nFAILED: %s of %s answers wrong\n", thousands(int64(total.Wrong)), thousands(int64(total.Asked)))
		return fmt.Errorf("%s answers wrong", thousands(int64(total.Wrong)))
	}
	fmt.Fprintf(s.out, "\nPASSED: 0 of %s answers wrong\n", thousands(int64(total.Asked)))
	return nil
}

// shell loads the set, serves it and checks all three phases.
func (c *demoCmd) shell(s *streams, step int, dir string, bodies bodiesFlag) (ammo.Report, error) {
	fmt.Fprintf(s.out, "%d. Serving it with %s bodies\n", step, bodies)
	st, err := loadStore(s.ctx, filepath.Join(dir, "data"), bodies, indented{s.out})
	if err != nil {
		return ammo.Report{}, err
	}
	e, err := newEngine(defaultEngine, handlers.New(st), engineOptions{})
	if err != nil {
		return ammo.Report{}, errors.Join(err, st.Close())
	}
	addr, err := e.Listen("127.0.0.1:0")
	if err != nil {
		return ammo.Report{}, errors.Join(err, st.Close())
	}
	ctx, stop := context.WithCancel(s.ctx)
	served := make(chan error, 1)
	go func() { served <- serveUntilDone(ctx, e, 5*time.Second) }()
	defer func() {
		stop()
		if <-served == nil { // else a late request may still read the store
			st.Close()
		}
	}()

	if step == 2 {
		if err := showAnswers(s.out, addr); err != nil {
			return ammo.Report{}, err
		}
	}
	options := ammo.CheckOptions{Target: addr, Phases: ammo.TravelsPhases(dir), Connections: 8, Show: 3}
	bar := newProgressLine(s.err, "shelling")
	options.Progress = checkProgress(bar, options.Phases)
	report, err := ammo.Check(s.ctx, options)
	bar.clear()
	if err != nil {
		return report, err
	}
	printReport(indented{s.out}, report, options.Show)
	if hasNetloop && bodies == "ready" {
		return report, c.fire(s, step+1, addr, dir)
	}
	return report, nil
}

// fire shells the server once more, on a schedule.
func (c *demoCmd) fire(s *streams, step int, addr, dir string) error {
	fmt.Fprintf(s.out, "%d. Firing at it: from 1 to 2,000 shots a second in two seconds\n", step)
	target, err := netip.ParseAddrPort(addr)
	if err != nil {
		return err
	}
	plan, err := schedule.Parse("line(1,2000,2s)")
	if err != nil {
		return err
	}
	file, err := ammo.Open(ammo.TravelsPhases(dir)[0].Ammo)
	if err != nil {
		return err
	}
	defer file.Close()
	summary, err := gun.Fire(s.ctx, gun.Options{Target: target, Source: file, Plan: plan})
	if err != nil {
		return err
	}
	n := summary.Shots
	fmt.Fprintf(s.out, "   %s planned, %s answered, %s late, %s errors\n", thousands(n.Planned), thousands(n.Answered),
		thousands(n.Late), thousands(n.TimedOut+n.Failed+n.Dropped))
	fmt.Fprintf(s.out, "   latency from the planned instant: median %s, 99 %% within %s\n",
		span(summary.FromPlanned.P50), span(summary.FromPlanned.P99))
	if n.Answered < n.Planned {
		return fmt.Errorf("%s of %s shots were not answered", thousands(n.Planned-n.Answered), thousands(n.Planned))
	}
	return nil
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
