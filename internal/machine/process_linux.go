package machine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func processOf(pid int) (p Process, err error) {
	if pid <= 0 || pid > 1<<22 {
		return p, errors.New("there is no such process")
	}
	// The clock of a process has nanoseconds, where /proc has hundredths of a
	// second. Its number is made from the process's: see clock_getcpuclockid(3)
	// and linux/posix-timers_types.h (2: CPU time as it is scheduled).
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil {
		if err == unix.EINVAL || err == unix.ESRCH {
			return p, errors.New("there is no such process")
		}
		return p, fmt.Errorf("its CPU time cannot be read: %w", err)
	}
	p.CPU = time.Duration(t.Nano())
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return p, err
	}
	if fields := bytes.Fields(text); len(fields) > 1 {
		pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
		if err != nil {
			return p, fmt.Errorf("/proc/%d/statm: %w", pid, err)
		}
		p.RSS = pages * int64(os.Getpagesize())
	}
	return p, nil
}
