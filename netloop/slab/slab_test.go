package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func addr(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// rounds is how many of n rounds a test should do.
func rounds(n int) int {
	if debugging || testing.Short() { // filling and checking 4 MB takes a while
		return n / 10
	}
	return n
}

func newArena(t testing.TB, quota int) *Arena {
	t.Helper()
	a, err := New(quota)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func get(t testing.TB, c *Cache, n int) []byte {
	t.Helper()
	b, err := c.Get(n)
	if err != nil {
		t.Fatalf("Get(%d): %v", n, err)
	}
	return b
}

// panics runs f and checks that it panics with a text that has all the words.
func panics(t *testing.T, f func(), words ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		text := fmt.Sprint(recover())
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("panic %q, want %q in it", text, word)
			}
		}
	}()
	f()
}

func TestSizes(t *testing.T) {
	f := func(n, want int) {
		t.Helper()
		c := newArena(t, 8<<20).NewCache()
		b := get(t, c, n)
		if len(b) != want || cap(b) != want {
			t.Errorf("Get(%d): len %d, cap %d, want %d", n, len(b), cap(b), want)
		}
		c.Put(b[:0])
	}
	f(-1, 1<<10)
	f(0, 1<<10)
	f(1, 1<<10)
	f(1<<10, 1<<10)
	f(1<<10+1, 2<<10)
	f(16000, 16<<10)
	f(4<<20, 4<<20)
	f(2<<20+1, 4<<20)

	c := newArena(t, 16<<20).NewCache()
	for _, n := range []int{MaxBlock + 1, 8 << 20, int(^uint(0) >> 1)} {
		if _, err := c.Get(n); err != ErrTooLong {
			t.Errorf("Get(%d): %v, want ErrTooLong", n, err)
		}
	}
}

func TestQuotaOutOfRange(t *testing.T) {
	for _, quota := range []int{-1, 0, MinBlock - 1, int(^uint(0) >> 1)} {
		if _, err := New(quota); err == nil {
			t.Errorf("New(%d) has no error", quota)
		}
	}
}

// All of a quota can be used, no byte more; what is freed can be used again,
// in any size.
func TestFullAndRecovery(t *testing.T) {
	const quota = 12 << 20
	a := newArena(t, quota)
	c := a.NewCache()
	for round := range 3 {
		for _, size := range []int{1 << 10, 4 << 20, 16 << 10, 256 << 10, 2 << 20} {
			var all [][]byte
			for {
				b, err := c.Get(size)
				if err != nil {
					if !errors.Is(err, ErrFull) {
						t.Fatal(err)
					}
					break
				}
				all = append(all, b)
			}
			if len(all)*size != quota {
				t.Fatalf("round %d: %d blocks of %d bytes, want %d", round, len(all), size, quota/size)
			}
			if _, err := c.Get(1); err != ErrFull {
				t.Fatalf("Get beyond the quota: %v", err)
			}
			c.Put(all[0])
			all[0] = get(t, c, size)
			for _, b := range all {
				c.Put(b)
			}
		}
	}
	if s := a.Stats(); s.Refused != 30 || s.Live.Blocks != 0 {
		t.Errorf("%d refused, %+v live, want 30, none", s.Refused, s.Live)
	}
	c.Close()
	whole(t, a)
}

