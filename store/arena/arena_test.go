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
	f := func(n int) {
		t.Helper()
		c, size := class(n)
		if size < n || size%8 != 0 || classSize(c) != size || c >= classes {
			t.Fatalf("class(%d) = %d of %d bytes, classSize %d", n, c, size, classSize(c))
		}
		if n > smallLimit && size-n > n/8 {
			t.Fatalf("a block for %d bytes has %d: more than an eighth lost", n, size)
		}
		if size < last || (size > last) != (c > lastClass) {
			t.Fatalf("class(%d): sizes or classes do not grow", n)
		}
		if floor := floorClass(size); floor != size {
			t.Fatalf("floorClass(%d) = %d", size, floor)
		}
		last, lastClass = size, c
	}
	for n := 1; n < 1<<16; n++ {
		f(n)
	}
	for n := 1 << 16; n <= MaxBlock; n += n/64 + 1 {
		f(n)
	}
	f(MaxBlock)
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
	var inUse int64
	for _, b := range blocks {
		_, size := class(b.ref.Len())
		inUse += int64(size)
		h.Free(b.ref)
	}
	used, free := h.Used()
	if used-8 != free {
		t.Errorf("all blocks are free, but of %d bytes only %d are", used-8, free)
	}
	if inUse*8 < used {
		t.Errorf("%d bytes live in a heap of %d: free blocks are not reused", inUse, used)
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
		r, err := h.Alloc(1000)
		if err != nil {
			if r != 0 && r.place() != 0 {
				t.Error("a block came with the error")
			}
			break
		}
		n++
	}
	if n != 65 { // (65536 - 8) / 1000
		t.Errorf("%d blocks of 1000 bytes in 64 KB", n)
	}
}

func TestSpans(t *testing.T) {
	const spanSize = 256 << 10
	h := newTestHeap(t, 16<<20)
	var wg sync.WaitGroup
	refs := make([][]Ref, 4)
	for w := range refs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := h.Span(spanSize)
			defer s.Close()
			for i := range 3000 {
				n := 16 + i%700
				if i%1000 == 0 {
					n = spanSize // larger than a span likes
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
	if used, free := h.Used(); used-8 != free {
		t.Errorf("of %d bytes %d are free", used-8, free)
	}
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
