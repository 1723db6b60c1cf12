package cli

import (
	"fmt"
	"io"

	"github.com/pkg/profile"
)

// profileFlag names the kind of profile a run writes, or is empty.
type profileFlag string

var profileKinds = map[profileFlag]func(*profile.Profile){
	"cpu":       profile.CPUProfile,
	"mem":       profile.MemProfile,
	"allocs":    profile.MemProfileAllocs,
	"heap":      profile.MemProfileHeap,
	"block":     profile.BlockProfile,
	"mutex":     profile.MutexProfile,
	"goroutine": profile.GoroutineProfile,
	"thread":    profile.ThreadcreationProfile,
	"trace":     profile.TraceProfile,
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
	p := profile.Start(profileKinds[f], profile.ProfilePath("."), profile.NoShutdownHook, profile.Quiet)
	return func() {
		p.Stop()
		fmt.Fprintf(stderr, "redoubt: wrote the %s profile to the current folder; read it with go tool pprof\n", string(f))
	}
}
