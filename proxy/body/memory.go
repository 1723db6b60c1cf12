package body

import (
	"encoding/binary"
	"hash/maphash"
)

// Memory remembers which rules have won a match in a file. It is one event loop's, and
// bounded: of many files it forgets those that were not asked for lately.
type Memory struct {
	most       int
	young, old map[Key]*Subset
	one, two   maphash.Hash
}

// Key is of a file as it was at some time. Different ones do not have the same: it is
// two hashes whose seeds nobody knows.
type Key struct{ one, two uint64 }

// NewMemory returns an empty one for up to most files.
func NewMemory(most int) *Memory {
	m := &Memory{most: most}
	m.Clear()
	m.one.SetSeed(maphash.MakeSeed())
	m.two.SetSeed(maphash.MakeSeed())
	return m
}

// Clear forgets all.
func (m *Memory) Clear() { m.young, m.old = make(map[Key]*Subset), nil }

// Key makes the key of a file: what was asked for, how it is coded, the rules, and a
// validator, which changes when the file does.
func (m *Memory) Key(r *Rules, host, target []byte, coding byte, validator []byte) Key {
	return Key{sum(&m.one, r.id, host, target, coding, validator), sum(&m.two, r.id, host, target, coding, validator)}
}

func sum(h *maphash.Hash, id uint64, host, target []byte, coding byte, validator []byte) uint64 {
	h.Reset()
	var head [8 + 4 + 4 + 1]byte // with the lengths, so that nothing can pass for its neighbour
	binary.LittleEndian.PutUint64(head[:], id)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(host)))
	binary.LittleEndian.PutUint32(head[12:], uint32(len(target)))
	head[16] = coding
	h.Write(head[:])
	h.Write(host)
	h.Write(target)
	h.Write(validator)
	return h.Sum64()
}

// Get returns the rules that apply to a file; nil: it is not known.
func (m *Memory) Get(k Key) *Subset {
	s := m.young[k]
	if s == nil {
		if s = m.old[k]; s != nil {
			m.put(k, s)
		}
	}
	return s
}

// Put remembers them.
func (m *Memory) Put(k Key, s *Subset) { m.put(k, s) }

// put keeps two halves: the young one becomes the old one when it is full.
func (m *Memory) put(k Key, s *Subset) {
	if len(m.young) >= m.most/2 {
		m.young, m.old = make(map[Key]*Subset), m.young
	}
	m.young[k] = s
}

// Len is how many files it knows, some twice.
func (m *Memory) Len() int { return len(m.young) + len(m.old) }
