package store

import (
	"math"
	"strconv"
	"sync/atomic"

	"redoubt/store/arena"
)

// HasUser tells whether a user exists.
func (r *Reader) HasUser(id uint32) bool {
	_, exists := r.store.userSlot(id)
	return exists
}

// HasLocation tells whether a location exists.
func (r *Reader) HasLocation(id uint32) bool {
	_, exists := r.store.locationSlot(id)
	return exists
}

// HasVisit tells whether a visit exists.
func (r *Reader) HasVisit(id uint32) bool {
	_, exists := r.store.visitSlot(id)
	return exists
}

// User returns the JSON of a user.
func (r *Reader) User(id uint32) (body []byte, exists bool) {
	s := r.store
	slot, found := s.userIDs.slot(id)
	if !found {
		return nil, false
	}
	if s.ready {
		return r.rendered(s.userBodies.At(slot))
	}
	ref := arena.Ref(s.users.At(slot).block.Load())
	if ref == 0 {
		return nil, false
	}
	u := s.userBlock(ref)
	r.body = appendUser(r.body[:0], id, &u)
	return r.body, true
}

// Location returns the JSON of a location.
func (r *Reader) Location(id uint32) (body []byte, exists bool) {
	s := r.store
	slot, found := s.locationIDs.slot(id)
	if !found {
		return nil, false
	}
	if s.ready {
		return r.rendered(s.locationBodies.At(slot))
	}
	word := s.locations.At(slot).word.Load()
	if word == 0 {
		return nil, false
	}
	l := s.locationFields(word)
	r.body = appendLocation(r.body[:0], id, &l)
	return r.body, true
}

// Visit returns the JSON of a visit.
func (r *Reader) Visit(id uint32) (body []byte, exists bool) {
	s := r.store
	slot, found := s.visitIDs.slot(id)
	if !found {
		return nil, false
	}
	if s.ready {
		return r.rendered(s.visits.bodies.At(slot))
	}
	v, exists := s.visits.load(slot)
	if !exists {
		return nil, false
	}
	r.body = appendVisit(r.body[:0], id, s.locationIDs.id(v.location), s.userIDs.id(v.user), v.date, v.mark)
	return r.body, true
}

func (r *Reader) rendered(word *atomic.Uint64) ([]byte, bool) {
	ref := arena.Ref(word.Load())
	if ref == 0 {
		return nil, false
	}
	return r.store.heap.Bytes(ref), true
}

// VisitsFilter chooses among a user's visits. All bounds are exclusive.
type VisitsFilter struct {
	FromDate, ToDate int64
	ToDistance       int64
	InCountry        bool
	Country          []byte // plain UTF-8; counts where InCountry is set
}

// AllVisits is the filter that lets everything pass.
var AllVisits = VisitsFilter{FromDate: math.MinInt64, ToDate: math.MaxInt64, ToDistance: math.MaxInt64}

// MaxBody is how long the JSON of a user's visits may be, in bytes. Each visit
// repeats the name of its place, which has no limit of its own: a few hundred
// posted visits could ask for gigabytes. A quarter of a million ordinary visits
// fit.
const MaxBody = 16 << 20

// UserVisits returns the JSON of the user's visits that pass the filter, by
// date, and by id where dates are equal. It fails with ErrMissing or
// ErrTooLarge.
func (r *Reader) UserVisits(id uint32, f *VisitsFilter) (body []byte, err error) {
	s := r.store
	slot, exists := s.userSlot(id)
	if !exists {
		return nil, ErrMissing
	}
	var country []byte
	var number uint32
	r.body = r.body[:0]
	if f.InCountry {
		country, r.country = text(f.Country, r.country[:0])
		number = s.countries.find(country)
	}
	r.body = append(r.body, `{"visits":[`...)
	open := len(r.body)
	for block := range blocks[userEntry](s.heap, arena.Ref(s.users.At(slot).list.Load())) {
		block = between(block, f.FromDate, f.ToDate, func(e *userEntry) int32 { return e.date })
		// All words first: their misses overlap.
		r.words = r.words[:0]
		for i := range block {
			r.words = append(r.words, s.locations.At(block[i].place>>3).word.Load())
		}
		for i, word := range r.words {
			if f.InCountry && !s.inCountry(word, number, country) {
				continue
			}
			if f.ToDistance != math.MaxInt64 && int64(s.locationDistance(word)) >= f.ToDistance {
				continue
			}
			place := s.locationPlace(word)
			if len(r.body)+len(place) > MaxBody-entryLength {
				return nil, ErrTooLarge
			}
			r.body = append(r.body, `{"mark":`...)
			r.body = append(r.body, '0'+byte(block[i].mark()))
			r.body = append(r.body, `,"visited_at":`...)
			r.body = strconv.AppendInt(r.body, int64(block[i].date), 10)
			r.body = append(r.body, `,"place":"`...)
			r.body = append(r.body, place...)
			r.body = append(r.body, `"},`...)
		}
	}
	if len(r.body) > open {
		r.body = r.body[:len(r.body)-1]
	}
	r.body = append(r.body, `]}`...)
	return r.body, nil
}

