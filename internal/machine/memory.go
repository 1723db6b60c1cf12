// Package machine asks the system it runs on what a process may use.
package machine

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Memory is how much more memory this process may use.
type Memory struct {
	// Bytes is the smallest of all limits' remainders. It has no meaning
	// where the memory is not Known.
	Bytes uint64
	// Limit is where the smallest came from, a file for people to look at:
	// "/proc/meminfo", or "/sys/fs/cgroup/box/memory.max". It is empty
	// where nothing is known, as on systems other than Linux.
	Limit string
}

// Known reports whether the system said anything at all.
func (m Memory) Known() bool { return m.Limit != "" }

// AvailableMemory returns the memory there is for this process: the smallest of what the
// kernel holds available and what each control group on the way from the
// process's own to the root leaves, in version 2 or 1. Page cache of files
// counts as free, as the kernel takes it back when memory is short.
func AvailableMemory() Memory { return availableMemory("/") }

// availableMemory is AvailableMemory with the system's files under root. What
// is not there, or not understood, limits nothing.
func availableMemory(root string) Memory {
	var m Memory
	m.lower(available(filepath.Join(root, "proc/meminfo")), "/proc/meminfo")
	for g := range groups(root, "memory", "/sys/fs/cgroup/memory") {
		f := &version2
		if g.version1 {
			f = &version1
		}
		m.lower(remainder(filepath.Join(root, g.dir), f), path.Join(g.dir, f.limit))
	}
	return m
}

// lower takes bytes as the limit if it is less than what was known.
func (m *Memory) lower(bytes uint64, limit string) {
	if bytes != math.MaxUint64 && (!m.Known() || bytes < m.Bytes) {
		m.Bytes, m.Limit = bytes, limit
	}
}

// files names the files of a control group version.
type files struct {
	limit, usage     string
	active, inactive string // lines of memory.stat that count file cache
}

var (
	version2 = files{"memory.max", "memory.current", "active_file", "inactive_file"}
	version1 = files{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file", "total_inactive_file"}
)

// remainder returns what the group with files in dir may still use, or
// MaxUint64 if it sets no limit.
func remainder(dir string, f *files) uint64 {
	limit, ok := number(filepath.Join(dir, f.limit))
	// Version 1 writes the largest multiple of the page size for "no limit",
	// version 2 the word max.
	if !ok || limit >= math.MaxInt64-1<<20 {
		return math.MaxUint64
	}
	usage, _ := number(filepath.Join(dir, f.usage))
	stat, _ := os.ReadFile(filepath.Join(dir, "memory.stat"))
	cache := field(string(stat), f.active) + field(string(stat), f.inactive)
	usage -= min(cache, usage)
	return limit - min(usage, limit)
}

// available returns MemAvailable of a meminfo file, or MaxUint64.
func available(name string) uint64 {
	text, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(text), "MemAvailable:") {
		return math.MaxUint64
	}
	return field(string(text), "MemAvailable:") * 1024 // given in kB, which are KiB
}

// number reads a file that holds one number.
func number(name string) (uint64, bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// field returns the number after the word name at the start of a line of
// text, or 0.
func field(text, name string) uint64 {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) >= 2 && words[0] == name {
			n, _ := strconv.ParseUint(words[1], 10, 64)
			return n
		}
	}
	return 0
}

// hasWord reports whether word is one of a comma separated list.
func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// BufferMemory is the most that the buffers of a server's connections should
// take: an eighth of what the machine has to spare, from 64 MB to 1 GB.
func BufferMemory() int {
	const least, most = 64 << 20, 1 << 30
	m := AvailableMemory()
	if !m.Known() {
		return most / 4
	}
	return int(min(max(m.Bytes/8, least), most))
}
