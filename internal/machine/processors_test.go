package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProcessorQuota(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  float64
	}{
		"nothing there":  {nil, 0},
		"no quota":       {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 0},
		"version 2":      {map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 1.5},
		"the parent's":   {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n", "sys/fs/cgroup/a/b/cpu.max": "200000 100000\n"}, 0.5},
		"the container":  {map[string]string{"proc/self/cgroup": "0::/host/only\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3},
		"outside":        {map[string]string{"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3},
		"version 1":      {map[string]string{"proc/self/cgroup": "4:cpu,cpuacct:/a\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us": "250000\n", "sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us": "100000\n"}, 2.5},
		"version 1 none": {map[string]string{"proc/self/cgroup": "4:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 0},
		"cpuset only":    {map[string]string{"proc/self/cgroup": "4:cpuset:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 0},
		"nonsense":       {map[string]string{"proc/self/cgroup": "0::/\n:\nx\n", "sys/fs/cgroup/cpu.max": "1 0\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for file, text := range c.files {
				file = filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := processorQuota(root); got != c.want {
				t.Errorf("quota %v, want %v", got, c.want)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	for p, want := range map[Processors]int{
		{Count: 4}: 4, {Count: 4, Quota: 2.9}: 2, {Count: 2, Quota: 8}: 2, {Count: 4, Quota: 0.5}: 1,
	} {
		if got := p.Whole(); got != want {
			t.Errorf("%+v: %d, want %d", p, got, want)
		}
	}
	if p := AvailableProcessors(); p.Count < 1 {
		t.Errorf("this machine has %d processors", p.Count)
	}
}
