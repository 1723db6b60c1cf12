//go:build slabdebug

package slab

import (
	"strings"
	"testing"
)

func TestDebugUseAfterFree(t *testing.T) {
	c := newArena(t, 8<<20).NewCache()
	b := get(t, c, 2048)
	c.Put(b)
	b[1500] = 'x'
	panics(t, func() { c.Get(2048) }, "0x78", "written after its free", "2048 bytes", "freed at", "TestDebugUseAfterFree")

	// The block may have become part of a larger one meanwhile.
	c = newArena(t, MaxBlock).NewCache()
	b = get(t, c, 1024)
	c.Put(b)
	b[0] = 'y'
	panics(t, func() { c.Get(MaxBlock) }, "0x79", "written after its free", "1024 bytes", "TestDebugUseAfterFree")
}

func TestDebugPutOfFree(t *testing.T) {
	c := newArena(t, 8<<20).NewCache()
	b := get(t, c, 4096)
	c.Put(b)
	panics(t, func() { c.Put(b) }, "already free", "4096", "freed at", "TestDebugPutOfFree")
	c.Close() // the block is merged into larger ones
	panics(t, func() { c.Put(b) }, "already free", "4096", "freed at", "TestDebugPutOfFree")
}

func TestDebugLeaks(t *testing.T) {
	a := newArena(t, 8<<20)
	c := a.NewCache()
	b := get(t, c, 3000)
	get(t, c, 100)
	c.Put(b)
	leaks := a.Leaks()
	if len(leaks) != 1 || !strings.Contains(leaks[0], "block of 1024 bytes") || !strings.Contains(leaks[0], "TestDebugLeaks") {
		t.Errorf("%q", leaks)
	}
	if err := a.Close(); err == nil || !strings.Contains(err.Error(), "1 blocks still live") || !strings.Contains(err.Error(), "TestDebugLeaks") {
		t.Errorf("Close: %v", err)
	}
}

// Memory that went back to the system has lost its pattern, rightly.
func TestDebugEmptied(t *testing.T) {
	a := newArena(t, 64<<20)
	c := a.NewCache()
	for range 2 {
		var all [][]byte
		for range 16 {
			all = append(all, get(t, c, MaxBlock))
		}
		for _, b := range all {
			c.Put(b)
		}
	}
	if a.Stats().Emptied == 0 {
		t.Error("nothing went back to the system")
	}
}

func TestDebugObjects(t *testing.T) {
	p, other := NewObjects[session](0), NewObjects[session](0)
	x := p.Get()
	p.Put(x)
	panics(t, func() { p.Put(x) }, "already free", "freed at", "TestDebugObjects")
	x.name = "late"
	panics(t, func() { p.Get() }, "*slab.session", "written after its free", "TestDebugObjects")
	panics(t, func() {
		p.Put(&new([2]struct {
			session
			more [8]uintptr
		})[0].session)
	}, "no pool made")

	y := other.Get()
	if leaks := other.Leaks(); len(leaks) != 1 || !strings.Contains(leaks[0], "TestDebugObjects") {
		t.Errorf("%q", leaks)
	}
	p.Put(y)
	if leaks := other.Leaks(); len(leaks) != 0 {
		t.Errorf("%q", leaks)
	}
}
