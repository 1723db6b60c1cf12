package arena

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
