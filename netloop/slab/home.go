package slab

// A block that another cache frees is posted: pushed on a stack of its owner,
// with one compare-and-swap. Nobody pops: who takes, takes the whole stack with
// one swap, which is why it need not be the owner, and why a block that comes
// and goes meanwhile (ABA) does no harm. The links stand in the entries.

// post sends a block home, which its tag names.
func (c *Cache) post(unit, tag uint32) {
	k := tag & tagClass
	c.crossed[k].Store(c.crossed[k].Load() + 1)
	home := (*c.arena.caches.Load())[tag>>ownerShift]
	if home == nil {
		c.arena.giveOne(unit)
		return
	}
	home.waiting[k].Add(1)
	for {
		head := home.posted.Load()
		if head == closed {
			home.waiting[k].Add(-1)
			c.arena.giveOne(unit)
			return
		}
		c.units[unit].next = head
		if home.posted.CompareAndSwap(head, unit+1) {
			return
		}
	}
}

// takeHome moves what others posted into the lists, and what they have no room
// for into the arena.
func (c *Cache) takeHome() {
	if c.posted.Load() == 0 {
		return
	}
	head, rest := c.posted.Swap(0), uint32(0)
	for head != 0 {
		unit, entry := head-1, &c.units[head-1]
		next, k := entry.next, entry.tag&tagClass
		if l := &c.lists[k]; int(l.n.Load()) < len(l.blocks) {
			c.waiting[k].Add(-1)
			l.push(unit)
		} else {
			entry.next, rest = rest, head
		}
		head = next
	}
	if rest != 0 {
		c.arena.mu.Lock()
		c.arena.giveStack(c, rest)
		c.arena.unlock()
	}
}

// giveStack takes back a stack of posted blocks; a.mu is held.
func (a *Arena) giveStack(home *Cache, head uint32) {
	for head != 0 {
		unit := head - 1
		head = a.units[unit].next
		home.waiting[a.units[unit].tag&tagClass].Add(-1)
		a.give(unit)
	}
}

// gather takes back what waits on the stacks of all caches; a.mu is held. Who
// takes a whole stack at once need not be its owner.
func (a *Arena) gather() {
	for _, c := range *a.caches.Load() {
		if c != nil {
			a.giveStack(c, c.posted.Swap(0))
		}
	}
}
