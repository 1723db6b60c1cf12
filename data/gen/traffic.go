package gen

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"

	"redoubt/ammo"
	"redoubt/data/model"
)

// The three entities, as paths and tags name them.
const (
	users     = "users"
	locations = "locations"
	visits    = "visits"
)

// Shares of the official requests, in per mille unless said otherwise.
const (
	hardShare    = 30  // ours, not the contest's
	brokenShare  = 180 // of /users/<id>: /users/broken
	missingShare = 50  // of GETs: an unknown id
	badListShare = 65  // of lists and averages: parameters that are no numbers
	changedShare = 880 // of phase 3: something phase 2 has changed,
	postedShare  = 700 // and of that: what was itself posted, not named by a visit that was
	lostShare    = 23  // of updates: an unknown id
	badShare     = 22  // of updates: a null, or an empty body
	badNewShare  = 50  // of new records: a null
)

// request is one request on its way to the files. entity and id say what a
// POST changes if it is accepted.
type request struct {
	method, target, tag string
	body                []byte
	entity              string
	id                  uint32
}

// traffic makes the requests of the three phases and keeps book of what they
// change.
type traffic struct {
	*run
	rng     *rand.Rand
	ids     map[string][]uint32 // of each entity: known ids, new ones at the end
	dense   map[string]uint32   // the greatest id of the dense part
	next    map[string]uint32   // where new ids go on
	posted  map[string]*changes // ids that phase 2 has posted to, or created
	touched map[string]*changes // users and locations of visits that came, went or changed
	readAll bool                // phase 3: mostly changed records
	getDeck deck[getCase]
	putDeck deck[postCase]
	queryID int
}

// changes are ids, each once, in the order they came.
type changes struct {
	ids  []uint32
	seen map[uint32]bool
}

func (c *changes) add(id uint32) {
	if !c.seen[id] {
		c.seen[id] = true
		c.ids = append(c.ids, id)
	}
}

// deck deals its cards in a shuffled order and starts again when all are out,
// so that even a short run sees most of them.
type deck[T any] struct {
	cards []T
	order []int
}

func (d *deck[T]) deal(rng *rand.Rand) T {
	if len(d.order) == 0 {
		d.order = rng.Perm(len(d.cards))
	}
	card := d.cards[d.order[0]]
	d.order = d.order[1:]
	return card
}

func newTraffic(r *run) *traffic {
	t := &traffic{
		run:     r,
		rng:     r.random(4),
		ids:     map[string][]uint32{users: r.users, locations: r.locations, visits: r.visits},
		dense:   map[string]uint32{},
		next:    map[string]uint32{},
		posted:  map[string]*changes{},
		touched: map[string]*changes{},
		getDeck: deck[getCase]{cards: getCases()},
		putDeck: deck[postCase]{cards: postCases()},
	}
	for entity, ids := range t.ids { // each entity by itself: the order does not matter
		last := len(ids) - min(r.opts.Far, len(ids))
		if last > 0 {
			t.dense[entity] = ids[last-1]
		}
		t.next[entity] = t.dense[entity] + 1
		t.posted[entity] = &changes{seen: map[uint32]bool{}}
		t.touched[entity] = &changes{seen: map[uint32]bool{}}
	}
	return t
}

// writePhases writes ammo and answers of all three phases.
func (r *run) writePhases() ([]PhaseSummary, error) {
	t := newTraffic(r)
	third := r.opts.Requests * 3 / 11
	var summaries []PhaseSummary
	for _, phase := range []struct {
		name     string
		requests int
		next     func() []request
	}{
		{"phase_1_get", third, t.get},
		{"phase_2_post", third, t.post},
		{"phase_3_get", r.opts.Requests - 2*third, t.get},
	} {
		t.readAll = phase.name == "phase_3_get"
		s, err := t.phase(phase.name, phase.requests, phase.next)
		if err != nil {
			return nil, err
		}
		summaries = append(summaries, s)
	}
	return summaries, nil
}

