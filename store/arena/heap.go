package arena

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"
	"unsafe"
)

// A Ref names a block of a Heap: its place in units of 8 bytes (35 bits), a
// tag for the owner's use (1 bit) and its length in bytes (27 bits). The zero
// Ref names no block. The top bit is always clear and free for the owner.
type Ref uint64

const (
	lengthBits = 27
	tagBit     = Ref(1) << lengthBits
	placeShift = lengthBits + 1
	placeBits  = 35

	// MaxBlock is the length of the longest block, in bytes.
	MaxBlock = 1<<lengthBits - 1
	// MaxHeap is the size of the largest heap, in bytes.
	MaxHeap = 8 << placeBits
)

func newRef(place uint64, n int) Ref { return Ref(place>>3<<placeShift | uint64(n)) }

// Len returns the block's length in bytes.
func (r Ref) Len() int { return int(r & (tagBit - 1)) }

// Tagged tells whether the tag is set.
func (r Ref) Tagged() bool { return r&tagBit != 0 }

// WithTag returns the same block's name with the tag set.
func (r Ref) WithTag() Ref { return r | tagBit }

// Untagged returns the same block's name with the tag clear.
func (r Ref) Untagged() Ref { return r &^ tagBit }

func (r Ref) place() uint64 { return uint64(r) >> placeShift << 3 }

// ErrFull says that a heap's reservation is used up.
var ErrFull = errors.New("arena: the heap's reserved address space is used up")

// Heap hands out blocks. Bytes may be called by anyone at any time; Alloc and
// Free belong to one goroutine at a time. Many may allocate at once, each from
// a Span of its own, while nobody calls Alloc or Free.
//
// Small blocks come in classes of 8 bytes, so a free block fits the next of
// its size exactly. Larger ones come in eight steps a doubling, which wastes
// an eighth at most. Where a class is empty, a larger free block is cut;
// neighbours are not joined again, since the sizes asked for hardly change.
type Heap struct {
	memory []byte
	mu     sync.Mutex // guards top while many goroutines take spans
	top    uint64     // everything from here on is untouched
	free   [classes]uint64
	any    [(classes + 63) / 64]uint64 // a bit for each class that has a free block
	spare  int64                       // bytes in free blocks
}

const (
	smallLimit   = 2048             // up to here a class each 8 bytes
	smallClasses = smallLimit/8 + 1 // class i holds blocks of 8*i bytes
	stepBits     = 3
	classes      = smallClasses + (lengthBits-11)<<stepBits
)

// class returns the class for n bytes and the size of its blocks.
func class(n int) (class, size int) {
	if n <= smallLimit {
		c := (n + 7) / 8
		return c, c * 8
	}
	// The three bits below the leading one of n-1 choose the step.
	top := bits.Len(uint(n-1)) - 1
	step := 1 << (top - stepBits)
	size = (n + step - 1) &^ (step - 1)
	return smallClasses + (top-11)<<stepBits + (size-1)>>(top-stepBits) - 1<<stepBits, size
}

// NewHeap reserves room for size bytes of blocks, or less, down to least,
// where the system does not give as much.
func NewHeap(size, least int) (*Heap, error) {
	size = min(size, MaxHeap)
	for {
		memory, err := reserve(size)
		if err == nil {
			adviseHuge(memory)
			return &Heap{memory: memory, top: 8}, nil // place 0 is "no block"
		}
		if size/2 < least {
			return nil, err
		}
		size /= 2
	}
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
	c, size := class(n)
	if h.free[c] == 0 {
		if larger := h.larger(c, size); larger != 0 {
			return newRef(h.cut(larger, size), n), nil
		}
		place, err := h.extend(size)
		return newRef(place, n), err
	}
	return newRef(h.pop(c, size), n), nil
}

// Free takes a block back. Nobody may use it any more.
func (h *Heap) Free(r Ref) {
	if r.place() == 0 {
		return
	}
	_, size := class(r.Len())
	h.push(r.place(), size)
}

// Used returns the bytes that were ever handed out and those of them that are
// free now.
func (h *Heap) Used() (used, free int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return int64(h.top), h.spare
}

