//go:build unix

package data

import (
	"syscall"
	"time"
)

// cpuTime returns how long this process has been on CPUs.
func cpuTime() (user, system time.Duration) {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0, 0
	}
	return time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
}
