package arena

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

func TestClasses(t *testing.T) {
	last, lastClass := 0, 0
	for n := 1; n <= slabLimit; n++ {
		c, size := class(n)
		if size < n || size%8 != 0 || c >= classes {
			t.Fatalf("class(%d) = %d of %d bytes", n, c, size)
		}
		if n > smallLimit && size-n > n/8 {
			t.Fatalf("a block for %d bytes has %d: more than an eighth lost", n, size)
		}
		if size < last || (size > last) != (c > lastClass) {
			t.Fatalf("class(%d): sizes or classes do not grow", n)
		}
		if room := int(slabRoom(size)); room < 8 || room*size > int(slabPages(size))<<pageBits ||
			room*size < int(slabPages(size))<<pageBits*15/16 {
			t.Fatalf("a slab of %d pages has room for %d blocks of %d bytes", slabPages(size), room, size)
		}
		last, lastClass = size, c
	}
	if lastClass != classes-1 {
		t.Errorf("%d of %d classes", lastClass, classes-1)
	}
}

func TestBins(t *testing.T) {
	last := 0
	for n := uint32(1); n < MaxHeap>>pageBits; n += 1 + n/100 {
		bin := binOf(n)
		if bin < last || bin > last+1 || bin >= bins {
			t.Fatalf("binOf(%d) = %d after %d", n, bin, last)
		}
		last = bin
	}
}

func TestRef(t *testing.T) {
	r := newRef(MaxHeap-8, MaxBlock)
	if r.place() != MaxHeap-8 || r.Len() != MaxBlock || r.Tagged() || r>>63 != 0 {
		t.Errorf("%x: place %d length %d tagged %v", uint64(r), r.place(), r.Len(), r.Tagged())
	}
	if w := r.WithTag(); !w.Tagged() || w.Len() != r.Len() || w.place() != r.place() {
		t.Errorf("the tag changed more than itself: %x", uint64(w))
	}
}

func newTestHeap(t testing.TB, size int) *Heap {
	t.Helper()
	h, err := NewHeap(size, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Release(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Random allocation and freeing: no live block is ever written by another.
func TestHeapBlocksDoNotOverlap(t *testing.T) {
	h := newTestHeap(t, 32<<20)
	type live struct {
		ref  Ref
		fill byte
	}
	var blocks []live
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60_000 {
		if len(blocks) < 500 || random.IntN(2) == 0 {
			n := 1 + random.IntN(1<<random.IntN(13))
			r, err := h.Alloc(n)
			if err != nil {
				t.Fatal(err)
			}
			b := h.Bytes(r)
			if len(b) != n || cap(b) != n {
				t.Fatalf("block of %d bytes for %d", len(b), n)
			}
			fill := byte(i)
			for j := range b {
				b[j] = fill
			}
			blocks = append(blocks, live{r, fill})
		} else {
			k := random.IntN(len(blocks))
			b := blocks[k]
			if want := bytes.Repeat([]byte{b.fill}, b.ref.Len()); !bytes.Equal(h.Bytes(b.ref), want) {
				t.Fatalf("block %d of %d bytes was written by another", k, b.ref.Len())
			}
			h.Free(b.ref)
			blocks[k] = blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
		}
	}
	for _, b := range blocks {
		h.Free(b.ref)
	}
	checkAllFree(t, h)
}

// checkAllFree tells whether all blocks' memory came back and was joined.
func checkAllFree(t *testing.T, h *Heap) {
	t.Helper()
	if used, free := h.Used(); used != free {
		t.Errorf("all blocks are free, but of %d bytes only %d are", used, free)
	}
	if h.pages.top > 1 {
		if first := h.pages.info.At(1); first.state != idle || first.run != h.pages.top-1 {
			t.Errorf("of %d free pages the first run has %d", h.pages.top-1, first.run)
		}
	}
}

// Many lists that grow together pass through all sizes. What they leave behind
// serves the next size, and pages serve blocks of all kinds.
func TestHeapReusesOtherSizes(t *testing.T) {
	h := newTestHeap(t, 64<<20)
	const lists, steps = 1000, 600
	refs := make([]Ref, lists)
	for step := 1; step <= steps; step++ {
		for i := range refs {
			next, err := h.Alloc(12 * step)
			if err != nil {
				t.Fatal(err)
			}
			h.Free(refs[i])
			refs[i] = next
		}
	}
	used, free := h.Used()
	if used > 2*(used-free) {
		t.Errorf("%d KB of blocks take %d KB", (used-free)>>10, used>>10)
	}
	for _, r := range refs {
		h.Free(r)
	}
	checkAllFree(t, h)
	if _, err := h.Alloc(5 << 20); err != nil {
		t.Error(err)
	}
	if after, _ := h.Used(); after != used {
		t.Errorf("free pages were not reused: %d KB, then %d", used>>10, after>>10)
	}
}

func TestHeapFull(t *testing.T) {
	h := newTestHeap(t, 1<<16)
	for _, n := range []int{0, -1, MaxBlock + 1, 1 << 16} {
		if _, err := h.Alloc(n); err != ErrFull {
			t.Errorf("Alloc(%d): %v", n, err)
		}
	}
	n := 0
	for {
		r, err := h.Alloc(4096)
		if err != nil {
			if r != 0 && r.place() != 0 {
				t.Error("a block came with the error")
			}
			break
		}
		n++
	}
	if n != 0 { // a slab of sixteen, less one page that is never used
		t.Errorf("%d blocks of 4 KB in a heap of 64", n)
	}
	for n = 0; ; n++ {
		if _, err := h.Alloc(100); err != nil {
			break
		}
	}
	if n != 15*39 {
		t.Errorf("%d blocks of 104 bytes in 15 pages", n)
	}
}

func TestSpans(t *testing.T) {
	h := newTestHeap(t, 64<<20)
	var wg sync.WaitGroup
	refs := make([][]Ref, 4)
	for w := range refs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := h.Span()
			defer s.Close()
			for i := range 3000 {
				n := 16 + i%700
				if i%1000 == 0 {
					n = 100_000 // no slab for these
				}
				r, err := s.Alloc(n)
				if err != nil {
					t.Error(err)
					return
				}
				for j := range h.Bytes(r) {
					h.Bytes(r)[j] = byte(w)
				}
				refs[w] = append(refs[w], r)
			}
		}()
	}
	wg.Wait()
	for w, rs := range refs {
		for _, r := range rs {
			for _, b := range h.Bytes(r) {
				if b != byte(w) {
					t.Fatal("two spans share a block")
				}
			}
			h.Free(r)
		}
	}
	checkAllFree(t, h)
}

func TestColumn(t *testing.T) {
	c, err := NewColumn[atomic.Uint64](1000, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 1000 || c.At(999).Load() != 0 {
		t.Error("a new column is not zero")
	}
	c.At(999).Store(7)
	if c.At(999).Load() != 7 {
		t.Error("a row forgot its value")
	}
	if err := c.Release(); err != nil || c.Len() != 0 {
		t.Error(err, c.Len())
	}
	defer func() {
		if recover() == nil {
			t.Error("a column of pointers was made")
		}
	}()
	NewColumn[struct {
		n int
		s string
	}](1, 1)
}

// A reservation that is not touched costs nothing.
func TestReservationIsLazy(t *testing.T) {
	if !Lazy {
		t.Skip("reservations live on the Go heap in this build")
	}
	c, err := NewColumn[uint64](1<<35, 0) // 256 GB
	if err != nil {
		t.Fatal(err)
	}
	*c.At(1<<32 - 1) = 1
	if err := c.Release(); err != nil {
		t.Error(err)
	}
}
