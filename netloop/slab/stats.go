package slab

import "sync/atomic"

// counters are written by a cache's owner and read by anyone.
type counters struct {
	refused atomic.Int64
	crossed [Classes]atomic.Int64
}

func (n *counters) add(more *counters) {
	n.refused.Add(more.refused.Load())
	for k := range n.crossed {
		n.crossed[k].Add(more.crossed[k].Load())
	}
}

// Usage is a number of blocks and their bytes.
type Usage struct{ Blocks, Bytes int64 }

func (u *Usage) add(blocks, size int64) {
	u.Blocks += blocks
	u.Bytes += blocks * size
}

// Stats tells how an arena's memory is used. Quota is the sum of Free and the
// bytes of Live and Cached.
type Stats struct {
	Quota   int64 // bytes that may be out at once
	Free    int64 // bytes that no cache has
	Live    Usage // in users' hands
	Cached  Usage // idle in caches or on the way home
	Refused int64 // times that Get returned ErrFull
	Crossed int64 // frees of another cache's block
	Emptied int64 // bytes given back to the system, over all time
	Class   [Classes]ClassStats
}

// ClassStats is one size's part in Stats.
type ClassStats struct {
	Size         int   // of a block
	Live, Cached int64 // blocks
	Crossed      int64
}

// Stats may be called from anywhere. While other threads take and free blocks,
// those that move at this moment may count twice or not at all.
func (a *Arena) Stats() Stats {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := Stats{Quota: int64(len(a.units)) << unitShift, Emptied: a.emptied}
	s.Free = s.Quota
	for k := range s.Class {
		s.Class[k].Size = MinBlock << k
	}
	s.count(&a.past)
	for _, c := range *a.caches.Load() {
		if c == nil {
			continue
		}
		s.count(&c.counters)
		for k := range s.Class {
			s.Class[k].Cached += int64(c.lists[k].n.Load()) + int64(c.waiting[k].Load())
		}
	}
	for k := range s.Class {
		class := &s.Class[k]
		class.Live = max(0, a.out[k]-class.Cached)
		size := int64(class.Size)
		s.Live.add(class.Live, size)
		s.Cached.add(class.Cached, size)
		s.Crossed += class.Crossed
		s.Free -= a.out[k] * size
	}
	return s
}

func (s *Stats) count(n *counters) {
	s.Refused += n.refused.Load()
	for k := range s.Class {
		s.Class[k].Crossed += n.crossed[k].Load()
	}
}
