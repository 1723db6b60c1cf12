package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"

	"redoubt/data"
	"redoubt/internal/machine"
	"redoubt/store"
)

// bodiesFlag chooses how a store keeps its records.
type bodiesFlag string

// loadStore fills a store with the data set in dir and says on log what it
// does. Errors in the data are the user's to mend.
func loadStore(ctx context.Context, dir string, bodies bodiesFlag, log io.Writer) (*store.Store, error) {
	source, err := data.Open(dir)
	if err != nil {
		return nil, badInput(err)
	}
	defer source.Close()
	options, counts := source.Options(), source.Counts()
	if options.FromClock {
		fmt.Fprintf(log, "warning: %s has no options.txt: ages count from the clock, so answers depend on the day\n", dir)
	}
	config := store.Config{Now: options.Now, Users: counts.Users, Locations: counts.Locations, Visits: counts.Visits}
	if config.Ready, err = chooseBodies(bodies, config, source.Buffers(runtime.GOMAXPROCS(0)), machine.AvailableMemory()); err != nil {
		return nil, badInput(err)
	}
	builder, err := store.NewBuilder(config)
	if err != nil {
		return nil, err
	}
	bar := newProgressLine(log, "loading")
	stats, err := source.Load(ctx, func() data.Adder { return builder.Adder() }, 0, func(p data.Progress) {
		bar.update(float64(p.Bytes)/float64(p.TotalBytes), fmt.Sprintf("%s records, %d MB", thousands(p.Records), p.Bytes>>20))
	})
	bar.clear()
	if err != nil {
		builder.Abandon()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, badInput(err)
	}
	begin := time.Now()
	s, err := builder.Build()
	if err != nil {
		return nil, badInput(err)
	}
	for _, kind := range []struct {
		name  string
		count int
	}{{"users", stats.Records.Users}, {"locations", stats.Records.Locations}, {"visits", stats.Records.Visits}} {
		if kind.count == 0 {
			fmt.Fprintf(log, "warning: %s has no %s\n", dir, kind.name)
		}
	}
	fmt.Fprintf(log, "loaded %s users, %s locations and %s visits in %.2f s, bodies %s\n",
		thousands(int64(stats.Records.Users)), thousands(int64(stats.Records.Locations)), thousands(int64(stats.Records.Visits)),
		(stats.Elapsed + time.Since(begin)).Seconds(), map[bool]string{true: "ready", false: "lean"}[config.Ready])
	return s, nil
}

// chooseBodies decides between ready and lean, and refuses what cannot fit.
// buffers is what the load takes for files.
func chooseBodies(bodies bodiesFlag, config store.Config, buffers int64, memory machine.Memory) (ready bool, err error) {
	// Beside the records there are the program and the Go runtime, and pages
	// that are not full: 10 MB and a tenth cover what was seen.
	peak := func(ready bool) int64 {
		config.Ready = ready
		return store.Estimate(config)*11/10 + max(buffers, store.EstimateBuild(config)) + 10<<20
	}
	available := int64(math.MaxInt64)
	if memory.Known() {
		available = int64(min(memory.Bytes, math.MaxInt64))
	}
	ready = bodies == "ready" || bodies == "auto" && peak(true) <= available/2
	if need := peak(ready); need > available {
		way := "give it more memory, or load less data"
		if ready {
			way += ", or use --bodies lean, which needs " + megabytes(peak(false))
		}
		return false, fmt.Errorf("loading the data needs about %s of memory and %s leaves %s: %s",
			megabytes(need), memory.Limit, megabytes(available), way)
	}
	return ready, nil
}

func megabytes(n int64) string { return thousands(n>>20) + " MB" }

// thousands writes n with commas.
func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// progressLine is one line on a terminal that is written over and over. On
// anything but a terminal it is silent.
type progressLine struct {
	w       io.Writer
	title   string
	visible bool
}

func newProgressLine(w io.Writer, title string) *progressLine {
	f, ok := w.(*os.File)
	return &progressLine{w: w, title: title, visible: ok && term.IsTerminal(int(f.Fd()))}
}

const progressWidth = 30

// update shows how much is done, from 0 to 1, and a remark, in what the
// terminal has of columns: a line that wraps cannot be written over.
func (p *progressLine) update(done float64, remark string) {
	if !p.visible {
		return
	}
	columns := 80
	if f, ok := p.w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			columns = n
		}
	}
	done = min(max(done, 0), 1)
	head := p.title + " "
	tail := []rune(fmt.Sprintf(" %3.0f%%  %s", 100*done, remark))
	width := min(progressWidth, columns-1-len(head)-len(tail))
	bar := make([]rune, max(width, 0))
	for i := range bar {
		bar[i] = '·'
		if i < int(done*float64(len(bar))) {
			bar[i] = '█'
		}
	}
	tail = tail[:max(0, min(len(tail), columns-1-len(head)-len(bar)))]
	fmt.Fprintf(p.w, "\r\x1b[K%s%s%s", head, string(bar), string(tail))
}

func (p *progressLine) clear() {
	if p.visible {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
