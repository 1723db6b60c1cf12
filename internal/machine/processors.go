package machine

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Processors is what this process may use of the machine's processors.
type Processors struct {
	Count int     // in its affinity mask
	Quota float64 // processors' worth of time, from control groups; 0: no quota
}

// Whole is how many threads can run all the time: the processors there are, or
// what a quota leaves of them, at least 1.
func (p Processors) Whole() int {
	n := p.Count
	if p.Quota > 0 {
		n = min(n, int(p.Quota))
	}
	return max(n, 1)
}

// AvailableProcessors asks for the affinity mask, and for the quotas of the
// control groups on the way from the process's own to the root, in version 2
// or 1. (The runtime's GOMAXPROCS goes down to a quota, too, but never below
// 2.)
func AvailableProcessors() Processors {
	return Processors{Count: affinity(), Quota: processorQuota("/")}
}

// processorQuota is the smallest quota with the system's files under root. What
// is not there, or not understood, limits nothing.
func processorQuota(root string) (quota float64) {
	for g := range groups(root, "cpu", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct") {
		read := quota2
		if g.version1 {
			read = quota1
		}
		if q := read(filepath.Join(root, g.dir)); q > 0 && (quota == 0 || q < quota) {
			quota = q
		}
	}
	return quota
}

// quota2 reads a group's cpu.max: "max 100000", or microseconds in a period of
// so many.
func quota2(dir string) float64 {
	text, _ := os.ReadFile(filepath.Join(dir, "cpu.max"))
	words := strings.Fields(string(text))
	if len(words) != 2 {
		return 0
	}
	return ratio(words[0], words[1])
}

// quota1 reads a group's cpu.cfs_quota_us, which is -1 for none.
func quota1(dir string) float64 {
	quota, _ := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
	period, _ := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
	return ratio(strings.TrimSpace(string(quota)), strings.TrimSpace(string(period)))
}

func ratio(part, whole string) float64 {
	a, errA := strconv.ParseFloat(part, 64)
	b, errB := strconv.ParseFloat(whole, 64)
	if errA != nil || errB != nil || a <= 0 || b <= 0 || math.IsInf(a/b, 0) {
		return 0
	}
	return a / b
}