func (t *traffic) phase(name string, n int, next func() []request) (s PhaseSummary, err error) {
	ammoFile, err := os.Create(t.folder.path("ammo", name+".ammo"))
	if err != nil {
		return s, err
	}
	answersFile, err := os.Create(t.folder.path("answers", name+".answ"))
	if err != nil {
		ammoFile.Close()
		return s, err
	}
	defer func() { err = errors.Join(err, ammoFile.Close(), answersFile.Close()) }()
	return t.writePhase(name, n, next, ammoFile, answersFile)
}

func (t *traffic) writePhase(name string, n int, next func() []request, ammoFile, answersFile io.Writer) (PhaseSummary, error) {
	s := PhaseSummary{Name: name, Requests: n, Statuses: map[string]int{}}
	records, answers := ammo.NewPhantomWriter(ammoFile), ammo.NewAnswersWriter(answersFile)
	var raw, body []byte
	for done := 0; done < n; {
		// A case may be several requests that belong together.
		for _, q := range next() {
			if done == n {
				break
			}
			done++
			a := t.do(q)
			s.Statuses[strconv.Itoa(a.Status)]++
			if strings.HasPrefix(q.tag, "hard:") {
				s.Hard++
			}
			raw, body = q.append(raw[:0]), ascii(body[:0], a.Body)
			if err := records.Write(q.tag, raw); err != nil {
				return s, err
			}
			if err := answers.Write(q.method, q.target, a.Status, body); err != nil {
				return s, err
			}
			if err := t.tell(name, done, n); err != nil {
				return s, err
			}
		}
	}
	return s, errors.Join(records.Flush(), answers.Flush())
}

// append writes the raw request with the headers of the official ammo. A POST
// with a body has a line end beyond its Content-Length, as there.
func (q request) append(dst []byte) []byte {
	connection := "keep-alive"
	if q.method == "POST" {
		connection = "close"
	}
	dst = fmt.Appendf(dst, "%s %s HTTP/1.1\r\nHost: travels.test\r\nUser-Agent: Redoubt/1.0 (generated ammo; three phases)\r\n"+
		"Accept: */*\r\nConnection: %s\r\n", q.method, q.target, connection)
	if q.method != "POST" {
		return append(dst, "\r\n"...)
	}
	dst = fmt.Appendf(dst, "Content-Length: %d\r\nContent-Type: application/json\r\n\r\n%s", len(q.body), q.body)
	if len(q.body) > 0 {
		dst = append(dst, "\r\n"...)
	}
	return dst
}

// do asks the model and notes what an accepted POST has changed: a visit also
// changes the lists it leaves and those it enters.
func (t *traffic) do(q request) model.Answer {
	before, moved := t.model.Visit(q.id)
	a := t.model.Do(q.method, q.target, q.body)
	if q.entity == "" || a.Status != 200 {
		return a
	}
	t.posted[q.entity].add(q.id)
	if q.entity == visits {
		if moved {
			t.touched[users].add(before.User)
			t.touched[locations].add(before.Location)
		}
		after, _ := t.model.Visit(q.id)
		t.touched[users].add(after.User)
		t.touched[locations].add(after.Location)
	}
	if strings.HasPrefix(q.target, "/"+q.entity+"/new") {
		t.ids[q.entity] = append(t.ids[q.entity], q.id)
	}
	return a
}

func (t *traffic) exists(entity string, id uint32) (ok bool) {
	switch entity {
	case users:
		_, ok = t.model.User(id)
	case locations:
		_, ok = t.model.Location(id)
	default:
		_, ok = t.model.Visit(id)
	}
	return ok
}

// roll is true perMille times in a thousand.
func (t *traffic) roll(perMille int) bool { return t.rng.IntN(1000) < perMille }

// weighted draws an index with these weights.
func (t *traffic) weighted(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := t.rng.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	panic("gen: weights changed while adding up")
}

// known draws the id of an existing record: in phase 3 mostly a changed one.
// An entity without any gives 1.
func (t *traffic) known(entity string) uint32 {
	if t.readAll && t.roll(changedShare) {
		changed := t.touched[entity].ids
		if len(changed) == 0 || t.roll(postedShare) {
			changed = t.posted[entity].ids
		}
		if len(changed) > 0 {
			return pick(t.rng, changed)
		}
	}
	if len(t.ids[entity]) == 0 {
		return 1
	}
	return pick(t.rng, t.ids[entity])
}

