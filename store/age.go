package store

import "time"

// Ages. Every bound of an age query has the time of day of "now", so a birth
// date need not be kept in seconds: the day it falls in, counted from that
// time of day, and whether it falls on the very start of it, say all.

// clock is "now" and what follows from it.
type clock struct {
	now   time.Time
	start int64 // now's second of its day, where our days start
}

const day = 24 * 60 * 60

func newClock(now int64) clock {
	return clock{now: time.Unix(now, 0).UTC(), start: ((now % day) + day) % day}
}

// A traveller is what a location's list holds of a user: the day of birth in
// 16 bits, 1 bit for a birth at the very start of that day, 1 bit for gender.
type traveller uint32

const (
	travellerBits = 18
	dayShift      = 2
	startBit      = 1 << 1
	femaleBit     = 1 << 0
	dayBias       = 1 << 15
)

// day is the day of birth, biased.
func (t traveller) day() int32 { return int32(t >> dayShift) }

func (c clock) traveller(birth int32, gender byte) traveller {
	seconds := int64(birth) - c.start
	d := seconds / day
	if seconds%day < 0 {
		d--
	}
	t := traveller(d+dayBias) << dayShift
	if d*day == seconds {
		t |= startBit
	}
	if gender == 'f' {
		t |= femaleBit
	}
	return t
}

// bornDay returns the day, biased, that starts years calendar years before
// now; 29 February becomes 28 February. Years beyond any birth date give the
// nearest day that is.
func (c clock) bornDay(years int64) int32 {
	y, m, d := c.now.Date()
	switch { // birth dates lie within 1901..2038
	case years > int64(y)-1000:
		return -1 << 30
	case years < int64(y)-3000:
		return 1 << 30
	}
	year := int64(y) - years
	if m == time.February && d == 29 && !leap(year) {
		d = 28
	}
	start := time.Date(int(year), m, d, 0, 0, 0, 0, time.UTC).Unix()
	return int32(start/day + dayBias)
}

func leap(y int64) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }
