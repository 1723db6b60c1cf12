package arena

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"unsafe"
)

// ErrFull says that a reservation is used up, or that a block would be longer
// than MaxBlock.
var ErrFull = errors.New("the memory reserved is used up")

// Heap hands out blocks. Bytes may be called by anyone at any time; Alloc and
// Free belong to one goroutine at a time. Many may allocate at once, each from
// a Span of its own, while nobody calls Alloc or Free.
//
// Blocks up to 32 KB come from slabs of equal ones: each 8 bytes have a size of
// their own up to 512, above there are eight sizes a doubling. A slab whose
// last block is freed gives its pages back, so lists that grow together, each
// size after the other, do not leave their old sizes' memory behind. Longer
// blocks are runs of pages.
type Heap struct {
	memory  []byte
	pages   pages
	partial [classes]uint32 // first slab of each class that has room; 0 is none
	live    int64           // bytes of blocks handed out and not freed, as their slabs count them
}

const (
	smallLimit   = 512              // up to here a class each 8 bytes
	smallClasses = smallLimit/8 + 1 // class i has blocks of 8*i bytes
	slabLimit    = 32 << 10         // above it blocks are runs of pages
	stepBits     = 3
	smallBits    = 9                                       // of smallLimit
	classes      = smallClasses + (15-smallBits)<<stepBits // 15 bits of slabLimit
)

// class returns the class for n bytes, n <= slabLimit, and its blocks' size.
func class(n int) (class, size int) {
	if n <= smallLimit {
		c := (n + 7) / 8
		return c, c * 8
	}
	// The three bits below the leading one of n-1 choose the step.
	top := bits.Len(uint(n-1)) - 1
	step := 1 << (top - stepBits)
	size = (n + step - 1) &^ (step - 1)
	return smallClasses + (top-smallBits)<<stepBits + (size-1)>>(top-stepBits) - 1<<stepBits, size
}

// slabPages is how many pages a slab of blocks of size has: room for 8 at
// least, mostly 16 and more, so that its rest is small.
func slabPages(size int) uint32 {
	switch {
	case size <= 256:
		return 1
	case size <= 4096:
		return uint32(16*size+pageSize-1) >> pageBits
	default:
		return uint32(8*size+pageSize-1) >> pageBits
	}
}

// slabRoom is how many blocks of size a slab holds.
func slabRoom(size int) uint16 { return uint16(int(slabPages(size)) << pageBits / size) }

// pagesFor is how many pages a block of n bytes takes that has no slab.
func pagesFor(n int) uint32 { return uint32((n + pageSize - 1) >> pageBits) }

// NewHeap reserves room for size bytes of blocks, or less, down to least,
// where the system does not give as much.
func NewHeap(size, least int) (*Heap, error) {
	size = min(size, MaxHeap)
	for {
		memory, err := reserve(size)
		if err == nil {
			adviseHuge(memory)
			h := &Heap{memory: memory}
			if err := h.pages.init(size); err != nil {
				return nil, errors.Join(err, h.Release())
			}
			return h, nil
		}
		if size/2 < least {
			return nil, err
		}
		size /= 2
	}
}

// Release gives the memory back. Nothing may use a block any more.
func (h *Heap) Release() error {
	memory := h.memory
	h.memory = nil
	return errors.Join(release(memory), h.pages.info.Release())
}

// Bytes returns the block's memory. It stays valid until the block is freed.
func (h *Heap) Bytes(r Ref) []byte {
	p := r.place()
	n := uint64(r.Len())
	return h.memory[p : p+n : p+n]
}

// Alloc returns a block of n bytes, n > 0, with whatever it held before.
func (h *Heap) Alloc(n int) (Ref, error) {
	if n <= 0 || n > MaxBlock {
		return 0, ErrFull
	}
	if n > slabLimit {
		return h.allocPages(n, &h.live)
	}
	c, size := class(n)
	first := h.partial[c]
	if first == 0 {
		var err error
		if first, err = h.newSlab(c, size); err != nil {
			return 0, err
		}
		push(&h.pages.info, &h.partial[c], first)
	}
	s := h.pages.info.At(first)
	i := s.fresh
	if s.freed != 0 {
		i = s.freed - 1
		s.freed = binary.NativeEndian.Uint16(h.memory[blockPlace(first, i, size):])
	} else {
		s.fresh++
	}
	s.used++
	if s.used == slabRoom(size) {
		remove(&h.pages.info, &h.partial[c], first)
	}
	h.live += int64(size)
	return newRef(blockPlace(first, i, size), n), nil
}

