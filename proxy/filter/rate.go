package filter

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
	"time"
)

// limiter limits rates by GCRA: of each client it knows the time at which its
// requests would all have come, had they come an interval apart (its due time).
// A request puts it off by an interval, and is refused if that would be more
// than limit, a burst of intervals, from now. A client whose due time has passed
// is as good as one never seen.
//
// The clients are in a table that never grows. A client's set follows from its
// key and a seed that is drawn anew for each table, so nobody can choose
// addresses that meet in a set. In a full set a client that comes takes the
// place of the one with the earliest due time: of one that is as good as never
// seen, if there is any, else of the one that has asked the least. Should that
// one come again, it has a whole burst. Clients that ask too fast are the last to
// be driven out. It takes eight clients of one set, all with due times ahead at
// once, for that to happen: of 125,000 such clients 1 in 16,000 meets seven or
// more others, of 250,000 1 in 300, of 500,000 1 in 11.
//
// Each set has a lock of its own: a key and its time must change together, and
// loops seldom meet in one of 131,072 sets. To take is 30 ns, and 0.3 µs where a
// million clients keep the table out of the cache, of 5 µs that a request takes.
type limiter struct {
	interval time.Duration // from one request to the next
	limit    time.Duration // how far ahead a due time may be
	seed     maphash.Seed
	sets     []set // a power of two
}

const (
	setSize     = 7
	limiterSets = 1 << 17 // 917,504 clients in 16 MB
)

// set is two cache lines: one to find a client, one with the due times. Places
// that nobody has had belong to client 0 (::/64), due at 0; they are taken
// before any other, so client 0 is found at the place it really has.
type set struct {
	lock sync.Mutex
	keys [setSize]uint64
	due  [setSize]time.Duration
	_    [8]byte
}

func newLimiter(interval, limit time.Duration, sets int) *limiter {
	return &limiter{interval: interval, limit: limit, seed: maphash.MakeSeed(), sets: make([]set, sets)}
}

// take is how long a client has to wait until it may ask; 0: it has asked.
func (l *limiter) take(key uint64, now time.Duration) (wait time.Duration) {
	s := l.set(key)
	s.lock.Lock()
	place := s.place(key)
	due := now
	if s.keys[place] == key {
		due = max(due, s.due[place])
	}
	due += l.interval
	wait = due - l.limit - now
	if wait <= 0 {
		wait = 0
		s.keys[place], s.due[place] = key, due
	}
	s.lock.Unlock()
	return wait
}

func (l *limiter) set(key uint64) *set {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], key)
	return &l.sets[maphash.Bytes(l.seed, b[:])&uint64(len(l.sets)-1)]
}

// place is where a client is, or else the place that it may take.
func (s *set) place(key uint64) int {
	for i, k := range s.keys {
		if k == key {
			return i
		}
	}
	first := 0
	for i, due := range s.due {
		if due < s.due[first] {
			first = i
		}
	}
	return first
}
