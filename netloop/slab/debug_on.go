//go:build slabdebug

package slab

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// debugging tells that the tag slabdebug is set.
const debugging = true

// poison fills free memory.
const poison = 0xdb

// tracker knows of every block who took it and who freed it.
type tracker struct {
	mu    sync.Mutex
	live  map[uint32]*event
	freed []*event // by unit: the free that poisoned it; nil where memory is not poisoned
}

func (t *tracker) init(units int) {
	t.live = make(map[uint32]*event)
	t.freed = make([]*event, units)
}

// took notes that a user has the block b now. Its memory may be pieces of
// several freed blocks, each of them must be as the free left it.
func (t *tracker) took(unit uint32, k int, b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range uint32(1) << k {
		free := t.freed[unit+i]
		if free == nil {
			continue
		}
		t.freed[unit+i] = nil
		part := b[i*MinBlock:][:MinBlock]
		if at := slices.IndexFunc(part, func(c byte) bool { return c != poison }); at >= 0 {
			panic(fmt.Sprintf("slab: byte %#x at %p was written after its free; %s", part[at], &part[at], free.text("freed")))
		}
	}
	t.live[unit] = newEvent(fmt.Sprintf("the block of %d bytes at %p", len(b), b))
}

// gave notes that the block is free.
func (t *tracker) gave(unit uint32, k int, b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range b {
		b[i] = poison
	}
	delete(t.live, unit)
	e := newEvent(fmt.Sprintf("the block of %d bytes at %p", len(b), b))
	for i := range uint32(1) << k {
		t.freed[unit+i] = e
	}
}

// emptied notes that a whole block's memory went back to the system.
func (t *tracker) emptied(unit uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.freed[unit:][:1<<top])
}

func (t *tracker) freedAt(unit uint32) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.freed[unit]; e != nil {
		return "; " + e.text("freed")
	}
	return ""
}

func (t *tracker) leaks() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, unit := range slices.Sorted(maps.Keys(t.live)) {
		all = append(all, t.live[unit].text("taken"))
	}
	return all
}

// event is a take or a free: of what, and where in the program.
type event struct {
	what string
	pcs  [16]uintptr
	n    int
}

func newEvent(what string) *event {
	e := &event{what: what}
	e.n = runtime.Callers(3, e.pcs[:])
	return e
}

// text is "WHAT, DONE at" and the stack, one frame a line, without the frames
// of this package that lead to the tracker.
func (e *event) text(done string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s, %s at", e.what, done)
	frames := runtime.CallersFrames(e.pcs[:e.n])
	for {
		f, more := frames.Next()
		fmt.Fprintf(&s, "\n\t%s %s:%d", f.Function, f.File, f.Line)
		if !more {
			return s.String()
		}
	}
}