// Release gives the memory back. Nothing may use a block any more.
func (h *Heap) Release() error {
	memory := h.memory
	h.memory = nil
	return release(memory)
}

func (h *Heap) extend(size int) (uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if uint64(size) > uint64(len(h.memory))-h.top {
		return 0, ErrFull
	}
	place := h.top
	h.top += uint64(size)
	return place, nil
}

// The free blocks of a class are a list: the first word of each holds the
// place of the next.

func (h *Heap) push(place uint64, size int) {
	c, _ := class(size)
	binary.NativeEndian.PutUint64(h.memory[place:], h.free[c])
	h.free[c] = place
	h.any[c/64] |= 1 << (c % 64)
	h.spare += int64(size)
}

func (h *Heap) pop(c, size int) uint64 {
	place := h.free[c]
	h.free[c] = binary.NativeEndian.Uint64(h.memory[place:])
	if h.free[c] == 0 {
		h.any[c/64] &^= 1 << (c % 64)
	}
	h.spare -= int64(size)
	return place
}

// larger returns the first class above c that has a free block worth cutting,
// or 0. A rest of 8 bytes would serve nobody.
func (h *Heap) larger(c, size int) int {
	for i := c + 1; i < classes; {
		word := h.any[i/64] >> (i % 64)
		if word == 0 {
			i = (i/64 + 1) * 64
			continue
		}
		i += bits.TrailingZeros64(word)
		if classSize(i)-size >= 16 {
			return i
		}
		i++
	}
	return 0
}

// cut takes a block of class c, keeps its first size bytes and frees the rest.
func (h *Heap) cut(c, size int) uint64 {
	whole := classSize(c)
	place := h.pop(c, whole)
	h.give(place+uint64(size), whole-size)
	return place
}

// give frees n bytes, a multiple of 8, as blocks whose sizes are those of
// classes.
func (h *Heap) give(place uint64, n int) {
	for n > 0 {
		size := floorClass(n)
		h.push(place, size)
		place += uint64(size)
		n -= size
	}
}

// classSize is the size of class c's blocks.
func classSize(c int) int {
	if c < smallClasses {
		return c * 8
	}
	c -= smallClasses
	return (1<<stepBits + c&(1<<stepBits-1) + 1) << (c>>stepBits + 11 - stepBits)
}

// floorClass is the largest class size that is not above n, which is a
// multiple of 8.
func floorClass(n int) int {
	if n <= smallLimit {
		return n
	}
	n = min(n, 1<<lengthBits)
	top := bits.Len(uint(n)) - 1
	return n &^ (1<<(top-stepBits) - 1)
}

// Span is a private piece of a heap from which one goroutine allocates
// without asking the others. It fills itself when it is empty.
type Span struct {
	heap       *Heap
	size       int
	place, end uint64
}

// Span returns an empty span of the heap that takes size bytes at a time, a
// multiple of 8.
func (h *Heap) Span(size int) Span { return Span{heap: h, size: size} }

// Alloc is the heap's Alloc for the span's goroutine. It does not reuse free
// blocks.
func (s *Span) Alloc(n int) (Ref, error) {
	if n <= 0 || n > MaxBlock {
		return 0, ErrFull
	}
	_, size := class(n)
	if size > s.size/4 {
		place, err := s.heap.extend(size)
		return newRef(place, n), err
	}
	if uint64(size) > s.end-s.place {
		if err := s.refill(); err != nil {
			return 0, err
		}
	}
	place := s.place
	s.place += uint64(size)
	return newRef(place, n), nil
}

func (s *Span) refill() error {
	s.Close()
	place, err := s.heap.extend(s.size)
	if err != nil {
		return err
	}
	s.place, s.end = place, place+uint64(s.size)
	return nil
}

// Close gives what is left of the span back to the heap.
func (s *Span) Close() {
	s.heap.mu.Lock()
	defer s.heap.mu.Unlock()
	s.heap.give(s.place, int(s.end-s.place))
	s.place, s.end = 0, 0
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
