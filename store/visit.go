package store

import (
	"runtime"
	"strconv"
	"sync/atomic"

	"redoubt/store/arena"
)

// visit is a visit with its user and location as slots.
type visit struct {
	user, location uint32
	date           int32
	mark           uint8
}

// visits is the table of visits. A lean one holds lines; a ready one holds the
// words of rendered bodies and nothing else.
type visits struct {
	lines  arena.Column[visitLine]
	bodies arena.Column[atomic.Uint64]
}

const visitsPerLine = 5

// visitLine is one cache line: five visits and a sequence number that is odd
// while one of them changes. A visit's word is user slot 32, location slot 29,
// mark + 1 in 3; zero where there is no visit.
type visitLine struct {
	words [visitsPerLine]atomic.Uint64
	dates [visitsPerLine]atomic.Int32
	seq   atomic.Uint32
}

func (v visit) word() uint64 {
	return uint64(v.user)<<32 | uint64(v.location)<<3 | uint64(v.mark+1)
}

func visitOf(word uint64, date int32) visit {
	return visit{user: uint32(word >> 32), location: uint32(word) >> 3, date: date, mark: uint8(word&7) - 1}
}

// load returns the visit in slot, if there is one, as one writer left it.
func (v *visits) load(slot uint32) (visit, bool) {
	line, i := v.lines.At(slot/visitsPerLine), slot%visitsPerLine
	for tries := 1; ; tries++ {
		before := line.seq.Load()
		word, date := line.words[i].Load(), line.dates[i].Load()
		if before&1 == 0 && line.seq.Load() == before {
			return visitOf(word, date), word != 0
		}
		if tries%64 == 0 {
			runtime.Gosched() // the writer lost its processor in mid-change
		}
	}
}

// put changes the visit in slot. It is the one writer's.
func (v *visits) put(slot uint32, to visit) {
	line, i := v.lines.At(slot/visitsPerLine), slot%visitsPerLine
	line.seq.Add(1)
	line.words[i].Store(to.word())
	line.dates[i].Store(to.date)
	line.seq.Add(1)
}

// claim sets the visit in slot if there is none. Many may claim at once, while
// nobody reads.
func (v *visits) claim(slot uint32, to visit) bool {
	line, i := v.lines.At(slot/visitsPerLine), slot%visitsPerLine
	if !line.words[i].CompareAndSwap(0, to.word()) {
		return false
	}
	line.dates[i].Store(to.date)
	return true
}

func (v *visits) has(slot uint32) bool {
	if v.lines.Len() > 0 {
		return v.lines.At(slot / visitsPerLine).words[slot%visitsPerLine].Load() != 0
	}
	return v.bodies.At(slot).Load() != 0
}

// visit returns the visit in slot, if there is one.
func (s *Store) visit(slot uint32) (visit, bool) {
	if !s.ready {
		return s.visits.load(slot)
	}
	word := s.visits.bodies.At(slot).Load()
	if word == 0 {
		return visit{}, false
	}
	return s.visitOfBody(s.heap.Bytes(arena.Ref(word))), true
}

const (
	visitBodyID       = `{"id":`
	visitBodyLocation = `,"location":`
	visitBodyUser     = `,"user":`
	visitBodyDate     = `,"visited_at":`
	visitBodyMark     = `,"mark":`
)

// appendVisit appends a visit; location and user are outer ids.
func appendVisit(dst []byte, id, location, user uint32, date int32, mark uint8) []byte {
	dst = strconv.AppendUint(append(dst, visitBodyID...), uint64(id), 10)
	dst = strconv.AppendUint(append(dst, visitBodyLocation...), uint64(location), 10)
	dst = strconv.AppendUint(append(dst, visitBodyUser...), uint64(user), 10)
	dst = strconv.AppendInt(append(dst, visitBodyDate...), int64(date), 10)
	dst = append(dst, visitBodyMark...)
	return append(dst, '0'+mark, '}')
}

// visitOfBody reads back what appendVisit wrote.
func (s *Store) visitOfBody(b []byte) visit {
	_, b = readNumber(b[len(visitBodyID):])
	location, b := readNumber(b[len(visitBodyLocation):])
	user, b := readNumber(b[len(visitBodyUser):])
	date, b := readNumber(b[len(visitBodyDate):])
	v := visit{date: int32(date), mark: b[len(visitBodyMark)] - '0'}
	v.location, _ = s.locationIDs.slot(uint32(location))
	v.user, _ = s.userIDs.slot(uint32(user))
	return v
}

// readNumber reads the integer at the start of b.
func readNumber(b []byte) (n int64, rest []byte) {
	i := 0
	if b[0] == '-' {
		i = 1
	}
	for ; b[i] >= '0' && b[i] <= '9'; i++ {
		n = n*10 + int64(b[i]-'0')
	}
	if b[0] == '-' {
		n = -n
	}
	return n, b[i:]
}
