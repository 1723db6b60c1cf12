package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// filter holds the parameters of a list or an average; an absent one lets
// everything pass.
type filter struct {
	fromDate, toDate, toDistance, fromAge, toAge *int64
	country, gender                              *string
}

// userVisits is GET /users/<id>/visits for a user that exists.
func (m *Model) userVisits(id uint32, query string) Answer {
	f, ok := parseQuery(query, "fromDate", "toDate", "country", "toDistance")
	if !ok {
		return Answer{Status: 400}
	}
	type entry struct {
		Mark      uint8  `json:"mark"`
		VisitedAt int32  `json:"visited_at"`
		Place     string `json:"place"`
		id        uint32
	}
	entries := []entry{} // not nil: an empty list is [], not null
	for _, visitID := range m.users[id].visits {
		v := m.visits[visitID]
		l := m.locations[v.location]
		if f.passesDates(v) &&
			(f.toDistance == nil || int64(l.distance) < *f.toDistance) &&
			(f.country == nil || l.country == *f.country) {
			entries = append(entries, entry{v.mark, v.visitedAt, l.place, visitID})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.VisitedAt, b.VisitedAt), cmp.Compare(a.id, b.id))
	})
	return Answer{Status: 200, Body: toJSON(struct {
		Visits []entry `json:"visits"`
	}{entries})}
}

// average is GET /locations/<id>/avg for a location that exists.
func (m *Model) average(id uint32, query string) Answer {
	f, ok := parseQuery(query, "fromDate", "toDate", "fromAge", "toAge", "gender")
	if !ok {
		return Answer{Status: 400}
	}
	var sum, count int64
	for _, visitID := range m.locations[id].visits {
		v := m.visits[visitID]
		u := m.users[v.user]
		if f.passesDates(v) &&
			(f.fromAge == nil || int64(u.birthDate) < yearsBefore(m.now, *f.fromAge)) &&
			(f.toAge == nil || int64(u.birthDate) > yearsBefore(m.now, *f.toAge)) &&
			(f.gender == nil || genderText(u.female) == *f.gender) {
			sum += int64(v.mark)
			count++
		}
	}
	return Answer{Status: 200, Body: []byte(`{"avg":` + mean(sum, count) + `}`)}
}

func (f filter) passesDates(v visit) bool {
	return (f.fromDate == nil || int64(v.visitedAt) > *f.fromDate) &&
		(f.toDate == nil || int64(v.visitedAt) < *f.toDate)
}

// mean is sum/count rounded half up to five places, without trailing zeros;
// the mean of nothing is 0.
func mean(sum, count int64) string {
	if count == 0 {
		return "0"
	}
	const places = 100_000
	scaled := (2*sum*places + count) / (2 * count) // floor(x + 1/2): no mark is negative
	text := fmt.Sprintf("%d.%05d", scaled/places, scaled%places)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// yearsBefore goes n calendar years back from now, in UTC: same month, day
// and time of day, but 29 February becomes the 28th where the year has none.
// Where n leads beyond any birth date the result is the end of int64.
func yearsBefore(now, n int64) int64 {
	const far = 1_000_000
	if n > far {
		return math.MinInt64
	}
	if n < -far {
		return math.MaxInt64
	}
	t := time.Unix(now, 0).UTC()
	year, month, day := t.Year()-int(n), t.Month(), t.Day()
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	if month == time.February && day == 29 && !leap {
		day = 28
	}
	return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), 0, time.UTC).Unix()
}

// parseQuery reads the parameters a path knows. It fails if any known one is
// bad, also one that a later one of the same name replaces. Segments are what
// lies between '&'s (';' is an ordinary character), an empty one is ignored,
// and each is split at its first '='.
func parseQuery(query string, known ...string) (f filter, ok bool) {
	for segment := range strings.SplitSeq(query, "&") {
		if segment == "" {
			continue
		}
		rawName, rawValue, _ := strings.Cut(segment, "=")
		// A name that does not decode is no known name, so it is ignored.
		name, ok := unescape(rawName)
		if !ok || !slices.Contains(known, name) {
			continue
		}
		value, ok := unescape(rawValue)
		if !ok || value == "" { // no '=' is the same as nothing behind it
			return f, false
		}
		switch name {
		case "country":
			f.country = &value
		case "gender":
			if value != "m" && value != "f" {
				return f, false
			}
			f.gender = &value
		default:
			n, ok := parseInt(value)
			if !ok {
				return f, false
			}
			f.setNumber(name, n)
		}
	}
	return f, true
}

func (f *filter) setNumber(name string, n int64) {
	switch name {
	case "fromDate":
		f.fromDate = &n
	case "toDate":
		f.toDate = &n
	case "toDistance":
		f.toDistance = &n
	case "fromAge":
		f.fromAge = &n
	case "toAge":
		f.toAge = &n
	}
}

// parseInt reads -?[0-9]+ within int64. strconv would take a plus sign too.
func parseInt(s string) (int64, bool) {
	if s[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// unescape decodes %XX and '+'. It fails on a bad escape and when the outcome
// is not UTF-8.
func unescape(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '+':
			out = append(out, ' ')
		case '%':
			if i+2 >= len(s) {
				return "", false
			}
			high, low := hexDigit(s[i+1]), hexDigit(s[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			out = append(out, byte(high<<4|low))
			i += 2
		default:
			out = append(out, c)
		}
	}
	return string(out), utf8.Valid(out)
}

// hexDigit is the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
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
