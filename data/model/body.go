package model

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNesting is how many arrays or objects the value of an unknown field may
// nest: [[...]] with 32 brackets passes, with 33 it is 400. The object that is
// the body itself does not count.
const maxNesting = 32

// field is one member of a body's top object: the name decoded, and the value
// if it is a string or a number (all the contract's fields are one of them).
type field struct {
	name   string
	text   *string      // a string, decoded
	number *json.Number // a number as written
}

// create is POST /<entity>/new.
func (m *Model) create(entity string, body []byte) Answer {
	fields, ok := parseBody(body)
	if !ok {
		return Answer{Status: 400}
	}
	var err error
	has := make(map[string]bool)
	switch entity {
	case "users":
		var u User
		if !u.take(fields, has) || len(has) != 6 {
			return Answer{Status: 400}
		}
		err = m.AddUser(u)
	case "locations":
		var l Location
		if !l.take(fields, has) || len(has) != 5 {
			return Answer{Status: 400}
		}
		err = m.AddLocation(l)
	case "visits":
		var v Visit
		if !v.take(fields, has) || len(has) != 5 {
			return Answer{Status: 400}
		}
		err = m.AddVisit(v)
	}
	return written(err)
}

// update is POST /<entity>/<id> for a record that exists. The current record
// is what fields not given fall back to.
func (m *Model) update(entity string, id uint32, body []byte) Answer {
	fields, ok := parseBody(body)
	if !ok {
		return Answer{Status: 400}
	}
	var err error
	has := make(map[string]bool)
	switch entity {
	case "users":
		u, _ := m.User(id)
		if !u.take(fields, has) || has["id"] {
			return Answer{Status: 400}
		}
		err = m.setUser(u)
	case "locations":
		l, _ := m.Location(id)
		if !l.take(fields, has) || has["id"] {
			return Answer{Status: 400}
		}
		m.setLocation(l)
	case "visits":
		v, _ := m.Visit(id)
		if !v.take(fields, has) || has["id"] {
			return Answer{Status: 400}
		}
		err = m.setVisit(v)
	}
	return written(err)
}

func written(err error) Answer {
	if err != nil {
		return Answer{Status: 400}
	}
	return Answer{Status: 200, Body: []byte("{}")}
}

// take copies the given fields into the record and notes their names in has.
// Of a repeated field the last counts, but each must be good. What depends on
// other records (emails, references) is looked at afterwards, for the last
// only. Unknown fields are ignored.
func (u *User) take(fields []field, has map[string]bool) bool {
	for _, f := range fields {
		ok := true
		switch f.name {
		case "id":
			ok = f.uint32(&u.ID)
		case "email":
			ok = f.string(&u.Email, maxEmail)
		case "first_name":
			ok = f.string(&u.FirstName, maxText)
		case "last_name":
			ok = f.string(&u.LastName, maxText)
		case "gender":
			ok = f.string(&u.Gender, 1) && (u.Gender == "m" || u.Gender == "f")
		case "birth_date":
			ok = f.int32(&u.BirthDate)
		default:
			continue
		}
		if !ok {
			return false
		}
		has[f.name] = true
	}
	return true
}

func (l *Location) take(fields []field, has map[string]bool) bool {
	for _, f := range fields {
		ok := true
		switch f.name {
		case "id":
			ok = f.uint32(&l.ID)
		case "place":
			ok = f.string(&l.Place, math.MaxInt)
		case "country":
			ok = f.string(&l.Country, maxText)
		case "city":
			ok = f.string(&l.City, maxText)
		case "distance":
			ok = f.uint32(&l.Distance)
		default:
			continue
		}
		if !ok {
			return false
		}
		has[f.name] = true
	}
	return true
}

func (v *Visit) take(fields []field, has map[string]bool) bool {
	for _, f := range fields {
		ok := true
		switch f.name {
		case "id":
			ok = f.uint32(&v.ID)
		case "location":
			ok = f.uint32(&v.Location)
		case "user":
			ok = f.uint32(&v.User)
		case "visited_at":
			ok = f.int32(&v.VisitedAt)
		case "mark":
			var n int64
			ok = f.integer(&n, 0, maxMark)
			v.Mark = uint8(n)
		default:
			continue
		}
		if !ok {
			return false
		}
		has[f.name] = true
	}
	return true
}

func (f field) string(to *string, limit int) bool {
	if f.text == nil || utf8.RuneCountInString(*f.text) > limit {
		return false
	}
	*to = *f.text
	return true
}

func (f field) uint32(to *uint32) bool {
	var n int64
	ok := f.integer(&n, 0, math.MaxUint32)
	*to = uint32(n)
	return ok
}

func (f field) int32(to *int32) bool {
	var n int64
	ok := f.integer(&n, math.MinInt32, math.MaxInt32)
	*to = int32(n)
	return ok
}

// integer reads -?(0|[1-9][0-9]*). JSON's grammar has already refused leading
// zeros, so what is left to refuse is fractions and exponents, even of whole
// numbers (1.0, 1e2). -0 is an integer, and it is 0.
func (f field) integer(to *int64, low, high int64) bool {
	if f.number == nil || strings.ContainsAny(f.number.String(), ".eE") {
		return false
	}
	n, err := strconv.ParseInt(f.number.String(), 10, 64)
	*to = n
	return err == nil && n >= low && n <= high
}

// parseBody reads a body's top object. It fails on everything that is not one
// well-formed JSON object in good UTF-8 with nothing but white space around.
func parseBody(body []byte) ([]field, bool) {
	// encoding/json would turn bad UTF-8 and lone surrogates into U+FFFD
	// without a word, so both are looked for first.
	if !utf8.Valid(body) || !json.Valid(body) || loneSurrogate(body) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	fields := []field{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		f := field{name: name.(string)}
		value, err := dec.Token()
		if err != nil {
			return nil, false
		}
		switch value := value.(type) {
		case string:
			f.text = &value
		case json.Number:
			f.number = &value
		case json.Delim:
			if !skipNested(dec) {
				return nil, false
			}
		}
		fields = append(fields, f)
	}
	return fields, true
}

// skipNested reads to the end of the array or object that has just been
// opened; it fails where that nests too deep.
func skipNested(dec *json.Decoder) bool {
	for depth := 1; depth > 0; {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth > maxNesting {
			return false
		}
	}
	return true
}

// loneSurrogate reports whether valid JSON holds \uD800 to \uDFFF other than
// as a high one followed at once by a low one. Backslashes stand in strings
// only, so strings need not be told from the rest.
func loneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // the escaped character, so that \\u is not taken for \u
		unit := codeUnit(text[i-1:])
		switch {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			low := codeUnit(text[i+5:])
			if low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 6 // past the low one's \u
		}
	}
	return false
}

// codeUnit is the value of the \uXXXX that text begins with, or -1.
func codeUnit(text []byte) int64 {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseInt(string(text[2:6]), 16, 64)
	if err != nil {
		return -1
	}
	return n
}
