package model

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Answer is what a server ought to say. Allow is the Allow header of a 405 and
// else empty; Body is empty for every error and for HEAD.
type Answer struct {
	Status int
	Allow  string
	Body   []byte
}

// What each kind of path allows.
const (
	allowEntity = "GET, HEAD, POST"
	allowList   = "GET, HEAD"
	allowNew    = "POST"
)

// resource is what a path names.
type resource struct {
	entity string // users, locations or visits
	id     uint32
	part   string // "" the entity, "new", "visits" or "avg"
}

// Do answers one request. target is the raw request target in origin form,
// path and query as they stand in the request line. The order of checks is the
// contract's: path, method, existence, then parameters or body.
func (m *Model) Do(method, target string, body []byte) Answer {
	path, query, _ := strings.Cut(target, "?")
	r, ok := parsePath(path)
	if !ok {
		return Answer{Status: 404}
	}
	reading := method == "GET" || method == "HEAD"
	var a Answer
	switch {
	case r.part == "new" && reading:
		return Answer{Status: 404} // an entity whose id is "new": unknown
	case r.part == "new" && method == "POST":
		a = m.create(r.entity, body)
	case r.part == "new":
		return Answer{Status: 405, Allow: allowNew}
	case r.part != "" && !reading:
		return Answer{Status: 405, Allow: allowList}
	case !reading && method != "POST":
		return Answer{Status: 405, Allow: allowEntity}
	case !m.exists(r):
		return Answer{Status: 404}
	case method == "POST":
		a = m.update(r.entity, r.id, body)
	case r.part == "visits":
		a = m.userVisits(r.id, query)
	case r.part == "avg":
		a = m.average(r.id, query)
	default:
		a = Answer{Status: 200, Body: m.render(r.entity, r.id)}
	}
	if method == "HEAD" {
		a.Body = nil
	}
	return a
}

// parsePath takes the path literally: a percent-escape in it makes it another
// path. An id is canonical decimal up to 2^32-1.
func parsePath(path string) (r resource, ok bool) {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || len(parts) > 4 || parts[0] != "" {
		return r, false
	}
	r.entity = parts[1]
	if r.entity != "users" && r.entity != "locations" && r.entity != "visits" {
		return r, false
	}
	if len(parts) == 3 && parts[2] == "new" {
		r.part = "new"
		return r, true
	}
	id, err := strconv.ParseUint(parts[2], 10, 32)
	if err != nil || strconv.FormatUint(id, 10) != parts[2] {
		return r, false
	}
	r.id = uint32(id)
	if len(parts) == 3 {
		return r, true
	}
	r.part = parts[3]
	return r, r.entity == "users" && r.part == "visits" || r.entity == "locations" && r.part == "avg"
}

func (m *Model) exists(r resource) bool {
	switch r.entity {
	case "users":
		return m.users[r.id] != nil
	case "locations":
		return m.locations[r.id] != nil
	default:
		_, ok := m.visits[r.id]
		return ok
	}
}

// render gives the JSON of a record that exists.
func (m *Model) render(entity string, id uint32) []byte {
	switch entity {
	case "users":
		u, _ := m.User(id)
		return toJSON(struct {
			ID        uint32 `json:"id"`
			Email     string `json:"email"`
			FirstName string `json:"first_name"`
			LastName  string `json:"last_name"`
			Gender    string `json:"gender"`
			BirthDate int32  `json:"birth_date"`
		}{u.ID, u.Email, u.FirstName, u.LastName, u.Gender, u.BirthDate})
	case "locations":
		l, _ := m.Location(id)
		return toJSON(struct {
			ID       uint32 `json:"id"`
			Place    string `json:"place"`
			Country  string `json:"country"`
			City     string `json:"city"`
			Distance uint32 `json:"distance"`
		}{l.ID, l.Place, l.Country, l.City, l.Distance})
	default:
		v, _ := m.Visit(id)
		return toJSON(struct {
			ID        uint32 `json:"id"`
			Location  uint32 `json:"location"`
			User      uint32 `json:"user"`
			VisitedAt int32  `json:"visited_at"`
			Mark      uint8  `json:"mark"`
		}{v.ID, v.Location, v.User, v.VisitedAt, v.Mark})
	}
}

func toJSON(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // the structs above always encode
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
