package handlers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"redoubt/data/model"
	"redoubt/handlers"
	"redoubt/store"
)

// now of all tests: a leap day, with a time of day.
const now = 1456704000 + 12345 // 2016-02-29

// pair is the API beside the model that says what it ought to answer.
type pair struct {
	t      testing.TB
	worker *handlers.Worker
	model  *model.Model
}

func newStore(t testing.TB, ready bool) *store.Store {
	t.Helper()
	s, err := store.New(store.Config{Now: now, Ready: ready})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newPair(t testing.TB, s *store.Store) *pair {
	p := &pair{t: t, worker: handlers.New(s).NewWorker(), model: model.New(now)}
	t.Cleanup(p.worker.Close)
	return p
}

// bothModes runs a test on a lean and on a ready store.
func bothModes(t *testing.T, test func(t *testing.T, ready bool)) {
	t.Run("lean", func(t *testing.T) { test(t, false) })
	t.Run("ready", func(t *testing.T) { test(t, true) })
}

// ask sends one request to both, compares, and returns the status.
func (p *pair) ask(method, target, body string) int {
	p.t.Helper()
	path, query, _ := bytes.Cut([]byte(target), []byte{'?'})
	p.worker.Enter()
	defer p.worker.Exit()
	got := p.worker.Serve([]byte(method), path, query, []byte(body))
	want := p.model.Do(method, target, []byte(body))
	if got.Status != want.Status || got.Allow != want.Allow {
		p.t.Fatalf("%s %s %.200s\ngot  %d %q %s\nwant %d %q %s", method, target, body, got.Status, got.Allow, got.Body, want.Status, want.Allow, want.Body)
	}
	if got.Status != 200 && len(got.Body) != 0 {
		p.t.Fatalf("%s %s: an error with a body: %s", method, target, got.Body)
	}
	if method != "HEAD" && !bytes.Equal(got.Body, want.Body) && !reflect.DeepEqual(decode(p.t, got.Body), decode(p.t, want.Body)) {
		p.t.Fatalf("%s %s %.200s\ngot  %s\nwant %s", method, target, body, got.Body, want.Body)
	}
	return got.Status
}

func decode(t testing.TB, body []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("%s: more than one value", body)
	}
	return v
}

// actor makes random requests about records of its own: ids that leave the
// remainder own when divided by actors.
type actor struct {
	*pair
	random      *rand.Rand
	own, actors uint32
}

func (a *actor) id() uint32 {
	var id uint32
	switch n := a.random.IntN(100); {
	case n < 80:
		id = a.random.Uint32N(40)
	case n < 90:
		id = a.random.Uint32N(400)
	case n < 98: // far beyond the dense part
		id = 4294967295 - a.actors - a.random.Uint32N(40)
	default:
		id = a.random.Uint32()
	}
	id -= id % a.actors
	if id > 4294967295-a.actors {
		id -= a.actors
	}
	return id + a.own
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func (a *actor) text() string {
	switch a.random.IntN(12) {
	case 0:
		return ""
	case 1:
		return pick(a.random, `"`, `\`, "\n\t\r\b\f\x00\x1f", "</script>", "☃", "\U0001F600", "\u2028", "@", `\u0041`)
	case 2:
		return strings.Repeat("ъ", 49+a.random.IntN(3)) // 51 is one too many
	case 3:
		return fmt.Sprint("new ", a.random.Uint64())
	}
	return pick(a.random, "Русь", "Перу", "Мальта", "Куба", "Чад")
}

func (a *actor) email() string {
	switch a.random.IntN(10) {
	case 0:
		return fmt.Sprintf("%d-nobody", a.own)
	case 1:
		return fmt.Sprintf("%d@%s", a.own, strings.Repeat("x", 97+a.random.IntN(3)))
	case 2:
		return fmt.Sprintf("%d\"\\@@%s", a.own, a.text())
	case 3:
		return fmt.Sprintf("%d-%d@mail%d.ru", a.own, a.random.IntN(100), a.random.IntN(1000))
	}
	return fmt.Sprintf("%d-%d@mail.ru", a.own, a.random.IntN(60))
}

func (a *actor) date() int64 {
	switch a.random.IntN(20) {
	case 0:
		return pick[int64](a.random, -1<<31, 1<<31-1, 1<<31, -1<<31-1, 0)
	case 1, 2:
		// Around midnight and the time of day of now, some years back.
		years := a.random.Int64N(80)
		return now - years*365*86400 - years/4*86400 + pick[int64](a.random, -12345, 0, 86400, -86400, 1, -1)
	}
	return a.random.Int64N(40)*86400*365 - 20*86400*365
}

func (a *actor) number(limit int) int64 {
	if a.random.IntN(40) == 0 {
		return pick[int64](a.random, -1, 4294967295, 4294967296, 1<<20-1, 1<<20, 1<<40)
	}
	return a.random.Int64N(int64(limit))
}

// fields returns the named fields as JSON, with some of them wrong or odd.
func (a *actor) fields(names ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	a.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if len(names) > 0 && a.random.IntN(30) == 0 {
		names = append(names, pick(a.random, names...))
	}
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		var value any
		switch name {
		case "id", "user", "location":
			value = a.id()
		case "birth_date", "visited_at":
			value = a.date()
		case "distance":
			value = a.number(100)
		case "mark":
			value = a.number(6)
		case "gender":
			value = pick(a.random, "m", "f")
		case "email":
			value = a.email()
		default:
			value = a.text()
		}
		text, _ := json.Marshal(value)
		switch a.random.IntN(150) {
		case 0:
			text = []byte(pick(a.random, "null", "true", "1.0", "1e0", `"x"`, "[]", "{}", "", `"\ud800"`, "\"\xff\"", "01", "--1", `"m "`))
			if name == "email" {
				text = []byte("7") // other actors' emails are their own
			}
			if name == "mark" || name == "distance" {
				text = []byte("-0") // ids are other actors' business
			}
		case 1:
			name = `\u00` + strconv.FormatInt(int64(name[0]), 16) + name[1:]
		}
		fmt.Fprintf(&b, `"%s": %s`, name, text)
	}
	if a.random.IntN(40) == 0 {
		b.WriteString(pick(a.random, `,"x":{"y":[1,2,{}]}`, `,"x":`+strings.Repeat("[", 33)+strings.Repeat("]", 33), ",", `,"":null`))
	}
	b.WriteByte('}')
	if a.random.IntN(100) == 0 {
		return b.String()[:a.random.IntN(b.Len())]
	}
	return b.String()
}

var fieldNames = map[string][]string{
	"users":     {"email", "first_name", "last_name", "gender", "birth_date"},
	"locations": {"distance", "place", "country", "city"},
	"visits":    {"user", "location", "visited_at", "mark"},
}

func (a *actor) some(names []string) []string {
	var chosen []string
	for _, n := range names {
		if a.random.IntN(2) == 0 {
			chosen = append(chosen, n)
		}
	}
	return chosen
}

func (a *actor) parameters(names ...string) string {
	var pairs []string
	for range a.random.IntN(4) {
		name := pick(a.random, names...)
		var value string
		switch name {
		case "country":
			value = url.QueryEscape(a.text())
		case "gender":
			value = pick(a.random, "m", "f", "m", "f", "%6d", "x", "mm")
		case "toDistance":
			value = fmt.Sprint(a.number(100))
		case "fromAge", "toAge":
			value = fmt.Sprint(pick(a.random, a.random.Int64N(80), a.random.Int64N(80), -3, 2016, 1<<62, -1<<63, 100000))
		default:
			value = fmt.Sprint(a.date())
		}
		switch a.random.IntN(60) {
		case 0:
			value = pick(a.random, "", "abc", "1.5", "%", "%zz", "%ff", "+1", " ", "-", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "007", "%31")
		case 1:
			name = pick(a.random, "x", "%66romDate", "", "from%44ate", "fromDate%", "country+", "FROMDATE")
		}
		pair := name + "=" + value
		if a.random.IntN(60) == 0 {
			pair = name
		}
		pairs = append(pairs, pair)
	}
	return strings.Join(pairs, pick(a.random, "&", "&", "&", "&&"))
}

// act sends one random request.
func (a *actor) act() {
	entity := pick(a.random, "users", "locations", "visits", "visits")
	names := fieldNames[entity]
	switch n := a.random.IntN(100); {
	case n < 15:
		a.ask("POST", "/"+entity+"/new?query_id=1", a.fields(append([]string{"id"}, names...)...))
	case n < 40:
		a.ask("POST", fmt.Sprintf("/%s/%d", entity, a.id()), a.fields(a.some(names)...))
	case n < 42:
		a.ask(pick(a.random, "PUT", "DELETE", "get", "HEAD", "OPTIONS", ""), fmt.Sprintf("/%s/%d%s", entity, a.id(), pick(a.random, "", "/visits", "/avg")), "{}")
	case n < 60:
		a.ask("GET", fmt.Sprintf("/%s/%d", entity, a.id()), "")
	case n < 80:
		a.ask("GET", fmt.Sprintf("/users/%d/visits?%s", a.id(), a.parameters("fromDate", "toDate", "country", "toDistance")), "")
	default:
		a.ask("GET", fmt.Sprintf("/locations/%d/avg?%s", a.id(), a.parameters("fromDate", "toDate", "fromAge", "toAge", "gender")), "")
	}
}

// testRandomly makes that many requests of one actor. The same seed makes the
// same ones.
func testRandomly(t *testing.T, s *store.Store, seed uint64, own, actors uint32, rounds int) {
	a := &actor{pair: newPair(t, s), random: rand.New(rand.NewPCG(seed, uint64(own))), own: own, actors: actors}
	for range rounds {
		a.act()
	}
	// In the end everything that exists is as the model has it.
	for id := range uint32(400) {
		if id%actors != own {
			continue
		}
		for _, entity := range []string{"users", "locations", "visits"} {
			a.ask("GET", fmt.Sprintf("/%s/%d", entity, id), "")
		}
		a.ask("GET", fmt.Sprintf("/users/%d/visits", id), "")
		a.ask("GET", fmt.Sprintf("/locations/%d/avg", id), "")
	}
}

func rounds(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestAgainstModel(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		for seed := range uint64(4) {
			t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
				testRandomly(t, newStore(t, ready), seed, 0, 1, rounds(40_000))
			})
		}
	})
}

// Several goroutines, each with records of its own in one store: whatever the
// others do, each is answered as if it were alone.
func TestAgainstModelsInParallel(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		s := newStore(t, ready)
		const actors = 4
		t.Run("at once", func(t *testing.T) {
			for own := range uint32(actors) {
				t.Run(fmt.Sprint("actor", own), func(t *testing.T) {
					t.Parallel()
					testRandomly(t, s, 99, own, actors, rounds(25_000))
				})
			}
		})
	})
}
