package slab

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
)

// model runs operations on a few caches of one arena, and knows what must be
// true: which units are in whose hands, and what was written into them.
type model struct {
	t      *testing.T
	arena  *Arena
	caches []*Cache
	live   []hold
	units  []bool // in users' hands
	bytes  int64  // the same
	stamp  uint64
}

// hold is a block in a user's hands.
type hold struct {
	b     []byte
	unit  int
	stamp uint64
}

func newModel(t *testing.T, quota, caches int) *model {
	arena, err := New(quota)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{t: t, arena: arena, units: make([]bool, quota/MinBlock)}
	for range caches {
		m.caches = append(m.caches, arena.NewCache())
	}
	return m
}

func (m *model) get(c *Cache, n int) {
	b, err := c.Get(n)
	if n > MaxBlock {
		if !errors.Is(err, ErrTooLong) {
			m.t.Fatalf("Get(%d): %v, want ErrTooLong", n, err)
		}
		return
	}
	size := MinBlock
	for size < n {
		size *= 2
	}
	if err != nil {
		m.full(c, size, err)
		return
	}
	if len(b) != size || cap(b) != size {
		m.t.Fatalf("Get(%d): len %d, cap %d, want %d", n, len(b), cap(b), size)
	}
	unit := int(addr(b)-addr(m.arena.memory)) / MinBlock
	for i := unit; i < unit+size/MinBlock; i++ {
		if m.units[i] {
			m.t.Fatalf("Get(%d) gave unit %d, which is in use", n, i)
		}
		m.units[i] = true
	}
	m.bytes += int64(size)
	m.stamp++
	binary.LittleEndian.PutUint64(b, m.stamp)
	binary.LittleEndian.PutUint64(b[size-8:], m.stamp)
	m.live = append(m.live, hold{b, unit, m.stamp})
}

// full checks that a refusal was right: no free block is large enough, the
// cache has nothing idle, and no cache has anything posted.
func (m *model) full(c *Cache, size int, err error) {
	if !errors.Is(err, ErrFull) {
		m.t.Fatalf("Get of %d bytes: %v, want ErrFull", size, err)
	}
	for k := classOf(size); k <= Classes; k++ {
		if n := m.arena.buddy.free[k].n; n > 0 {
			m.t.Fatalf("Get of %d bytes refused with %d blocks of class %d free", size, n, k)
		}
	}
	for k := range c.lists {
		if n := c.lists[k].n.Load(); n > 0 {
			m.t.Fatalf("Get of %d bytes refused with %d blocks of class %d idle in the cache", size, n, k)
		}
	}
	for _, other := range m.caches {
		if other.posted.Load() != 0 {
			m.t.Fatalf("Get of %d bytes refused with blocks posted home", size)
		}
	}
}

// put frees the i-th live block, through a slice cut to n bytes.
func (m *model) put(c *Cache, i, n int) {
	h := m.live[i]
	m.live[i] = m.live[len(m.live)-1]
	m.live = m.live[:len(m.live)-1]
	first, last := binary.LittleEndian.Uint64(h.b), binary.LittleEndian.Uint64(h.b[len(h.b)-8:])
	if first != h.stamp || last != h.stamp {
		m.t.Fatalf("a live block of %d bytes at unit %d was written: stamps %d and %d, want %d", len(h.b), h.unit, first, last, h.stamp)
	}
	for j := h.unit; j < h.unit+len(h.b)/MinBlock; j++ {
		m.units[j] = false
	}
	m.bytes -= int64(len(h.b))
	c.Put(h.b[:n%(len(h.b)+1)])
}

func (m *model) check() {
	s := m.arena.Stats()
	if s.Live.Bytes != m.bytes || s.Live.Blocks != int64(len(m.live)) {
		m.t.Fatalf("Stats: %+v live, want %d blocks, %d bytes", s.Live, len(m.live), m.bytes)
	}
	if s.Free < 0 || s.Free+s.Live.Bytes+s.Cached.Bytes != s.Quota {
		m.t.Fatalf("Stats: %d free, %d live and %d cached are no %d", s.Free, s.Live.Bytes, s.Cached.Bytes, s.Quota)
	}
}

