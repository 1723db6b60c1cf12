package machine

import (
	"os"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	before, err := ProcessOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; {
	}
	after, err := ProcessOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if after.CPU <= before.CPU || after.CPU > before.CPU+time.Hour || after.RSS < 1<<20 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if p, err := ProcessOf(pid); err == nil {
			t.Errorf("process %d: %+v", pid, p)
		}
	}
}
