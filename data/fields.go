package data

import "redoubt/store"

// fieldNames has the fields of each kind with their names.
var fieldNames = [kinds][]struct {
	name  string
	field store.Fields
}{
	users: {{"id", store.ID}, {"email", store.Email}, {"first_name", store.FirstName}, {"last_name", store.LastName},
		{"gender", store.Gender}, {"birth_date", store.BirthDate}},
	locations: {{"id", store.ID}, {"distance", store.Distance}, {"place", store.Place}, {"country", store.Country}, {"city", store.City}},
	visits:    {{"id", store.ID}, {"location", store.AtLocation}, {"user", store.ByUser}, {"visited_at", store.VisitedAt}, {"mark", store.Mark}},
}

// The functions below are the fast path of Reader.field: each returns the
// known field whose name stands at i with its quotes and colon, and the
// position after it, or else 0 and i.
//
// They do not look for the name's end but compare with each that it may be.
// A CPU foresees the comparisons' outcome, as files have their fields in one
// order, and goes on with the value at once, where the end would be an address
// to wait for. Compared with looking for the quote, a visit takes 74 ns
// instead of 98 (BenchmarkFile).

// longestName is the most that is compared, up to the colon.
const longestName = len(`"first_name":`)

func userField(src []byte, i int) (store.Fields, int) {
	if len(src)-i < longestName {
		return 0, i
	}
	switch s := src[i:]; {
	case string(s[:13]) == `"first_name":`:
		return store.FirstName, i + 13
	case string(s[:12]) == `"last_name":`:
		return store.LastName, i + 12
	case string(s[:13]) == `"birth_date":`:
		return store.BirthDate, i + 13
	case string(s[:9]) == `"gender":`:
		return store.Gender, i + 9
	case string(s[:5]) == `"id":`:
		return store.ID, i + 5
	case string(s[:8]) == `"email":`:
		return store.Email, i + 8
	}
	return 0, i
}

func locationField(src []byte, i int) (store.Fields, int) {
	if len(src)-i < longestName {
		return 0, i
	}
	switch s := src[i:]; {
	case string(s[:11]) == `"distance":`:
		return store.Distance, i + 11
	case string(s[:7]) == `"city":`:
		return store.City, i + 7
	case string(s[:8]) == `"place":`:
		return store.Place, i + 8
	case string(s[:5]) == `"id":`:
		return store.ID, i + 5
	case string(s[:10]) == `"country":`:
		return store.Country, i + 10
	}
	return 0, i
}

func visitField(src []byte, i int) (store.Fields, int) {
	if len(src)-i < longestName {
		return 0, i
	}
	switch s := src[i:]; {
	case string(s[:7]) == `"user":`:
		return store.ByUser, i + 7
	case string(s[:11]) == `"location":`:
		return store.AtLocation, i + 11
	case string(s[:13]) == `"visited_at":`:
		return store.VisitedAt, i + 13
	case string(s[:5]) == `"id":`:
		return store.ID, i + 5
	case string(s[:7]) == `"mark":`:
		return store.Mark, i + 7
	}
	return 0, i
}