// end frees all blocks, from any cache, and checks that they merge.
func (m *model) end() {
	for i := 0; len(m.live) > 0; i++ {
		m.put(m.caches[i%len(m.caches)], (i*7)%len(m.live), i)
	}
	m.check()
	for i, c := range m.caches {
		if i%2 == 0 { // the others must let go of posted blocks on Close
			c.Collect()
		}
		c.Close()
	}
	whole(m.t, m.arena)
	if err := m.arena.Close(); err != nil {
		m.t.Fatal(err)
	}
}

// whole checks that all memory is in the arena, in as few blocks as it fits.
func whole(t *testing.T, a *Arena) {
	t.Helper()
	if s := a.Stats(); s.Free != s.Quota || s.Live.Blocks != 0 || s.Cached.Blocks != 0 {
		t.Fatalf("not all is free: %+v", s)
	}
	units := len(a.units)
	if n := a.buddy.free[top].n + a.buddy.free[Classes].n; n != units>>top {
		t.Errorf("%d whole blocks are free, want %d", n, units>>top)
	}
	for k := range top {
		if n := a.buddy.free[k].n; n != units>>k&1 {
			t.Errorf("%d blocks of class %d are free, want %d", n, k, units>>k&1)
		}
	}
	for unit := range a.units {
		if tag := a.units[unit].tag; tag != 0 && (tag&^tagClass != tagFree || unit>>top < units>>top) {
			t.Fatalf("unit %d has tag %#x, all being free", unit, tag)
		}
	}
}

// run does three bytes' worth of operations at a time.
func run(t *testing.T, ops []byte) {
	quota := 9<<20 + 37<<10 // two whole blocks and an odd rest
	if len(ops) > 0 && ops[0]%2 == 1 {
		quota = 40 << 20
	}
	m := newModel(t, quota, 3)
	for ; len(ops) >= 3; ops = ops[3:] {
		c := m.caches[int(ops[0]>>1)%len(m.caches)]
		n := int(binary.LittleEndian.Uint16(ops[1:]))
		switch op := ops[0] >> 3; {
		case op < 14:
			size := MinBlock << (n % (Classes + 1))
			m.get(c, size-(n>>4)%(size/2))
		case op < 28:
			if len(m.live) > 0 {
				m.put(c, n%len(m.live), n)
			}
		case op == 28:
			c.Collect()
		case op == 29:
			_ = c.Warm(MinBlock<<(n%8), n>>8%40)
		case op == 30:
			c.Close()
			if _, err := c.Get(1); err != ErrClosed {
				t.Fatalf("Get from a closed cache: %v", err)
			}
			m.caches[int(ops[0]>>1)%len(m.caches)] = m.arena.NewCache()
		default: // many small ones, so that lists overflow and come home
			for range n % 700 {
				m.get(c, n%3000)
			}
		}
		m.check()
	}
	m.end()
}

func TestModel(t *testing.T) {
	seed, i := rand.Uint64(), 0
	defer func() {
		if t.Failed() {
			t.Logf("seed %d, round %d", seed, i)
		}
	}()
	for ; i < rounds(60); i++ {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		ops := make([]byte, 3*r.IntN(600))
		for j := range ops {
			ops[j] = byte(r.Uint32())
		}
		run(t, ops)
	}
}

func FuzzOps(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 12, 0, 1, 12, 0, 120, 0, 0, 225, 0, 0})
	f.Add([]byte{255, 188, 2, 254, 188, 2, 120, 0, 0, 120, 0, 0, 240, 1, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		run(t, ops[:min(len(ops), 1500)])
	})
}
