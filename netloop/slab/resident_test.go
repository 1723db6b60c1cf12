//go:build linux && !race

package slab

import (
	"testing"

	"golang.org/x/sys/unix"
)

// resident counts the bytes of the arena that are in memory.
func resident(t *testing.T, a *Arena) int {
	t.Helper()
	const page = 4096
	pages := make([]byte, len(a.memory)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, addr(a.memory), uintptr(len(a.memory)), addr(pages))
	if errno != 0 {
		t.Skip("mincore:", errno)
	}
	n := 0
	for _, p := range pages {
		n += int(p & 1)
	}
	return n * page
}

// A flood of buffers does not stay in memory, and memory comes as it is used.
func TestResident(t *testing.T) {
	a := newArena(t, 256<<20)
	c := a.NewCache()
	if n := resident(t, a); n != 0 {
		t.Errorf("%d bytes resident in a new arena", n)
	}
	for _, size := range []int{64 << 10, MaxBlock} {
		var all [][]byte
		for range 128 << 20 / size {
			b := get(t, c, size)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
		}
		if n := resident(t, a); n < 128<<20 || n > 150<<20 {
			t.Errorf("%d MB resident with 128 MB in use", n>>20)
		}
		for _, b := range all {
			c.Put(b)
		}
		if n := resident(t, a); n > (keepTouched+2)*MaxBlock {
			t.Errorf("%d MB resident when all is free", n>>20)
		}
	}
	if s := a.Stats(); s.Emptied < 200<<20 {
		t.Errorf("%d MB given back", s.Emptied>>20)
	}
}