// Small blocks of the past do not starve large ones.
func TestFragmentation(t *testing.T) {
	a := newArena(t, 64<<20)
	c, other := a.NewCache(), a.NewCache()
	all := make([][]byte, 64<<10)
	for i := range all {
		all[i] = get(t, c, MinBlock)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i, b := range all {
		if i%3 == 0 {
			other.Put(b)
		} else {
			c.Put(b)
		}
	}
	for i := range 16 { // all of the quota: nothing may stay behind in lists and stacks
		if _, err := c.Get(MaxBlock); err != nil {
			t.Fatalf("block %d of 4 MB: %v; %+v", i, err, a.Stats())
		}
	}
}

// What sits idle in another cache is out of reach, until that cache hears of
// the refusal.
func TestOthersLetGo(t *testing.T) {
	a := newArena(t, MaxBlock)
	c, other := a.NewCache(), a.NewCache()
	other.Put(get(t, other, MinBlock))
	if _, err := c.Get(MaxBlock); err != ErrFull {
		t.Fatalf("a block is idle in the other cache, Get: %v", err)
	}
	other.Collect()
	c.Put(get(t, c, MaxBlock))
	if n := a.Stats().Cached.Blocks; n != 0 {
		t.Errorf("%d blocks cached", n)
	}
	other.Put(get(t, other, MinBlock))
	if other.Collect(); a.Stats().Cached.Blocks == 0 {
		t.Error("Collect gave blocks back though nobody was refused since the last time")
	}
}

// A block freed elsewhere comes home, where the owner finds it.
func TestCrossing(t *testing.T) {
	a := newArena(t, 8<<20)
	c, other := a.NewCache(), a.NewCache()
	b := get(t, c, 256<<10)
	other.Put(b)
	s := a.Stats()
	if s.Crossed != 1 || s.Class[8].Crossed != 1 || s.Cached.Bytes != 256<<10 || s.Live.Blocks != 0 {
		t.Errorf("after a free elsewhere: %+v", s)
	}
	if other.lists[8].n.Load() != 0 {
		t.Error("the block stayed where it was freed")
	}
	if again := get(t, c, 256<<10); addr(again) != addr(b) {
		t.Error("the owner did not find the block that came home")
	} else {
		other.Put(again)
	}
	c.Collect()
	if c.lists[8].n.Load() != 1 || c.posted.Load() != 0 {
		t.Error("Collect left the block on the stack")
	}
	last := get(t, c, 256<<10)
	c.Close()
	other.Put(last) // nobody's any more
	other.Close()
	if s := a.Stats(); s.Crossed != 3 {
		t.Errorf("%d crossed, want 3: closed caches count too", s.Crossed)
	}
	whole(t, a)
}

// A cache keeps no more than its bound, however much comes back at once.
func TestCacheIsBounded(t *testing.T) {
	a := newArena(t, 64<<20)
	c, other := a.NewCache(), a.NewCache()
	for k := range Classes {
		var all [][]byte
		for range min(2000, 16<<20/(MinBlock<<k)) {
			all = append(all, get(t, c, MinBlock<<k))
		}
		for i, b := range all {
			if i%2 == 0 {
				c.Put(b)
			} else {
				other.Put(b)
			}
		}
		c.Collect()
		if got := a.Stats().Class[k].Cached * MinBlock << k; got > keepBytes {
			t.Errorf("%d bytes of class %d cached, want %d at most", got, k, keepBytes)
		}
	}
	if got := a.Stats().Cached.Bytes; got > 9*keepBytes {
		t.Errorf("%d bytes cached", got)
	}
}

// A list that overflows keeps what was freed last.
func TestSpill(t *testing.T) {
	c := newArena(t, 64<<20).NewCache()
	var all [20][]byte // a cache keeps 16, and takes 4 at a time
	for i := range all {
		all[i] = get(t, c, 16<<10)
	}
	for _, b := range all {
		c.Put(b)
	}
	for i := range 12 { // the 17th of 20 found the list full: 8 stayed, 4 came
		if want := all[19-i]; addr(get(t, c, 16<<10)) != addr(want) {
			t.Fatalf("Get does not return the block freed %d before the last", i)
		}
	}
	if n := c.lists[4].n.Load(); n != 0 {
		t.Errorf("%d more blocks were kept", n)
	}
}

// A block whose owner closes at the very moment of its free is not lost.
func TestPostToClosing(t *testing.T) {
	a := newArena(t, 8<<20)
	c, other := a.NewCache(), a.NewCache()
	b := get(t, c, MaxBlock)
	c.posted.Store(closed) // Close has come this far
	other.Put(b)
	if s := a.Stats(); s.Free != s.Quota || s.Cached.Blocks != 0 {
		t.Errorf("the block is not in the arena: %+v", s)
	}
}

func TestWarm(t *testing.T) {
	a := newArena(t, 8<<20)
	c := a.NewCache()
	if err := c.Warm(16000, 100); err != nil { // more than a cache keeps by itself
		t.Fatal(err)
	}
	free := a.Stats().Free
	var all [][]byte
	for range 100 {
		all = append(all, get(t, c, 16000))
	}
	for _, b := range all {
		c.Put(b)
	}
	if got := a.Stats().Free; got != free {
		t.Errorf("%d bytes free, %d when it was warm", got, free)
	}
	if err := c.Warm(4<<20, 3); !errors.Is(err, ErrFull) || a.Stats().Live.Blocks != 0 {
		t.Errorf("Warm beyond the quota: %v, %+v", err, a.Stats().Live)
	}
	if err := c.Warm(MaxBlock+1, 0); err != ErrTooLong {
		t.Errorf("Warm beyond the largest block: %v", err)
	}
	if err := c.Warm(1, -1); err != nil {
		t.Errorf("Warm for no blocks: %v", err)
	}
	c.Close()
	whole(t, a)
}

func TestNoAllocations(t *testing.T) {
	if debugging {
		t.Skip("the tag slabdebug notes stacks")
	}
	a := newArena(t, 32<<20)
	c, other := a.NewCache(), a.NewCache()
	var all [600][]byte
	f := func() {
		for i := range all {
			all[i], _ = c.Get(1000 + i*30)
		}
		for i, b := range all {
			if i%2 == 0 {
				c.Put(b)
			} else {
				other.Put(b)
			}
		}
		c.Collect()
		big, _ := c.Get(MaxBlock)
		c.Put(big)
	}
	if n := testing.AllocsPerRun(100, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPutPanics(t *testing.T) {
	a := newArena(t, 8<<20)
	c := a.NewCache()
	panics(t, func() { c.Put(nil) }, "Put of 0 bytes at 0x0", "not of this arena")
	panics(t, func() { c.Put(make([]byte, 5000)) }, "not of this arena")
	panics(t, func() { c.Put(get(t, newArena(t, 8<<20).NewCache(), 1)) }, "not of this arena")
	b := get(t, c, 4096)
	panics(t, func() { c.Put(b[1:]) }, "inside of a block")
	panics(t, func() { c.Put(b[1024:]) }, "inside of a block")
	c.Put(b)
	panics(t, func() { c.Put(b) }, "already free", "4096")
	big := get(t, c, MaxBlock)
	c.Put(big)
	panics(t, func() { c.Put(big) }, "already free")
	panics(t, func() { a.NewCache().Put(b) }, "already free", "4096")
}

// Several threads take blocks and hand them to each other; memory is short, so
// that they also refuse, flush and gather, and caches come and go.
func TestThreads(t *testing.T) {
	a := newArena(t, 5<<20)
	const threads = 4
	mail := make(chan []byte, 64)
	var wg sync.WaitGroup
	for id := range threads {
		wg.Go(func() {
			c := a.NewCache()
			r := rand.New(rand.NewPCG(uint64(id), 1))
			free := func(b []byte) {
				if want := b[0]; b[len(b)-1] != want {
					t.Errorf("a block of %d bytes begins with %d and ends with %d", len(b), want, b[len(b)-1])
				}
				c.Put(b)
			}
			for i := range rounds(8000) {
				switch b, err := c.Get(MinBlock << r.IntN(1+r.IntN(Classes))); {
				case err == nil:
					b[0], b[len(b)-1] = byte(i), byte(i)
					select {
					case mail <- b:
					default:
						free(b)
					}
				case err != ErrFull:
					t.Error(err)
				}
				if r.IntN(3) > 0 {
					select {
					case b := <-mail:
						free(b)
					default:
					}
				}
				switch r.IntN(200) {
				case 0:
					c.Close()
					c = a.NewCache()
				case 1:
					a.Stats()
				case 2, 3, 4, 5:
					c.Collect()
				}
			}
			c.Close()
		})
	}
	wg.Wait()
	c := a.NewCache()
	for len(mail) > 0 {
		c.Put(<-mail)
	}
	c.Close()
	whole(t, a)
}
