package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const mib = 1 << 20

func TestAvailableMemory(t *testing.T) {
	const meminfo = "MemTotal:       16384000 kB\nMemFree:  100 kB\nMemAvailable:    8388608 kB\nBuffers: 5 kB\n" // 8 GiB
	for _, c := range []struct {
		name  string
		files map[string]string
		want  Memory
	}{
		{"nothing known", nil, Memory{}},
		{"no control groups", map[string]string{"proc/meminfo": meminfo}, Memory{8192 * mib, "/proc/meminfo"}},
		{"a kernel before 3.14 has no MemAvailable", map[string]string{"proc/meminfo": "MemTotal: 5 kB\nMemFree: 3 kB\n"}, Memory{}},
		{"version 2, own group limits, cache is free", map[string]string{
			"proc/meminfo":                         meminfo,
			"proc/self/cgroup":                     "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":         "1073741824\n",
			"sys/fs/cgroup/a/b/memory.current":     "734003200\n", // 700 MiB
			"sys/fs/cgroup/a/b/memory.stat":        "anon 1\nfile 9\ninactive_file 104857600\nactive_file 209715200\n",
			"sys/fs/cgroup/a/memory.max":           "max\n",
			"sys/fs/cgroup/a/memory.current":       "734003200\n",
			"sys/fs/cgroup/memory.stat":            "inactive_file 1\n",
			"sys/fs/cgroup/memory/memory.nonsense": "1\n",
		}, Memory{(1024 - 700 + 300) * mib, "/sys/fs/cgroup/a/b/memory.max"}},
		{"version 2, a group above limits", map[string]string{
			"proc/meminfo":                     meminfo,
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":     "max\n",
			"sys/fs/cgroup/a/b/memory.current": "0\n",
			"sys/fs/cgroup/a/memory.max":       "536870912\n",
			"sys/fs/cgroup/a/memory.current":   "12582912\n",
		}, Memory{500 * mib, "/sys/fs/cgroup/a/memory.max"}},
		{"the machine has less than the group allows", map[string]string{
			"proc/meminfo":                   meminfo,
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "107374182400\n",
			"sys/fs/cgroup/a/memory.current": "0\n",
		}, Memory{8192 * mib, "/proc/meminfo"}},
		{"a container that sees the host's path but only its own files", map[string]string{
			"proc/meminfo":                 meminfo,
			"proc/self/cgroup":             "0::/docker/0123abcd\n",
			"sys/fs/cgroup/memory.max":     "1048576000\n",
			"sys/fs/cgroup/memory.current": "0\n",
		}, Memory{1000 * mib, "/sys/fs/cgroup/memory.max"}},
		{"outside of the namespace", map[string]string{
			"proc/self/cgroup":             "0::/../../other\n",
			"sys/fs/cgroup/memory.max":     "1048576\n",
			"sys/fs/cgroup/memory.current": "0\n",
		}, Memory{mib, "/sys/fs/cgroup/memory.max"}},
		{"over the limit, for the moment", map[string]string{
			"proc/meminfo":                   meminfo,
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "1048576\n",
			"sys/fs/cgroup/a/memory.current": "2097152\n",
		}, Memory{0, "/sys/fs/cgroup/a/memory.max"}},
		{"cache counted beyond usage, for the moment", map[string]string{
			"proc/self/cgroup":               "0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "1048576\n",
			"sys/fs/cgroup/a/memory.current": "5\n",
			"sys/fs/cgroup/a/memory.stat":    "active_file 10\n",
		}, Memory{mib, "/sys/fs/cgroup/a/memory.max"}},
		{"version 1", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/box\n3:cpuset:/memory\n",
			"sys/fs/cgroup/memory/box/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/memory/box/memory.usage_in_bytes": "209715200\n",
			"sys/fs/cgroup/memory/box/memory.stat":           "inactive_file 1\nactive_file 1\ntotal_inactive_file 52428800\ntotal_active_file 52428800\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     "9223372036854771712\n", // no limit
			"sys/fs/cgroup/memory/memory.usage_in_bytes":     "209715200\n",
		}, Memory{(1024 - 200 + 100) * mib, "/sys/fs/cgroup/memory/box/memory.limit_in_bytes"}},
		{"both versions mounted", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "4:memory:/box\n0::/box\n",
			"sys/fs/cgroup/memory/box/memory.limit_in_bytes": "1073741824\n",
			"sys/fs/cgroup/unified/box/memory.max":           "524288000\n",
		}, Memory{500 * mib, "/sys/fs/cgroup/unified/box/memory.max"}},
		{"garbage limits nothing", map[string]string{
			"proc/meminfo":                   meminfo,
			"proc/self/cgroup":               "x\n0::\n1:memory\n0::/a\n",
			"sys/fs/cgroup/a/memory.max":     "lots\n",
			"sys/fs/cgroup/a/memory.current": "-1\n",
		}, Memory{8192 * mib, "/proc/meminfo"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range c.files {
				name = filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if got := availableMemory(root); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestThisMachine asks the system the test runs on.
func TestThisMachine(t *testing.T) {
	m := AvailableMemory()
	t.Logf("%d MiB by %s", m.Bytes/mib, m.Limit)
	if runtime.GOOS == "linux" && (!m.Known() || m.Bytes < mib) {
		t.Errorf("%+v", m)
	}
	if runtime.GOOS != "linux" && m.Known() {
		t.Errorf("%+v", m)
	}
}