func blockPlace(first uint32, i uint16, size int) uint64 {
	return uint64(first)<<pageBits + uint64(i)*uint64(size)
}

func (h *Heap) allocPages(n int, live *int64) (Ref, error) {
	count := pagesFor(n)
	first, err := h.pages.take(count)
	if err != nil {
		return 0, err
	}
	*live += int64(count) << pageBits
	return newRef(uint64(first)<<pageBits, n), nil
}

// newSlab makes an empty slab and returns its first page.
func (h *Heap) newSlab(c, size int) (uint32, error) {
	count := slabPages(size)
	first, err := h.pages.take(count)
	if err != nil {
		return 0, err
	}
	*h.pages.info.At(first) = page{state: slab, class: uint8(c)}
	for i := uint32(1); i < count; i++ {
		*h.pages.info.At(first + i) = page{state: inner, run: i}
	}
	return first, nil
}

// Free takes a block back. Nobody may use it any more. The zero Ref is fine.
func (h *Heap) Free(r Ref) {
	if r.place() == 0 {
		return
	}
	first := uint32(r.place() >> pageBits)
	if r.Len() > slabLimit {
		count := pagesFor(r.Len())
		h.pages.give(first, count)
		h.live -= int64(count) << pageBits
		return
	}
	c, size := class(r.Len())
	if at := h.pages.info.At(first); at.state == inner {
		first -= at.run
	}
	s := h.pages.info.At(first)
	i := uint16((r.place() - uint64(first)<<pageBits) / uint64(size))
	binary.NativeEndian.PutUint16(h.memory[r.place():], s.freed)
	s.freed = i + 1
	if s.used == slabRoom(size) {
		push(&h.pages.info, &h.partial[c], first)
	}
	s.used--
	h.live -= int64(size)
	if s.used == 0 {
		remove(&h.pages.info, &h.partial[c], first)
		h.pages.give(first, slabPages(size))
	}
}

// Used returns the bytes that were ever handed out, and those of them that no
// block uses now; blocks of a span count from its Close on. It belongs to the
// goroutine that allocates.
func (h *Heap) Used() (used, free int64) {
	used = int64(h.pages.top-1) << pageBits
	return used, used - h.live
}

// Span allocates blocks of a heap for one goroutine, from slabs of its own. It
// does not reuse what was freed.
type Span struct {
	heap  *Heap
	slabs [classes]uint32 // the slab of each class that has room; 0 is none
	live  int64
}

// Span returns a new span of the heap.
func (h *Heap) Span() *Span { return &Span{heap: h} }

// Alloc is the heap's Alloc for the span's goroutine.
func (s *Span) Alloc(n int) (Ref, error) {
	if n <= 0 || n > MaxBlock {
		return 0, ErrFull
	}
	if n > slabLimit {
		return s.heap.allocPages(n, &s.live)
	}
	c, size := class(n)
	first := s.slabs[c]
	if first == 0 {
		var err error
		if first, err = s.heap.newSlab(c, size); err != nil {
			return 0, err
		}
		s.slabs[c] = first
	}
	at := s.heap.pages.info.At(first)
	i := at.fresh
	at.fresh++
	at.used++
	if at.fresh == slabRoom(size) {
		s.slabs[c] = 0
	}
	s.live += int64(size)
	return newRef(blockPlace(first, i, size), n), nil
}

// Close gives what is left of the span's slabs to the heap. The span is empty
// then, and of use again.
func (s *Span) Close() {
	h := s.heap
	h.pages.mu.Lock()
	defer h.pages.mu.Unlock()
	for c, first := range s.slabs {
		if first != 0 {
			push(&h.pages.info, &h.partial[c], first)
			s.slabs[c] = 0
		}
	}
	h.live += s.live
	s.live = 0
}

// SizeOf returns the size of a T in bytes.
func SizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// Slice returns the block as elements of T, which must hold no pointers and
// need no more than 8-byte alignment; what is left of a last element is cut
// off. It stays valid until the block is freed.
func Slice[T any](h *Heap, r Ref) []T {
	b := h.Bytes(r)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/SizeOf[T]())
}
