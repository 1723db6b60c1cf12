package slab

// The arena's memory is counted in units of MinBlock, and a block is named by
// its first unit. A block of class k has 1<<k units and begins at a multiple
// of as many; its mate is the block it was split from.
//
// One entry a unit says what begins there. Units inside of a block, and the
// first units of free blocks of the largest class, have tag 0: so an address
// inside of a block is never taken for a block, and memory that was never used
// costs no entries either.
type entry struct {
	tag  uint32 // written under the arena's lock only
	next uint32 // written by whoever has the block: held, or the one below in a stack of posted blocks, as unit+1
}

// A tag holds the class (4 bits), tagFree if the arena has the block, else the
// number of the cache that owns it (from bit ownerShift).
const (
	tagClass   = 15
	tagFree    = 1 << 4
	ownerShift = 16
)

// held stands in next while the block is in a user's hands.
const held = ^uint32(0)

const top = Classes - 1

// buddy splits and merges. It takes the lowest block of the smallest class
// that will do, so that live blocks gather at low addresses.
type buddy struct {
	units []entry
	free  [Classes + 1]places // of class k by unit>>k; the last are whole blocks of class top that hold no memory
}

// newBuddy manages the given units, all of them free and untouched.
func newBuddy(units []entry) *buddy {
	b := &buddy{units: units}
	for k := range b.free {
		b.free[k] = newPlaces(len(units) >> min(k, top))
	}
	whole := len(units) >> top
	for i := range whole {
		b.free[Classes].add(uint32(i))
	}
	// The rest of a quota that is no multiple of the largest block.
	for unit, k := whole<<top, top; k >= 0; k-- {
		if len(units)-unit >= 1<<k {
			b.setFree(uint32(unit), k)
			unit += 1 << k
		}
	}
	return b
}

// take returns a free block of class k, which is then in no set and has no tag.
func (b *buddy) take(k int) (unit uint32, ok bool) {
	from := k
	for b.free[from].n == 0 {
		if from++; from > Classes {
			return 0, false
		}
	}
	have := min(from, top)
	place := b.free[from].first()
	b.free[from].remove(place)
	unit = place << have
	b.units[unit].tag = 0
	for have > k {
		have--
		b.setFree(unit+1<<have, have)
	}
	return unit, true
}

// give takes a block back and merges it with its mate as long as that is free.
func (b *buddy) give(unit uint32, k int) {
	b.units[unit].tag = 0
	for k < top {
		mate := unit ^ 1<<k
		if int(mate) >= len(b.units) || b.units[mate].tag != tagFree|uint32(k) {
			break
		}
		b.units[mate].tag = 0
		b.free[k].remove(mate >> k)
		unit &= mate
		k++
	}
	b.setFree(unit, k)
}

func (b *buddy) setFree(unit uint32, k int) {
	if k < top {
		b.units[unit].tag = tagFree | uint32(k)
	}
	b.free[k].add(unit >> k)
}

// takeUsed takes out the highest of the whole free blocks that have been used;
// there is one.
func (b *buddy) takeUsed() (unit uint32) {
	place := b.free[top].last()
	b.free[top].remove(place)
	return place << top
}

// giveEmpty takes back what takeUsed returned, now without memory.
func (b *buddy) giveEmpty(unit uint32) { b.free[Classes].add(unit >> top) }