// entryLength is more than a visit takes in the JSON of a list, without its
// place, and the end of the list.
const entryLength = 64

// between returns the part of a block whose dates lie between two bounds.
func between[E any](block []E, from, to int64, date func(*E) int32) []E {
	start, end := 0, len(block)
	if from != math.MinInt64 {
		start = search(block, func(e *E) bool { return int64(date(e)) > from })
	}
	if to != math.MaxInt64 {
		end = search(block, func(e *E) bool { return int64(date(e)) >= to })
	}
	return block[start:max(start, end)]
}

// search returns the first index from which on is holds.
func search[E any](block []E, is func(*E) bool) int {
	low, high := 0, len(block)
	for low < high {
		if middle := int(uint(low+high) / 2); is(&block[middle]) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// AverageFilter chooses among a location's visits. All bounds are exclusive.
type AverageFilter struct {
	FromDate, ToDate int64
	HasFromAge       bool
	HasToAge         bool
	FromAge, ToAge   int64 // calendar years before now
	Gender           byte  // 'm', 'f', or 0 for both
}

// AllMarks is the filter that lets everything pass.
var AllMarks = AverageFilter{FromDate: math.MinInt64, ToDate: math.MaxInt64}

// LocationAverage returns the JSON of the average mark of the location's
// visits that pass the filter, to five places, half up; 0 if there are none.
func (r *Reader) LocationAverage(id uint32, f *AverageFilter) (body []byte, exists bool) {
	s := r.store
	slot, exists := s.locationSlot(id)
	if !exists {
		return nil, false
	}
	t := s.travellers(f)
	var sum, count uint64
	list := arena.Ref(s.locations.At(slot).list.Load())
	if list.Tagged() {
		chunks := arena.Slice[chunk](s.heap, list)
		for i, c := range chunks {
			// Its dates lie in [c.first, the next chunk's first].
			if int64(c.first) >= f.ToDate {
				break
			}
			if i+1 < len(chunks) {
				last := int64(chunks[i+1].first)
				if last <= f.FromDate {
					continue
				}
				if t.any && int64(c.first) > f.FromDate && last < f.ToDate {
					sum, count = sum+uint64(c.marks), count+uint64(c.block.Len()/arena.SizeOf[placeEntry]())
					continue
				}
			}
			sum, count = t.add(sum, count, arena.Slice[uint64](s.heap, c.block), f)
		}
	} else if list != 0 {
		sum, count = t.add(sum, count, arena.Slice[uint64](s.heap, list), f)
	}
	r.body = appendAverage(append(r.body[:0], `{"avg":`...), sum, count)
	r.body = append(r.body, '}')
	return r.body, true
}

// travellers is an AverageFilter's choice of travellers.
type travellers struct {
	any            bool
	before, after  int32 // days of birth
	gender, female traveller
}

func (s *Store) travellers(f *AverageFilter) travellers {
	t := travellers{before: math.MaxInt32, after: math.MinInt32}
	if f.HasFromAge {
		t.before = s.clock.bornDay(f.FromAge)
	}
	if f.HasToAge {
		t.after = s.clock.bornDay(f.ToAge)
	}
	if f.Gender != 0 {
		t.gender = femaleBit
		if f.Gender == 'f' {
			t.female = femaleBit
		}
	}
	t.any = !f.HasFromAge && !f.HasToAge && f.Gender == 0
	return t
}

// add adds the marks of a block's visits that pass.
func (t *travellers) add(sum, count uint64, block []uint64, f *AverageFilter) (uint64, uint64) {
	block = between(block, f.FromDate, f.ToDate, func(e *uint64) int32 {
		return placeEntry(atomic.LoadUint64(e)).date()
	})
	if t.any {
		for i := range block {
			sum += uint64(placeEntry(atomic.LoadUint64(&block[i])).mark())
		}
		return sum, count + uint64(len(block))
	}
	for i := range block {
		e := placeEntry(atomic.LoadUint64(&block[i]))
		who := e.traveller()
		born := who.day()
		// Older than: born before the bound's start. Younger than: born after
		// it, which a birth at the very start is not.
		if born >= t.before || born < t.after || born == t.after && who&startBit != 0 || who&t.gender != t.female {
			continue
		}
		sum += uint64(e.mark())
		count++
	}
	return sum, count
}

// appendAverage appends sum/count, half up to five places, in the shortest
// form.
func appendAverage(dst []byte, sum, count uint64) []byte {
	if count == 0 {
		return append(dst, '0')
	}
	const unit = 100_000
	n := (2*unit*sum + count) / (2 * count)
	dst = strconv.AppendUint(dst, n/unit, 10)
	fraction := n % unit
	if fraction == 0 {
		return dst
	}
	dst = append(dst, '.')
	for place := uint64(unit / 10); fraction > 0; place /= 10 {
		dst = append(dst, '0'+byte(fraction/place))
		fraction %= place
	}
	return dst
}
