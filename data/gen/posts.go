package gen

import (
	"fmt"
	"strings"

	"redoubt/data/model"
)

// post makes one request of the writing phase, or a few that belong together.
func (t *traffic) post() []request {
	if t.roll(hardShare) {
		c := t.putDeck.deal(t.rng)
		requests := c.make(t)
		for i := range requests {
			requests[i].tag = "hard:post:" + c.name
			t.number(&requests[i])
		}
		return requests
	}
	var q request
	switch t.weighted(254, 205, 203, 156, 94, 87) {
	case 0:
		q = t.update(visits)
	case 1:
		q = t.update(users)
	case 2:
		q = t.update(locations)
	case 3:
		q = t.create(visits)
	case 4:
		q = t.create(users)
	default:
		q = t.create(locations)
	}
	t.number(&q)
	return []request{q}
}

// number gives each POST the query_id that the contest gives it.
func (t *traffic) number(q *request) {
	if q.method == "" {
		q.method = "POST"
	}
	if !strings.Contains(q.target, "?") {
		q.target = fmt.Sprintf("%s?query_id=%d", q.target, t.queryID)
	}
	t.queryID++
}

// record makes the members of a new record, the id first.
func (t *traffic) record(entity string, id uint32) []member {
	switch entity {
	case users:
		return userMembers(t.user(t.rng, id))
	case locations:
		return locationMembers(t.location(t.rng, id))
	default:
		return visitMembers(t.newVisit(id))
	}
}

// newVisit may name anything that exists by now, also what has just been
// created.
func (t *traffic) newVisit(id uint32) model.Visit {
	v := t.visit(t.rng, id, 1)
	v.User, v.Location = t.known(users), t.known(locations)
	return v
}

// update changes some fields, in any order.
func (t *traffic) update(entity string) request {
	q := t.change(entity, t.known(entity), nil)
	if t.roll(lostShare) {
		return t.change(entity, t.unknown(entity), nil)
	}
	if t.roll(badShare) {
		if t.roll(120) {
			q.body = nil
			return q
		}
		return t.change(entity, q.id, func(given []member) { given[0] = rawOf(given[0].key, "null") })
	}
	return q
}

// change is an update of a random choice of fields; edit may spoil them.
func (t *traffic) change(entity string, id uint32, edit func(given []member)) request {
	fields := t.record(entity, id)[1:]
	order := t.rng.Perm(len(fields))[:1+t.weighted(35, 35, 22, 8)]
	given := make([]member, len(order))
	for i, at := range order {
		given[i] = fields[at]
	}
	if edit != nil {
		edit(given)
	}
	return request{
		target: fmt.Sprintf("/%s/%d", entity, id),
		tag:    fmt.Sprintf("POST:/%s/<entity_id>", entity),
		body:   appendObject(nil, given, inOrder(len(given)), escaped),
		entity: entity,
		id:     id,
	}
}

// create posts a new record; a few lack an id or a name.
func (t *traffic) create(entity string) request {
	if !t.roll(badNewShare) {
		return t.new(entity, t.fresh(entity), nil)
	}
	return t.new(entity, 0, func(fields []member) {
		fields[0] = rawOf("id", "null")
		if entity == users {
			fields[0], fields[2] = rawOf("id", `"broken"`), rawOf("first_name", "null")
		}
	})
}

// new is a complete new record, its keys in any order; edit may spoil it.
func (t *traffic) new(entity string, id uint32, edit func(fields []member)) request {
	fields := t.record(entity, id)
	if edit != nil {
		edit(fields)
	}
	return request{
		target: "/" + entity + "/new",
		tag:    fmt.Sprintf("POST:/%s/new", entity),
		body:   appendObject(nil, fields, t.rng.Perm(len(fields)), escaped),
		entity: entity,
		id:     id,
	}
}

func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}
