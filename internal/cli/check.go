package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"redoubt/ammo"
)

type checkCmd struct {
	Target      string        `required:"" placeholder:"HOST:PORT" help:"The server to check."`
	Dir         string        `required:"" placeholder:"DIR" help:"Folder with ammo/phase_*.ammo and answers/phase_*.answ, as redoubt gen writes it."`
	Show        int           `default:"10" placeholder:"N" help:"Differences to show in full (${default})."`
	Connections int           `default:"8" placeholder:"N" help:"Connections at a time in the reading phases (${default}). Writes always go one after another."`
	Wait        time.Duration `default:"0" placeholder:"TIME" help:"How long to wait for a server that is still starting, such as 10s. 0 does not wait."`
	JSON        bool          `help:"Print the outcome as JSON."`
}

// Help is shown below the flags' line.
func (*checkCmd) Help() string {
	return `Fires the requests of all three phases at a server and compares every answer with the expected one: the status,
and the body as JSON by value. The server must be freshly loaded with the data in DIR/data, because the second phase
changes it: check a server once, then restart it.

  redoubt gen --out set
  redoubt serve --listen :8080 --data set/data &
  redoubt check --target localhost:8080 --dir set --wait 10s

Exits with 0 if no answer is wrong, 1 if some are or the server cannot be reached, 2 if the files are broken.`
}

func (c *checkCmd) Run(s *streams) error {
	_, port, err := net.SplitHostPort(c.Target)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return badInput(fmt.Errorf("--target %s: write HOST:PORT, such as localhost:8080", c.Target))
	}
	if c.Show < 0 || c.Connections < 1 || c.Wait < 0 {
		return badInput(errors.New("--show and --wait cannot be negative, and --connections is at least 1"))
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "ammo")); err != nil {
		if set := filepath.Dir(filepath.Clean(c.Dir)); holdsAmmo(set) {
			return badInput(fmt.Errorf("%s holds no ammo, but %s does: is that the folder you mean?", c.Dir, set))
		}
		return badInput(fmt.Errorf("%w; --dir is the folder with ammo and answers in it, as redoubt gen --out writes it", err))
	}
	opts := ammo.CheckOptions{
		Target: c.Target, Phases: ammo.TravelsPhases(c.Dir), Connections: c.Connections, Wait: c.Wait, Show: c.Show,
	}
	if c.Show == 0 {
		opts.Show = -1 // to the checker, 0 is its default
	}
	bar := newProgressLine(s.err, "checking")
	opts.Progress = checkProgress(bar, opts.Phases)
	report, err := ammo.Check(s.ctx, opts)
	bar.clear()

	// What was done until an error is worth knowing, too.
	if c.JSON {
		text, errJSON := json.MarshalIndent(report, "", "  ")
		if errJSON != nil {
			return errJSON
		}
		fmt.Fprintf(s.out, "%s\n", text)
	} else if report.Asked > 0 || err == nil {
		printReport(s.out, report, c.Show)
	}
	switch {
	case errors.Is(err, ammo.ErrUnreachable) && c.Wait == 0:
		return fmt.Errorf("%w; is the server running? --wait 10s waits for one that is starting", err)
	case s.ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, ammo.ErrUnreachable), errors.Is(err, ammo.ErrGaveUp):
		return err
	case err != nil:
		return badInput(err)
	case report.Wrong > 0:
		return fmt.Errorf("%s of %s answers wrong", thousands(int64(report.Wrong)), thousands(int64(report.Asked)))
	}
	return nil
}

func holdsAmmo(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "ammo"))
	return err == nil
}

// checkProgress shows how far a check over these phases has come.
func checkProgress(bar *progressLine, phases []ammo.Phase) func(ammo.Progress) {
	return func(p ammo.Progress) {
		before := 0
		for before < len(phases) && phases[before].Name != p.Phase {
			before++
		}
		bar.update((float64(before)+p.Done)/float64(len(phases)),
			fmt.Sprintf("%s: %s asked, %s wrong", p.Phase, thousands(int64(p.Asked)), thousands(int64(p.Wrong))))
	}
}

// printReport writes a check's outcome for people: the differences first, the
// verdict in the last line.
func printReport(w io.Writer, r ammo.Report, show int) {
	for _, d := range r.Differences {
		printDifference(w, d.Phase+", record", d)
	}
	if left := r.Wrong - len(r.Differences); left > 0 && show > 0 {
		fmt.Fprintf(w, "... and %s more; --show N shows more of them\n\n", thousands(int64(left)))
	}
	for _, p := range r.Phases {
		cut := ""
		if !p.Complete {
			cut = ", not finished"
		}
		fmt.Fprintf(w, "%-13s %8s asked, %s wrong, %.1f s%s\n",
			p.Name, thousands(int64(p.Asked)), thousands(int64(p.Wrong)), p.Seconds, cut)
	}
	if len(r.Phases) > 0 && r.Phases[0].Wrong > 0 {
		fmt.Fprintln(w, "Was the server freshly loaded with the data that belongs to these answers? The second phase changes it: restart the\nserver before each check.")
	}
	fmt.Fprintf(w, "%s of %s answers wrong\n", thousands(int64(r.Wrong)), thousands(int64(r.Asked)))
}

func printDifference(w io.Writer, place string, d ammo.Difference) {
	fmt.Fprintf(w, "%s %d", place, d.Record)
	if d.Tag != "" {
		fmt.Fprintf(w, " (%s)", d.Tag)
	}
	fmt.Fprintf(w, "\n  request   %s\n", d.Request)
	if d.RequestBody != "" {
		fmt.Fprintf(w, "            %s\n", d.RequestBody)
	}
	fmt.Fprintf(w, "  wrong     %s\n", d.Reason)
	fmt.Fprintf(w, "  expected  %d %s\n", d.WantStatus, d.Want)
	if d.GotStatus != 0 {
		fmt.Fprintf(w, "  got       %d %s\n", d.GotStatus, d.Got)
	}
	fmt.Fprintln(w)
}
