package cli

import (
	"fmt"
	"io"

	"github.com/pkg/profile"
)

// profileFlag names the kind of profile a run writes, or is empty.
type profileFlag string

var profileKinds = map[profileFlag]struct {
	set        func(*profile.Profile)
	file, tool string
}{
	"cpu":       {profile.CPUProfile, "cpu.pprof", "pprof"},
	"mem":       {profile.MemProfile, "mem.pprof", "pprof"},
	"allocs":    {profile.MemProfileAllocs, "mem.pprof", "pprof"},
	"heap":      {profile.MemProfileHeap, "mem.pprof", "pprof"},
	"block":     {profile.BlockProfile, "block.pprof", "pprof"},
	"mutex":     {profile.MutexProfile, "mutex.pprof", "pprof"},
	"goroutine": {profile.GoroutineProfile, "goroutine.pprof", "pprof"},
	"thread":    {profile.ThreadcreationProfile, "threadcreation.pprof", "pprof"},
	"trace":     {profile.TraceProfile, "trace.out", "trace"},
}

// Validate is called by kong on a parsed command line.
func (f profileFlag) Validate() error {
	if _, known := profileKinds[f]; f != "" && !known {
		return fmt.Errorf("unknown profile %q: use cpu, mem, allocs, heap, block, mutex, goroutine, thread or trace", string(f))
	}
	return nil
}

// start begins the profile and returns what ends it. The profile's own
// shutdown hook stays off: SIGINT belongs to the command, which ends its run
// in order and only then lets the profile be written.
func (f profileFlag) start(stderr io.Writer) (stop func()) {
	if f == "" {
		return func() {}
	}
	kind := profileKinds[f]
	p := profile.Start(kind.set, profile.ProfilePath("."), profile.NoShutdownHook, profile.Quiet)
	return func() {
		p.Stop()
		fmt.Fprintf(stderr, "wrote %s; read it with: go tool %s %s\n", kind.file, kind.tool, kind.file)
	}
}
