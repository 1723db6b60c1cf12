package store

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"sync/atomic"

	"redoubt/store/arena"
)

// locationRow is a location's place in the table. A location exists when its
// word is not zero.
type locationRow struct {
	word atomic.Uint64
	list atomic.Uint64
}

// A location's word holds all its fields, so that they change together:
// distance 20, number of the city 16, of the country 12, of the place 15, top
// bit clear. Where one does not fit, the top bit is set and the rest names a
// block: distance 4, lengths of place 4, country 2 and city 2, the strings.
const (
	packedDistanceLimit = 1 << 20
	citiesLimit         = 1 << 16
	countriesLimit      = 1 << 12
	placesLimit         = 1 << 15

	cityShift    = 20
	countryShift = 36
	placeShift   = 48
	unpacked     = 1 << 63

	locationBlockHead = 12
)

// locationFields are a location's fields as the store keeps them: strings are
// kept texts, views of wherever they came from.
type locationFields struct {
	distance             uint32
	place, country, city []byte
}

// newLocationWord makes the word of l, with a block if it needs one.
func (s *Store) newLocationWord(a allocator, l *locationFields) (uint64, error) {
	if l.distance < packedDistanceLimit {
		place, country, city := s.places.intern(l.place), s.countries.intern(l.country), s.cities.intern(l.city)
		if place != 0 && country != 0 && city != 0 {
			return uint64(l.distance) | uint64(city)<<cityShift | uint64(country)<<countryShift | uint64(place)<<placeShift, nil
		}
	}
	ref, err := a.Alloc(locationBlockHead + len(l.place) + len(l.country) + len(l.city))
	if err != nil {
		return 0, err
	}
	order := binary.NativeEndian
	b := s.heap.Bytes(ref)
	order.PutUint32(b, l.distance)
	order.PutUint32(b[4:], uint32(len(l.place)))
	order.PutUint16(b[8:], uint16(len(l.country)))
	order.PutUint16(b[10:], uint16(len(l.city)))
	b = b[locationBlockHead:]
	copy(b[copy(b[copy(b, l.place):], l.country)+len(l.place):], l.city)
	return uint64(ref) | unpacked, nil
}

// locationBlock returns the block a location's word names, if it names one.
func locationBlock(word uint64) arena.Ref {
	if word&unpacked == 0 {
		return 0
	}
	return arena.Ref(word &^ unpacked)
}

func (s *Store) locationFields(word uint64) (l locationFields) {
	if ref := locationBlock(word); ref != 0 {
		order := binary.NativeEndian
		b := s.heap.Bytes(ref)
		l.distance = order.Uint32(b)
		place, country := order.Uint32(b[4:]), order.Uint16(b[8:])
		b = b[locationBlockHead:]
		l.place, b = b[:place], b[place:]
		l.country, l.city = b[:country], b[country:]
		return l
	}
	l.distance = uint32(word) & (packedDistanceLimit - 1)
	l.city = s.cities.at(uint32(word>>cityShift) & (citiesLimit - 1))
	l.country = s.countries.at(uint32(word>>countryShift) & (countriesLimit - 1))
	l.place = s.places.at(uint32(word >> placeShift))
	return l
}

func (s *Store) locationDistance(word uint64) uint32 {
	if ref := locationBlock(word); ref != 0 {
		return binary.NativeEndian.Uint32(s.heap.Bytes(ref))
	}
	return uint32(word) & (packedDistanceLimit - 1)
}

func (s *Store) locationPlace(word uint64) []byte {
	if locationBlock(word) != 0 {
		return s.locationFields(word).place
	}
	return s.places.at(uint32(word >> placeShift))
}

// inCountry tells whether the location lies in a country, given by its kept
// text and by its number. The number is 0 if the country had none when it was
// looked up; it may have one by now.
func (s *Store) inCountry(word uint64, number uint32, country []byte) bool {
	if locationBlock(word) != 0 {
		return bytes.Equal(s.locationFields(word).country, country)
	}
	its := uint32(word>>countryShift) & (countriesLimit - 1)
	return its == number || number == 0 && bytes.Equal(s.countries.at(its), country)
}

func appendLocation(dst []byte, id uint32, l *locationFields) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendUint(dst, uint64(id), 10)
	dst = append(dst, `,"distance":`...)
	dst = strconv.AppendUint(dst, uint64(l.distance), 10)
	dst = append(dst, `,"place":"`...)
	dst = append(dst, l.place...)
	dst = append(dst, `","country":"`...)
	dst = append(dst, l.country...)
	dst = append(dst, `","city":"`...)
	dst = append(dst, l.city...)
	return append(dst, `"}`...)
}
