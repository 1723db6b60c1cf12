package subst

import (
	"sync/atomic"

	"redoubt/proxy/subst/prefilter"
)

// Within a match the search often stays in one state for long: <!--[^>]* in all
// but >. It looks at that from time to time: if it is in the state that it was in
// some bytes before, it goes straight to the next byte that leads out of it.

const (
	// loopGain is how many bytes a jump has to save, or jumps are left alone for a
	// while.
	loopGain  = 64
	loopPause = 8 << 10
)

// loop goes on as long as a state stays as it is, and returns how many bytes
// that was.
func (s *search) loop(text []byte) int {
	row := s.state.row
	stop := s.state.stop.Load()
	if stop == nil {
		if stop = s.cache.newStop(s.state); stop == nil {
			s.lookAgain = s.pos + loopPause
			return 0
		}
	}
	n := stop.Next(text, 0)
	if n < len(text) && atomic.LoadUint32(&(*s.cache.table.Load())[row+uint32(s.set.program.classOf[text[n]])]) == row {
		s.cache.newStop(s.state) // what it leads to was not known when the last one was made
	}
	if n < loopGain && n < len(text) {
		s.lookAgain = s.pos + loopPause
	}
	return n
}

// newStop makes what finds bytes that may lead out of a state; nil if the cache
// has no room for it.
func (c *cache) newStop(s *state) *prefilter.Stop {
	const size = 512
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.stop.Load() == nil {
		if c.used+size > c.set.options.Memory {
			return nil
		}
		c.used += size
	}
	table := *c.table.Load()
	var out byteSet
	for b, class := range c.set.program.classOf {
		if table[s.row+uint32(class)] != s.row { // only who holds the lock writes
			out.add(byte(b), byte(b))
		}
	}
	stop := prefilter.NewStop(prefilter.Set(out), c.set.options.Kernel)
	s.stop.Store(stop)
	return stop
}
