package gen

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// getCase is one hard case of the reading phases: a request as METHOD TARGET,
// where {user}, {location} and {visit} stand for ids that exist, {nobody} for
// an id no user has, {date} for a date, and {country} for a country, escaped.
type getCase struct{ name, request string }

// fill puts values in the places of the names. Each place gets its own.
func (c getCase) fill(t *traffic) string {
	var out strings.Builder
	for rest := c.request; ; {
		before, after, found := strings.Cut(rest, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, _ := strings.Cut(after, "}")
		switch rest = after; name {
		case "user", "location", "visit":
			out.WriteString(strconv.FormatUint(uint64(t.known(name+"s")), 10))
		case "nobody":
			out.WriteString(strconv.FormatUint(uint64(t.unknown(users)), 10))
		case "date":
			out.WriteString(strconv.Itoa(t.date()))
		case "country":
			out.WriteString(url.QueryEscape(pick(t.rng, t.words.countries)))
		default:
			panic(fmt.Sprintf("gen: the case %s has a place for %q", c.name, name))
		}
	}
}

// getCases are what the contract says about reading, case by case, and what
// other servers are known to stumble over.
func getCases() []getCase {
	return []getCase{
		// Values that are no values.
		{"no-value", "GET /users/{user}/visits?toDate"},
		{"no-value-before-others", "GET /users/{user}/visits?toDate&fromDate={date}"},
		{"empty-date", "GET /users/{user}/visits?fromDate="},
		{"empty-country", "GET /users/{user}/visits?country="},
		{"empty-gender", "GET /locations/{location}/avg?gender="},
		{"no-value-gender", "GET /locations/{location}/avg?gender"},
		// Integers, and what is none.
		{"plus-sign", "GET /users/{user}/visits?fromDate=+5"},
		{"escaped-plus-sign", "GET /users/{user}/visits?fromDate=%2B5"},
		{"fraction", "GET /users/{user}/visits?toDistance=50.0"},
		{"exponent", "GET /users/{user}/visits?toDate=1e9"},
		{"hexadecimal", "GET /users/{user}/visits?toDate=0x50000000"},
		{"blank-after-number", "GET /users/{user}/visits?toDate={date}+"},
		{"two-minus-signs", "GET /users/{user}/visits?toDate=--5"},
		{"only-minus", "GET /locations/{location}/avg?fromAge=-"},
		{"minus-zero", "GET /users/{user}/visits?fromDate=-0"},
		{"leading-zeros", "GET /users/{user}/visits?fromDate=000{date}&toDistance=0050"},
		{"escaped-digits", "GET /users/{user}/visits?toDistance=%35%30"},
		{"int64-ends", "GET /users/{user}/visits?fromDate=-9223372036854775808&toDate=9223372036854775807"},
		{"beyond-int64", "GET /users/{user}/visits?toDate=9223372036854775808"},
		{"below-int64", "GET /locations/{location}/avg?fromDate=-9223372036854775809"},
		{"beyond-int32", "GET /users/{user}/visits?toDate=4294967296"},
		{"negative-distance", "GET /users/{user}/visits?toDistance=-1"},
		// Ages.
		{"age-int64-end", "GET /locations/{location}/avg?fromAge=9223372036854775807"},
		{"to-age-int64-end", "GET /locations/{location}/avg?toAge=9223372036854775807"},
		{"age-below-int64", "GET /locations/{location}/avg?toAge=-9223372036854775808"},
		{"age-overflows-32-bits", "GET /locations/{location}/avg?toAge=4294967326"},
		{"age-negative", "GET /locations/{location}/avg?fromAge=-5"},
		{"age-zero", "GET /locations/{location}/avg?fromAge=0&toAge=87"},
		{"age-thousands", "GET /locations/{location}/avg?toAge=2500"},
		// Genders.
		{"gender-upper-case", "GET /locations/{location}/avg?gender=M"},
		{"gender-two-letters", "GET /locations/{location}/avg?gender=mf"},
		{"gender-escaped", "GET /locations/{location}/avg?gender=%6d"},
		// Escapes.
		{"country-plus-is-blank", "GET /users/{user}/visits?country=%D0%A8%D1%80%D0%B8+%D0%9B%D0%B0%D0%BD%D0%BA%D0%B0"},
		{"country-lower-case-escapes", "GET /users/{user}/visits?country=%d0%9f%d0%b5%d1%80%d1%83"},
		{"country-equals-sign", "GET /users/{user}/visits?country=a=b"},
		{"country-bad-utf8", "GET /users/{user}/visits?country=%FF%FE"},
		{"country-cut-utf8", "GET /users/{user}/visits?country=%D0"},
		{"country-bad-escape", "GET /users/{user}/visits?country=%zz"},
		{"country-cut-escape", "GET /users/{user}/visits?country={country}%2"},
		{"name-escaped", "GET /users/{user}/visits?from%44ate={date}"},
		{"name-escaped-bad-value", "GET /users/{user}/visits?%74oDate=x"},
		// Unknown parameters hold what they like.
		{"unknown-bad-escapes", "GET /users/{user}/visits?%zz=1&x=%FF&y=%&fromDate={date}"},
		{"unknown-of-other-path", "GET /users/{user}/visits?gender=x&fromAge=&toAge"},
		{"unknown-of-other-path-avg", "GET /locations/{location}/avg?country=&toDistance=x"},
		{"unknown-other-case", "GET /users/{user}/visits?todate=x&FROMDATE=&toDate={date}"},
		{"unknown-no-name", "GET /users/{user}/visits?=5&=&toDate={date}"},
		// Repeats and separators.
		{"repeated-last-counts", "GET /users/{user}/visits?toDate=0&toDate={date}"},
		{"repeated-first-bad", "GET /users/{user}/visits?toDate=x&toDate={date}"},
		{"repeated-last-bad", "GET /locations/{location}/avg?gender=m&gender=x"},
		{"empty-segments", "GET /users/{user}/visits?&&fromDate={date}&&"},
		{"semicolon", "GET /users/{user}/visits?fromDate={date};toDate=5"},
		{"semicolon-in-unknown", "GET /users/{user}/visits?a=1;toDate=x"},
		{"second-question-mark", "GET /users/{user}/visits??toDate=x"},
		{"empty-query", "GET /users/{user}/visits?"},
		{"all-parameters", "GET /users/{user}/visits?fromDate=0&toDate=2000000000&country={country}&toDistance=100"},
		// Entities ignore their query.
		{"entity-query", "GET /users/{user}?toDate=x&%zz"},
		{"entity-empty-query", "GET /visits/{visit}?"},
		// Ids.
		{"id-wraps-32-bits", "GET /users/4294967297"},
		{"id-wraps-64-bits", "GET /users/18446744073709551617"},
		{"id-greatest", "GET /users/4294967295"},
		{"id-beyond", "GET /locations/4294967296"},
		{"id-zero", "GET /visits/0"},
		{"id-negative", "GET /users/-1"},
		{"id-negative-list", "GET /users/-1/visits"},
		{"id-plus", "GET /locations/+{location}"},
		{"id-leading-zero", "GET /users/0{user}"},
		{"id-leading-zero-list", "GET /users/00{user}/visits"},
		{"id-fraction", "GET /visits/{visit}.0"},
		{"id-escaped", "GET /users/%31"},
		{"id-letters-behind", "GET /locations/{location}x/avg"},
		{"id-new", "GET /users/new"},
		// Paths.
		{"trailing-slash", "GET /users/{user}/"},
		{"trailing-slash-list", "GET /users/{user}/visits/"},
		{"trailing-slash-avg", "GET /locations/{location}/avg/?gender=m"},
		{"double-slash", "GET //users/{user}"},
		{"upper-case-path", "GET /Users/{user}"},
		{"list-of-visits", "GET /visits/{visit}/visits"},
		{"avg-of-user", "GET /users/{user}/avg"},
		{"no-id", "GET /users"},
		{"empty-id", "GET /users/"},
		{"root", "GET /"},
		{"other-path", "GET /favicon.ico"},
		{"prefix", "GET /users/{user}/visitsx"},
		// A missing user is missing before anything else is looked at.
		{"missing-before-parameters", "GET /users/{nobody}/visits?toDate=x"},
		// Other methods.
		{"head", "HEAD /users/{user}"},
		{"head-list", "HEAD /users/{user}/visits?fromDate={date}"},
		{"head-bad-parameter", "HEAD /users/{user}/visits?fromDate=x"},
		{"head-missing", "HEAD /users/{nobody}"},
		{"put", "PUT /users/{user}"},
		{"delete-list", "DELETE /users/{user}/visits"},
		{"unknown-method", "BREW /locations/{location}/avg"},
		{"method-after-path", "DELETE /users/{user}/nothing"},
		{"method-before-existence", "PATCH /users/{nobody}"},
		{"put-new", "PUT /visits/new"},
	}
}
