package machine

import (
	"fmt"
	"time"
)

// Process is what a process has used.
type Process struct {
	CPU time.Duration // of all its threads, also those that have ended, since it began
	RSS int64         // bytes of memory that it holds now
}

// ProcessOf asks the system about a process of this machine.
func ProcessOf(pid int) (Process, error) {
	p, err := processOf(pid)
	if err != nil {
		return p, fmt.Errorf("process %d: %w", pid, err)
	}
	return p, nil
}
