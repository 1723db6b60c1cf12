package gen

import (
	"fmt"
	"strings"
)

// postCase is one hard case of the writing phase: a request, or a few whose
// order matters.
type postCase struct {
	name string
	make func(t *traffic) []request
}

// on is a case that posts this body to a known record of entity.
func on(name, entity, body string) postCase {
	return postCase{name, func(t *traffic) []request {
		return []request{t.write(entity, t.known(entity), body)}
	}}
}

// spoilt is a case that posts a new record with one member changed.
func spoilt(name, entity string, m member) postCase {
	return postCase{name, func(t *traffic) []request {
		return []request{t.new(entity, t.fresh(entity), func(fields []member) {
			for i := range fields {
				if fields[i].key == m.key {
					fields[i] = m
				}
			}
		})}
	}}
}

func (t *traffic) write(entity string, id uint32, body string) request {
	return request{target: fmt.Sprintf("/%s/%d", entity, id), body: []byte(body), entity: entity, id: id}
}

// postCases are what the contract says about bodies, case by case.
func postCases() []postCase {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := []postCase{
		// Bodies that are no object.
		on("empty-body", users, ""),
		on("blank-body", users, " \r\n"),
		on("list-body", users, "[]"),
		on("list-of-objects", visits, `[{"mark": 1}]`),
		on("null-body", locations, "null"),
		on("string-body", visits, `"{}"`),
		on("cut-body", users, `{"first_name": "Лада"`),
		on("two-bodies", users, `{"gender": "f"}{"gender": "m"}`),
		on("bytes-behind", users, `{"gender": "f"} x`),
		on("comma-at-end", visits, `{"mark": 1,}`),
		on("single-quotes", visits, `{'mark': 1}`),
		on("byte-order-mark", visits, "\ufeff{\"mark\": 1}"),
		on("empty-object", users, "{}"),
		on("blanks-around", visits, "\r\n\t {\t\"mark\" :\n2 } \n"),
		// Numbers.
		on("fraction", visits, `{"mark": 3.0}`),
		on("exponent", visits, `{"visited_at": 1e9}`),
		on("leading-zero", locations, `{"distance": 07}`),
		on("plus-sign", locations, `{"distance": +7}`),
		on("minus-zero", locations, `{"distance": -0}`),
		on("number-as-text", locations, `{"distance": "7"}`),
		on("text-as-number", locations, `{"city": 7}`),
		on("true-as-number", visits, `{"mark": true}`),
		on("list-as-number", visits, `{"mark": [1]}`),
		on("object-as-text", users, `{"email": {"a": "b"}}`),
		on("null-text", locations, `{"place": null}`),
		on("mark-zero", visits, `{"mark": 0}`),
		on("mark-five", visits, `{"mark": 5}`),
		on("mark-six", visits, `{"mark": 6}`),
		on("mark-negative", visits, `{"mark": -1}`),
		on("mark-wraps-8-bits", visits, `{"mark": 259}`),
		on("date-int32-end", users, `{"birth_date": -2147483648}`),
		on("date-below-int32", users, `{"birth_date": -2147483649}`),
		on("visit-int32-end", visits, `{"visited_at": 2147483647}`),
		on("visit-beyond-int32", visits, `{"visited_at": 2147483648}`),
		on("distance-end", locations, `{"distance": 4294967295}`),
		on("distance-beyond", locations, `{"distance": 4294967296}`),
		// Fields.
		on("id-in-update", users, `{"id": 1}`),
		on("id-in-update-escaped", users, `{"\u0069d": 1, "gender": "f"}`),
		on("repeated-field", visits, `{"mark": 1, "mark": 2}`),
		on("repeated-first-bad", visits, `{"mark": 9, "mark": 2}`),
		on("repeated-last-null", visits, `{"mark": 2, "mark": null}`),
		on("escaped-name", visits, `{"m\u0061rk": 3}`),
		on("other-case", visits, `{"Mark": 9, "MARK": null, "mark": 4}`),
		on("unknown-nested", users, `{"x": {"id": 7, "email": null, "y": [1.5e-3, true, "z"]}, "gender": "f"}`),
		on("unknown-32-deep", users, `{"x": `+nested(32)+`, "gender": "m"}`),
		on("unknown-33-deep", users, `{"x": `+nested(33)+`, "gender": "m"}`),
		on("unknown-broken", users, `{"x": [1,], "gender": "m"}`),
		// Text.
		on("raw-utf8", locations, `{"place": "Ратная площадь", "city": "Ёлкино"}`),
		on("all-escapes", locations, `{"place": "\"\\\/\b\f\n\r\t\u0001\u00e9\ud83d\ude00"}`),
		on("quotes-in-names", users, `{"first_name": "\"О'Нил\"", "last_name": "a\\b"}`),
		on("control-character", locations, "{\"place\": \"a\nb\"}"),
		on("unknown-escape", locations, `{"place": "\x41"}`),
		on("lone-high-surrogate", users, `{"last_name": "\ud83d"}`),
		on("lone-low-surrogate", users, `{"last_name": "\ude00x"}`),
		on("swapped-surrogates", users, `{"last_name": "\ude00\ud83d"}`),
		on("bad-utf8", users, "{\"last_name\": \"\xd0\xd0\"}"),
		on("bad-utf8-in-unknown", users, "{\"x\": \"\xff\"}"),
		on("empty-texts", users, `{"first_name": "", "last_name": ""}`),
		on("50-code-points", users, `{"first_name": "`+strings.Repeat("ю", 50)+`"}`),
		on("51-code-points", users, `{"first_name": "`+strings.Repeat("ю", 51)+`"}`),
		on("50-pairs", locations, `{"city": "`+strings.Repeat(`\ud83d\ude00`, 50)+`"}`),
		on("51-pairs", locations, `{"country": "`+strings.Repeat(`\ud83d\ude00`, 51)+`"}`),
		on("email-101", users, `{"email": "`+strings.Repeat("q", 101)+`"}`),
		on("long-place", locations, `{"place": "`+strings.Repeat("набережная ", 150)+`"}`),
		on("gender-upper-case", users, `{"gender": "F"}`),
		on("gender-escaped", users, `{"gender": "\u0066"}`),
		// New records.
		spoilt("new-without-id", users, rawOf("id", "null")),
		spoilt("new-id-as-text", users, rawOf("id", `"77"`)),
		spoilt("new-id-beyond", visits, rawOf("id", "4294967296")),
		spoilt("new-id-negative", locations, rawOf("id", "-5")),
		spoilt("new-id-fraction", locations, rawOf("id", "77.0")),
		spoilt("new-nobody", visits, rawOf("user", "0")),
		spoilt("new-nowhere", visits, rawOf("location", "4294967294")),
		spoilt("new-odd-text", users, rawOf("last_name", `"\u2028\"\\\u0000"`)),
	}
	return append(cases, postCasesInSeveral()...)
}

