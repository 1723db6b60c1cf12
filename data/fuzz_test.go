package data

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"redoubt/store"
)

// An oracle for Reader that shares no code with it: encoding/json splits the
// input into tokens, and the rules are checked one after the other.

// rule is what a known field must hold: a number between low and high, one of
// the words, or a string of at most runes code points.
type rule struct {
	low, high int64
	words     []string
	runes     int
}

var rules = map[kind]map[string]rule{
	users: {
		"id": {high: 1<<32 - 1}, "email": {runes: 100}, "first_name": {runes: 50}, "last_name": {runes: 50},
		"gender": {words: []string{"m", "f"}}, "birth_date": {low: -1 << 31, high: 1<<31 - 1},
	},
	locations: {
		"id": {high: 1<<32 - 1}, "distance": {high: 1<<32 - 1}, "place": {runes: 1 << 40}, "country": {runes: 50}, "city": {runes: 50},
	},
	visits: {
		"id": {high: 1<<32 - 1}, "location": {high: 1<<32 - 1}, "user": {high: 1<<32 - 1},
		"visited_at": {low: -1 << 31, high: 1<<31 - 1}, "mark": {high: 5},
	},
}

var (
	wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	// All escapes of a valid document; the middle alternative is a surrogate alone.
	escapes = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.`)
)

// oracle returns the known fields of a body, numbers as int64, or false.
func oracle(k kind, src []byte) (map[string]any, bool) {
	if !utf8.Valid(src) || !json.Valid(src) {
		return nil, false
	}
	for _, m := range escapes.FindAllSubmatch(src, -1) {
		if m[1] != nil {
			return nil, false
		}
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	given := map[string]any{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		name := key.(string)
		value, err := dec.Token()
		if err != nil {
			return nil, false
		}
		rule, known := rules[k][name]
		if !known {
			if !skipValue(dec, value) {
				return nil, false
			}
			continue
		}
		switch value := value.(type) {
		case string:
			if rule.runes == 0 && rule.words == nil || rule.runes > 0 && utf8.RuneCountInString(value) > rule.runes {
				return nil, false
			}
			if rule.words != nil && value != rule.words[0] && value != rule.words[1] {
				return nil, false
			}
			given[name] = value
		case json.Number:
			n, err := strconv.ParseInt(value.String(), 10, 64)
			if rule.runes > 0 || rule.words != nil || !wholeNumber.MatchString(value.String()) || err != nil || n < rule.low || n > rule.high {
				return nil, false
			}
			given[name] = n
		default:
			return nil, false
		}
	}
	return given, true
}

// skipValue reads the rest of the value that starts with token t, and is false
// if it nests too deep.
func skipValue(dec *json.Decoder, t json.Token) bool {
	deepest, depth := 0, 0
	for {
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return deepest <= 32
		}
		var err error
		if t, err = dec.Token(); err != nil {
			return false
		}
	}
}

// fields returns what a Reader's result says was given, as oracle does.
func fields(record any) map[string]any {
	m := map[string]any{}
	add := func(has bool, name string, value any) {
		if has {
			m[name] = value
		}
	}
	switch r := record.(type) {
	case *store.User:
		add(r.Has&store.ID != 0, "id", int64(r.ID))
		add(r.Has&store.Email != 0, "email", string(r.Email))
		add(r.Has&store.FirstName != 0, "first_name", string(r.FirstName))
		add(r.Has&store.LastName != 0, "last_name", string(r.LastName))
		add(r.Has&store.Gender != 0, "gender", string(rune(r.Gender)))
		add(r.Has&store.BirthDate != 0, "birth_date", int64(r.BirthDate))
	case *store.Location:
		add(r.Has&store.ID != 0, "id", int64(r.ID))
		add(r.Has&store.Distance != 0, "distance", int64(r.Distance))
		add(r.Has&store.Place != 0, "place", string(r.Place))
		add(r.Has&store.Country != 0, "country", string(r.Country))
		add(r.Has&store.City != 0, "city", string(r.City))
	case *store.Visit:
		add(r.Has&store.ID != 0, "id", int64(r.ID))
		add(r.Has&store.AtLocation != 0, "location", int64(r.Location))
		add(r.Has&store.ByUser != 0, "user", int64(r.User))
		add(r.Has&store.VisitedAt != 0, "visited_at", int64(r.VisitedAt))
		add(r.Has&store.Mark != 0, "mark", int64(r.Mark))
	}
	return m
}

func FuzzReader(f *testing.F) {
	for k, src := range wholes {
		f.Add(uint8(k), []byte(src))
	}
	for _, src := range []string{
		`{}`, ` { } `, `[]`, `null`, ``, `{"id":-0}`, `{"id":1e2}`, `{"id":1.0}`, `{"id":01}`, `{"id":4294967295,"id":4294967296}`, `{"mark":5,"mark":-0}`,
		`{"\u0069d":7}`, `{"gender":"\u006d"}`, `{"email":"\ud83d\ude00\ud83d"}`, "{\"city\":\"\xd0\xd0\"}", "{\"place\":\"\xc0\xaf\"}", "{\"x\":\"\t\"}",
		`{"x":` + nested(32) + `}`, `{"x":` + nested(33) + `}`, `{"x":[1,]}`, `{"x":1.}`, `{"x":-}`, `{"x":tru}`, `{"x":{"id":null}}`, `{"id":1}}`, `{"a":"\\","b":"\\ud800"}`,
	} {
		f.Add(uint8(users), []byte(src))
		f.Add(uint8(locations), []byte(src))
		f.Add(uint8(visits), []byte(src))
	}
	var r Reader
	f.Fuzz(func(t *testing.T, k uint8, src []byte) {
		compare(t, &r, kind(k%kinds), src)
	})
}

// TestReaderMutated compares reader and oracle on bodies with random damage,
// a little of what the fuzz target does for as long as one likes.
func TestReaderMutated(t *testing.T) {
	pieces := []string{`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, ` `, "\n", `0`, `-`, `.`, `e`, `1`, `null`, `true`, `"id"`, `"mark":`, `"x":`, `\ud83d`, `\ude00`, `\u0069`, "я", "\xd0", "\x80", "\xff", "\x00", `4294967296`, `[[[[[[[[`}
	var r Reader
	accepted := 0
	for round := range 20_000 {
		rng := rand.New(rand.NewPCG(7, uint64(round)))
		k := kind(rng.IntN(kinds))
		src := []byte(wholes[k])
		if rng.IntN(2) == 0 {
			src = plainRecords[k]
		}
		for range 1 + rng.IntN(2) {
			at := rng.IntN(len(src) + 1)
			until := at
			if rng.IntN(2) == 0 {
				until = min(at+rng.IntN(4), len(src))
			}
			piece := ""
			if until == at || rng.IntN(2) == 0 {
				piece = pieces[rng.IntN(len(pieces))]
			}
			src = slices.Concat(src[:at], []byte(piece), src[until:])
		}
		if compare(t, &r, k, src) {
			accepted++
		}
	}
	t.Logf("%d of 20000 were accepted", accepted)
}

// compare fails t unless r reads src as the oracle does; it returns whether
// src is fine.
func compare(t *testing.T, r *Reader, k kind, src []byte) bool {
	t.Helper()
	src = src[:len(src):len(src)] // a read beyond the end would panic
	want, fine := oracle(k, src)
	record, err := read(r, k, src)
	if fine != (err == nil) {
		t.Fatalf("%s %q: error %v, but the oracle says fine: %v", k, src, err, fine)
	}
	if !fine {
		if e := err.(*Error); e.Offset < 0 || e.Offset > len(src) || e.Reason == "" {
			t.Fatalf("%q: a strange error: %+v", src, e)
		}
		return false
	}
	if got := fields(record); !maps.Equal(want, got) {
		t.Fatalf("%s %q: %v, want %v", k, src, got, want)
	}
	return true
}
