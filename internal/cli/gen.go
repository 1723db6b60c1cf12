package cli

import (
	"errors"
	"fmt"
	"time"

	"redoubt/data/gen"
)

type genCmd struct {
	Out       string `required:"" placeholder:"DIR" help:"Folder to write to. It must be new, empty, or the outcome of an earlier run, which is replaced."`
	Users     int    `default:"10000" placeholder:"N" help:"Users to generate (${default})."`
	Locations int    `default:"7600" placeholder:"N" help:"Locations to generate (${default})."`
	Visits    int    `default:"100000" placeholder:"N" help:"Visits to generate (${default})."`
	Seed      uint64 `default:"1" placeholder:"S" help:"Another seed gives other data; the same one, with the same flags, the same bytes (${default})."`
	Requests  int    `default:"11000" placeholder:"N" help:"Requests over the three phases, 3:3:5 (${default}). 0 writes data only."`
	Gaps      int    `default:"0" placeholder:"P" help:"Per cent of ids to leave out, 0 to 90 (${default})."`
	Far       int    `default:"0" placeholder:"N" help:"Records of each entity whose ids are scattered up to 4294967295 (${default})."`
}

// Help is shown below the flags' line.
func (*genCmd) Help() string {
	return `Generates a data set in the shape of HighloadCup 2017, requests for its three phases (reading, writing,
reading again), and the answers a server ought to give. A few per cent of the requests are hard cases; their tags
begin with "hard:".

  redoubt gen --out set                                  like the contest's training set
  redoubt gen --out big --users 1000074 --locations 761314 --visits 10000740
                                                         like its full set: 1.3 GB on disk, 1.4 GB of memory
  redoubt gen --out rough --gaps 20 --far 100            ids with gaps and far out

DIR gets data/ (*_N.json, data.zip, options.txt), ammo/phase_*.ammo, answers/phase_*.answ and generated.json, which
tells how it was made. Serve it with redoubt serve --data DIR/data, check a server with redoubt check --dir DIR.`
}

func (c *genCmd) Run(s *streams) error {
	opts := gen.Options{
		Users: c.Users, Locations: c.Locations, Visits: c.Visits,
		Seed: c.Seed, Requests: c.Requests, Gaps: c.Gaps, Far: c.Far,
	}
	if err := opts.Check(); err != nil {
		return badInput(err)
	}
	start := time.Now()
	bar := newProgressLine(s.err, "generating")
	summary, err := gen.Write(s.ctx, c.Out, opts, func(p gen.Progress) {
		bar.update(float64(p.Done)/float64(max(p.Total, 1)), p.Step)
	})
	bar.clear()
	if err != nil && s.ctx.Err() != nil {
		return fmt.Errorf("%w; %s is as it was", errInterrupted, c.Out)
	}
	if errors.Is(err, gen.ErrNotOurs) {
		return badInput(err)
	}
	if err != nil {
		return err
	}
	c.print(s, summary, time.Since(start))
	return nil
}

func (c *genCmd) print(s *streams, summary gen.Summary, took time.Duration) {
	fmt.Fprintf(s.out, "%s/data: %s users, %s locations, %s visits, %s MB of JSON\n", c.Out,
		thousands(int64(summary.Users)), thousands(int64(summary.Locations)), thousands(int64(summary.Visits)),
		thousands(summary.JSONBytes>>20))
	requests := 0
	for _, p := range summary.Phases {
		requests += p.Requests
		fmt.Fprintf(s.out, "%s/ammo/%s.ammo: %s requests (%d hard)", c.Out, p.Name, thousands(int64(p.Requests)), p.Hard)
		for _, status := range []string{"200", "400", "404", "405"} {
			fmt.Fprintf(s.out, ", %s: %s", status, thousands(int64(p.Statuses[status])))
		}
		fmt.Fprintln(s.out)
	}
	fmt.Fprintf(s.out, "generated %s records and %s requests in %.1f s\n",
		thousands(int64(summary.Users+summary.Locations+summary.Visits)), thousands(int64(requests)), took.Seconds())
}