// postCasesInSeveral need values of their own, or several requests.
func postCasesInSeveral() []postCase {
	return []postCase{
		{"new-existing-id", func(t *traffic) []request {
			return []request{t.new(locations, t.known(locations), nil)}
		}},
		{"new-missing-field", func(t *traffic) []request {
			return []request{t.new(users, t.fresh(users), func(f []member) { f[1] = f[2] })} // first_name twice, no email
		}},
		{"new-far-id", func(t *traffic) []request { // and at once a visit by it
			id := 3_000_000_000 + t.rng.Uint32N(1_200_000_000)
			first := t.new(users, id, nil)
			return []request{first, t.new(visits, t.fresh(visits), func(f []member) { f[2] = numberOf("user", int64(id)) })}
		}},
		{"new-twice", func(t *traffic) []request {
			q := t.new(visits, t.fresh(visits), nil)
			return []request{q, q}
		}},
		{"new-then-update", func(t *traffic) []request {
			id := t.fresh(locations)
			return []request{t.new(locations, id, nil), t.change(locations, id, nil)}
		}},
		{"email-taken", func(t *traffic) []request {
			return []request{t.write(users, t.known(users), fmt.Sprintf(`{"email": %s}`, t.emailOf(t.known(users))))}
		}},
		{"email-own", func(t *traffic) []request {
			id := t.known(users)
			return []request{t.write(users, id, fmt.Sprintf(`{"email": %s, "gender": "m"}`, t.emailOf(id)))}
		}},
		{"email-freed", func(t *traffic) []request { // one gives it up, the other takes it
			a, b := t.known(users), t.known(users)
			given := fmt.Sprintf(`{"email": %s}`, t.emailOf(a))
			return []request{t.change(users, b, func(f []member) { f[0] = textOf("email", t.email(t.rng)) }),
				t.write(users, a, fmt.Sprintf(`{"email": "%s"}`, t.email(t.rng))), t.write(users, b, given), t.write(users, a, given)}
		}},
		{"email-taken-new", func(t *traffic) []request {
			return []request{t.new(users, t.fresh(users), func(f []member) { f[1] = rawOf("email", string(t.emailOf(t.known(users)))) })}
		}},
		{"visit-moves-twice", func(t *traffic) []request {
			id := t.known(visits)
			return []request{
				t.write(visits, id, fmt.Sprintf(`{"user": %d}`, t.known(users))),
				t.write(visits, id, fmt.Sprintf(`{"user": %d, "location": %d}`, t.known(users), t.known(locations))),
			}
		}},
		{"visit-to-itself", func(t *traffic) []request {
			v, _ := t.model.Visit(t.known(visits))
			return []request{t.write(visits, v.ID, fmt.Sprintf(`{"user": %d, "location": %d}`, v.User, v.Location))}
		}},
		{"visit-to-nobody", func(t *traffic) []request {
			body := fmt.Sprintf(`{"mark": 2, "location": %d, "user": %d}`, t.known(locations), t.unknown(users))
			return []request{t.write(visits, t.known(visits), body)}
		}},
		{"visit-by-nobody-then-somebody", func(t *traffic) []request {
			body := fmt.Sprintf(`{"user": %d, "user": %d}`, t.unknown(users), t.known(users))
			return []request{t.write(visits, t.known(visits), body)}
		}},
		{"missing-before-body", func(t *traffic) []request {
			return []request{t.write(users, t.unknown(users), "{")}
		}},
		{"post-to-list", func(t *traffic) []request {
			return []request{{target: fmt.Sprintf("/users/%d/visits", t.known(users)), body: []byte("{}")}}
		}},
		{"post-to-avg", func(t *traffic) []request {
			return []request{{target: fmt.Sprintf("/locations/%d/avg?gender=x", t.unknown(locations)), body: []byte("{}")}}
		}},
		{"post-trailing-slash", func(t *traffic) []request {
			return []request{{target: fmt.Sprintf("/users/%d/", t.known(users)), body: []byte("{}")}}
		}},
		{"post-negative-id", func(t *traffic) []request { return []request{{target: "/users/-1", body: []byte("{}")}} }},
		{"post-wrapping-id", func(t *traffic) []request { return []request{{target: "/users/4294967297", body: []byte("{}")}} }},
		{"post-bad-query", func(t *traffic) []request {
			q := t.write(visits, t.known(visits), `{"mark": 1}`)
			q.target += "?query_id=%zz&toDate"
			return []request{q}
		}},
	}
}

// emailOf is a user's present email as JSON. A user that a case only hopes to
// exist gives a text nobody has.
func (t *traffic) emailOf(id uint32) []byte {
	u, ok := t.model.User(id)
	if !ok {
		return []byte(`"nobody@mail.test"`)
	}
	return appendString(nil, u.Email, escaped)
}
