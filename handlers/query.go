package handlers

import (
	"bytes"
	"math"
	"unicode/utf8"

	"redoubt/store"
)

// query decodes parameters one by one. Names and values are percent-decoded,
// + is a space.
type query struct {
	rest    []byte
	scratch []byte // decoded names and values of this request
}

func (q *query) open(raw []byte) {
	q.rest, q.scratch = raw, q.scratch[:0] // as long as a target at most: engines limit these
}

// next returns the next parameter. value is not decoded yet. A name that
// cannot be decoded is no name we know: it comes as it stands, with its
// percent sign, which no known name has.
func (q *query) next() (name, value []byte, more bool) {
	for len(q.rest) > 0 {
		var pair []byte
		pair, q.rest, _ = bytes.Cut(q.rest, []byte{'&'})
		if len(pair) == 0 {
			continue
		}
		name, value, _ = bytes.Cut(pair, []byte{'='}) // without = the value is empty, which is as wrong
		if decoded, ok := q.decode(name); ok {
			name = decoded
		}
		return name, value, true
	}
	return nil, nil, false
}

// decode returns b with its escapes resolved: b itself where there are none.
func (q *query) decode(b []byte) (decoded []byte, ok bool) {
	if bytes.IndexByte(b, '%') < 0 && bytes.IndexByte(b, '+') < 0 {
		return b, true
	}
	from := len(q.scratch)
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch c {
		case '+':
			c = ' '
		case '%':
			if i+2 >= len(b) {
				return nil, false
			}
			high, low := unhex(b[i+1]), unhex(b[i+2])
			if high < 0 || low < 0 {
				return nil, false
			}
			c = byte(high<<4 | low)
			i += 2
		}
		q.scratch = append(q.scratch, c)
	}
	return q.scratch[from:], true
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// integer decodes a value of the form -?[0-9]+ within 64 bits.
func (q *query) integer(value []byte, n *int64) bool {
	value, ok := q.decode(value)
	if !ok {
		return false
	}
	negative := len(value) > 0 && value[0] == '-'
	if negative {
		value = value[1:]
	}
	if len(value) == 0 {
		return false
	}
	var sum int64 // negative all along: there is one more negative number
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
		digit := int64(c - '0')
		if sum < (math.MinInt64+digit)/10 {
			return false
		}
		sum = sum*10 - digit
	}
	if !negative {
		if sum == math.MinInt64 {
			return false
		}
		sum = -sum
	}
	*n = sum
	return true
}

// gender decodes a value that is exactly m or f.
func (q *query) gender(value []byte, gender *byte) bool {
	value, ok := q.decode(value)
	if !ok || len(value) != 1 || value[0] != 'm' && value[0] != 'f' {
		return false
	}
	*gender = value[0]
	return true
}

// text decodes a value that is UTF-8 and not empty.
func (q *query) text(value []byte, text *[]byte) bool {
	value, ok := q.decode(value)
	*text = value
	return ok && len(value) > 0 && utf8.Valid(value)
}

// read gives each parameter of a query to set, which tells whether a value is
// good, and returns whether all are.
func (q *query) read(raw []byte, set func(name, value []byte) bool) bool {
	good := true
	for q.open(raw); good; {
		name, value, more := q.next()
		if !more {
			break
		}
		good = set(name, value)
	}
	return good
}

// userVisits answers GET /users/<id>/visits.
func (w *Worker) userVisits(id uint32, raw []byte) Reply {
	if !w.reader.HasUser(id) {
		return status(404)
	}
	f, q := store.AllVisits, &w.query
	if !q.read(raw, func(name, value []byte) bool {
		switch string(name) {
		case "fromDate":
			return q.integer(value, &f.FromDate)
		case "toDate":
			return q.integer(value, &f.ToDate)
		case "toDistance":
			return q.integer(value, &f.ToDistance)
		case "country":
			f.InCountry = true
			return q.text(value, &f.Country)
		}
		return true
	}) {
		return status(400)
	}
	body, err := w.reader.UserVisits(id, &f)
	if err != nil {
		return status(503) // it exists: it must be too large
	}
	return Reply{Status: 200, Body: body}
}

// locationAverage answers GET /locations/<id>/avg.
func (w *Worker) locationAverage(id uint32, raw []byte) Reply {
	if !w.reader.HasLocation(id) {
		return status(404)
	}
	f, q := store.AllMarks, &w.query
	if !q.read(raw, func(name, value []byte) bool {
		switch string(name) {
		case "fromDate":
			return q.integer(value, &f.FromDate)
		case "toDate":
			return q.integer(value, &f.ToDate)
		case "fromAge":
			f.HasFromAge = true
			return q.integer(value, &f.FromAge)
		case "toAge":
			f.HasToAge = true
			return q.integer(value, &f.ToAge)
		case "gender":
			return q.gender(value, &f.Gender)
		}
		return true
	}) {
		return status(400)
	}
	return found(w.reader.LocationAverage(id, &f))
}
