package filter

import (
	"fmt"
	"net/netip"
	"sync"
)

// Conns counts the open connections of each client, of all loops. It holds as
// much memory as the most clients at one time took.
type Conns struct {
	shards [connShards]connShard
}

// Loops that open and close connections seldom meet in one of 64 shards.
const connShards = 64

type connShard struct {
	lock sync.Mutex
	open map[uint64]int
	_    [48]byte // shards share no cache line
}

// NewConns returns a count of none.
func NewConns() *Conns {
	c := new(Conns)
	for i := range c.shards {
		c.shards[i].open = map[uint64]int{}
	}
	return c
}

// shard spreads keys by a multiplication: who chooses addresses that meet in
// one gains that loops wait for each other for some nanoseconds.
func (c *Conns) shard(key uint64) *connShard {
	return &c.shards[key*0x9e3779b97f4a7c15>>58]
}

// Add counts a connection that was opened from an address, and is how many the
// client has now.
func (c *Conns) Add(a netip.Addr) (now int) {
	key := keyOf(a)
	s := c.shard(key)
	s.lock.Lock()
	defer s.lock.Unlock()
	now = s.open[key] + 1
	s.open[key] = now
	return now
}

// Remove counts a connection that was added and is closed now.
func (c *Conns) Remove(a netip.Addr) {
	key := keyOf(a)
	s := c.shard(key)
	s.lock.Lock()
	defer s.lock.Unlock()
	switch n := s.open[key]; {
	case n > 1:
		s.open[key] = n - 1
	case n == 1:
		delete(s.open, key)
	default:
		panic(fmt.Sprintf("filter: a connection of %s closed, of %d open", a, n))
	}
}

// Len is how many clients have connections open.
func (c *Conns) Len() (clients int) {
	for i := range c.shards {
		s := &c.shards[i]
		s.lock.Lock()
		clients += len(s.open)
		s.lock.Unlock()
	}
	return clients
}
