//go:build linux

package gun

import (
	"bytes"
	"io"
	"net/netip"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A shot costs no garbage, and a connection next to none. What a run makes
// once, such as histograms, is counted by a short run and taken off.
func TestAllocations(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	addr := frugalServer(t)
	run := func(load string, records []string, limit int64, pipeline int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := Options{Target: addr, Source: magazineOf(records...), Plan: plan(t, load), Limit: limit, Pipeline: pipeline, Instances: frugalThreads, Phout: io.Discard}
		s, err := Fire(t.Context(), o)
		runtime.ReadMemStats(&after)
		if err != nil || s.Shots.Answered != limit {
			t.Fatalf("%s: %+v, %v, %v", load, s.Shots, s.Errors, err)
		}
		return after.Mallocs - before.Mallocs
	}
	f := func(what, load string, records []string, pipeline int, most float64) {
		t.Helper()
		const few, many = 500, 3500
		got := 1e9
		for try := 0; try < 5 && got >= most; try++ { // the runtime allocates now and then on its own
			a, b := run(load, records, few, pipeline), run(load, records, many, pipeline)
			got = min(got, (float64(b)-float64(a))/(many-few))
		}
		t.Logf("%s: %.4f allocations a shot", what, got)
		if got >= most {
			t.Errorf("%s: %.3f allocations a shot", what, got)
		}
	}
	f("a flood", "flood(4,60s)", []string{keep}, 1, 0.05)
	f("a pipelined flood", "flood(4,60s)", []string{keep}, 8, 0.05)
	f("a flood of connections", "flood(4,60s)", []string{closes}, 1, 0.5)
	f("a scheduled run", "const(10000,60s)", []string{keep}, 1, 0.05)
}

// frugalThreads is how many connections at a time frugalServer has a thread
// for.
const frugalThreads = 4

// frugalServer is a server that makes no garbage itself. It knows the ammo keep
// and closes, and that they come whole.
func frugalServer(t *testing.T) netip.AddrPort {
	t.Helper()
	listener, addr := bound(t)
	if err := unix.Listen(listener, 100); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for range frugalThreads {
		running.Go(func() {
			in, out, last, word := make([]byte, 4096), []byte(ok), []byte(polite(&request{head: closes})), []byte("close")
			for {
				fd, _, errno := unix.Syscall6(unix.SYS_ACCEPT4, uintptr(listener), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
				if errno == unix.EINTR || errno == unix.ECONNABORTED {
					continue
				}
				if errno != 0 {
					return
				}
				for {
					n, err := unix.Read(int(fd), in)
					if err == unix.EINTR {
						continue
					}
					if n <= 0 || err != nil {
						break
					}
					if bytes.Contains(in[:n], word) {
						_, _ = unix.Write(int(fd), last)
						break
					}
					for from := 2; from < n; from++ { // an answer for each end of a head
						if in[from] == '\n' && in[from-2] == '\n' {
							_, _ = unix.Write(int(fd), out)
						}
					}
				}
				unix.Close(int(fd))
			}
		})
	}
	t.Cleanup(func() {
		unix.Shutdown(listener, unix.SHUT_RDWR) // wakes who waits in accept
		running.Wait()
	})
	return addr
}
