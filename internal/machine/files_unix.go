//go:build unix

package machine

import (
	"math"

	"golang.org/x/sys/unix"
)

// OpenFiles returns how many descriptors this process may have open. (Go raises
// the soft limit to the hard one when it starts.)
func OpenFiles() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 256
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
