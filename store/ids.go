package store

import (
	"sync/atomic"

	"redoubt/store/arena"
)

// ids leads from outer ids, any 32-bit numbers, to slots, which are dense.
// Ids below a bound are their own slot, whether they exist or not; each id
// beyond, once it exists, has a slot of its own from the bound on.
type ids struct {
	dense uint32
	rows  uint32 // slots there can be
	keys  [2]uint32
	far   table
	outer arena.Column[atomic.Uint32] // slot - dense → id
	count uint32                      // far ids there are; the writer's
}

func (x *ids) init(heap *arena.Heap, dense, rows uint32, random uint64) (err error) {
	x.dense, x.rows = dense, rows
	x.keys = [2]uint32{uint32(random), uint32(random>>32) | 1}
	x.far.heap = heap
	x.outer, err = arena.NewColumn[atomic.Uint32](int(rows-dense), 0)
	return err
}

// key mixes an id. It is a bijection, so equal keys are equal ids; it is
// seeded, so that nobody can choose ids that collide.
func (x *ids) key(id uint32) uint32 {
	k := (id ^ x.keys[0]) * x.keys[1]
	k = (k ^ k>>16) * 0x85ebca6b
	k = (k ^ k>>13) * 0xc2b2ae35
	return k ^ k>>16
}

func anySlot(uint32) bool { return true }

// slot returns the slot of id. Whether a record stands there is for the
// record to say.
func (x *ids) slot(id uint32) (slot uint32, found bool) {
	if id < x.dense {
		return id, true
	}
	return x.far.find(x.key(id), anySlot)
}

// id returns the id whose slot it is.
func (x *ids) id(slot uint32) uint32 {
	if slot < x.dense {
		return slot
	}
	return x.outer.At(slot - x.dense).Load()
}

// prepare returns the slot that id, which has none, will have, and makes room
// for it; old is a block of the hash that was replaced. Nobody finds the slot
// by its id before commit.
func (x *ids) prepare(id uint32, alloc func(n int) (arena.Ref, error)) (slot uint32, old arena.Ref, err error) {
	if id < x.dense {
		return id, 0, nil
	}
	if x.count >= x.rows-x.dense {
		return 0, 0, ErrFull
	}
	if old, err = x.far.room(x.key(id), alloc); err != nil {
		return 0, 0, err
	}
	x.outer.At(x.count).Store(id)
	return x.dense + x.count, old, nil
}

// commit makes id, which was prepared last, be found.
func (x *ids) commit(id uint32) {
	if id < x.dense {
		return
	}
	x.far.add(x.key(id), x.dense+x.count)
	x.count++
}