// unknown draws an id up to three times the greatest dense one that no record
// has: behind the others, or now and then out of a gap.
func (t *traffic) unknown(entity string) uint32 {
	for range 100 {
		id := t.next[entity] + t.rng.Uint32N(2*t.dense[entity]+100)
		if t.opts.Gaps > 0 && t.roll(500) {
			id = 1 + t.rng.Uint32N(t.dense[entity]+1)
		}
		if !t.exists(entity, id) {
			return id
		}
	}
	return 0 // never given out
}

// fresh hands out the next id for a new record.
func (t *traffic) fresh(entity string) uint32 {
	for t.exists(entity, t.next[entity]) {
		t.next[entity]++
	}
	t.next[entity]++
	return t.next[entity] - 1
}

// get makes one request of a reading phase.
func (t *traffic) get() []request {
	if t.roll(hardShare) {
		c := t.getDeck.deal(t.rng)
		method, target, _ := strings.Cut(c.fill(t), " ")
		return []request{{method: method, target: target, tag: "hard:get:" + c.name}}
	}
	switch t.weighted(246, 210, 197, 196, 151) {
	case 0:
		if t.roll(brokenShare) {
			return []request{{method: "GET", target: "/users/broken", tag: "GET:/users/<entity_id>"}}
		}
		return t.getEntity(users)
	case 1:
		return t.getEntity(locations)
	case 2:
		return t.getEntity(visits)
	case 3:
		return t.getFiltered(users, "/visits", []string{"fromDate", "toDate", "toDistance", "country"}, []int{25, 33, 33, 9})
	default:
		return t.getFiltered(locations, "/avg", []string{"fromDate", "toDate", "fromAge", "toAge", "gender"}, []int{20, 28, 31, 17, 4})
	}
}

func (t *traffic) anyID(entity string) uint32 {
	if t.roll(missingShare) {
		return t.unknown(entity)
	}
	return t.known(entity)
}

func (t *traffic) getEntity(entity string) []request {
	return []request{{
		method: "GET",
		target: fmt.Sprintf("/%s/%d", entity, t.anyID(entity)),
		tag:    fmt.Sprintf("GET:/%s/<entity_id>", entity),
	}}
}

// getFiltered asks for a list or an average; counts are the weights of 0, 1,
// 2, ... parameters.
func (t *traffic) getFiltered(entity, part string, names []string, counts []int) []request {
	bad := t.roll(badListShare)
	var query []string
	for _, at := range t.rng.Perm(len(names))[:t.weighted(counts...)] {
		value := t.parameter(names[at])
		if bad && names[at] != "country" {
			value = t.rubbish()
		}
		query = append(query, names[at]+"="+value)
	}
	q := request{
		method: "GET",
		target: fmt.Sprintf("/%s/%d%s", entity, t.anyID(entity), part),
		tag:    fmt.Sprintf("GET:/%s/<entity_id>%s", entity, part),
	}
	if len(query) > 0 {
		q.target += "?" + strings.Join(query, "&")
	}
	return []request{q}
}

// parameter draws a value as the contest does: dates are midnights from 1995
// to 2019, ages meet at 30.
func (t *traffic) parameter(name string) string {
	switch name {
	case "fromDate", "toDate":
		return strconv.Itoa(t.date())
	case "toDistance":
		return strconv.Itoa(1 + t.rng.IntN(100))
	case "fromAge":
		return strconv.Itoa(1 + t.rng.IntN(30))
	case "toAge":
		return strconv.Itoa(30 + t.rng.IntN(41))
	case "gender":
		return pick(t.rng, []string{"m", "f"})
	default:
		return url.QueryEscape(pick(t.rng, t.words.countries))
	}
}

func (t *traffic) date() int {
	const from, to = 9_131, 18_262 // 1 January 1995 and 2020, in days
	return (from + t.rng.IntN(to-from)) * day
}

// rubbish is 32 letters and digits that are no number.
func (t *traffic) rubbish() string {
	const alphabet = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	out := []byte("x")
	for len(out) < 32 {
		out = append(out, alphabet[t.rng.IntN(len(alphabet))])
	}
	return string(out)
}
