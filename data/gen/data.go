package gen

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"redoubt/data/model"
)

// Bounds of the contest's data, in seconds since 1970.
const (
	day           = 86_400
	firstBirthDay = -14_610       // 1 January 1930
	lastBirthDay  = 10_591        // 31 December 1998
	firstVisit    = 946_684_800   // 1 January 2000
	endOfVisits   = 1_420_070_400 // 1 January 2015
)

// Every so many records one is written with escapes, with its keys in an order
// of its own, or with an odd text. Primes, so that they meet in all ways.
const (
	everyEscaped = 97
	everyShuffle = 53
	everyOdd     = 499
)

// run is one call of Write. Users, locations, visits and requests each draw
// from a random source of their own, so that more of one does not change the
// others.
type run struct {
	ctx      context.Context
	opts     Options
	folder   *folder
	progress func(Progress)

	words                    *words
	emails                   map[uint64]struct{} // hashes of all given out
	model                    *model.Model        // nil if no requests are wanted
	users, locations, visits []uint32            // ids in order
}

// words are the lists that names are drawn from.
type words struct {
	male, female, stems, middles    []string
	endings                         [][2]string
	countries, cityBeginnings, city []string
	places, domains, syllables, odd []string
}

func newWords() *words {
	return &words{maleNames(), femaleNames(), nameStems(), nameMiddles(), nameEndings(), countries(),
		cityBeginnings(), cityEnds(), places(), mailDomains(), syllables(), oddTexts()}
}

func (r *run) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(r.opts.Seed, stream)) }

// all writes everything into the partial folder.
func (r *run) all() (Summary, error) {
	r.words = newWords()
	r.emails = make(map[uint64]struct{}, r.opts.Users)
	if r.opts.Requests > 0 {
		r.model = model.New(Now)
	}
	d, err := newDataSet(r.folder)
	if err != nil {
		return Summary{}, err
	}
	defer d.close()
	for _, write := range []func(*dataSet) error{r.writeUsers, r.writeLocations, r.writeVisits} {
		if err := write(d); err != nil {
			return Summary{}, err
		}
	}
	if err := d.finish(Now, r.opts.Users > 100_000); err != nil {
		return Summary{}, err
	}
	s := Summary{Users: r.opts.Users, Locations: r.opts.Locations, Visits: r.opts.Visits, JSONBytes: d.bytes, Phases: []PhaseSummary{}}
	if r.opts.Requests > 0 {
		s.Phases, err = r.writePhases()
	}
	return s, err
}

// ids hands out n ids in rising order: dense from 1 but for the gaps, and at
// the end the far ones, the last of them the greatest there is.
func (r *run) ids(rng *rand.Rand, n int) []uint32 {
	far := min(r.opts.Far, n)
	ids := make([]uint32, 0, n)
	for id := uint32(1); len(ids) < n-far; id++ {
		if r.opts.Gaps == 0 || rng.IntN(100) >= r.opts.Gaps {
			ids = append(ids, id)
		}
	}
	if far == 0 {
		return ids
	}
	// Clear of the ids that requests will add behind the dense ones.
	low := uint32(0)
	if len(ids) > 0 {
		low = ids[len(ids)-1]
	}
	low += (math.MaxUint32 - low) / 1000
	taken := map[uint32]bool{math.MaxUint32: true}
	scattered := []uint32{math.MaxUint32}
	for len(scattered) < far {
		if id := low + rng.Uint32N(math.MaxUint32-low); !taken[id] {
			taken[id] = true
			scattered = append(scattered, id)
		}
	}
	slices.Sort(scattered)
	return append(ids, scattered...)
}

func (r *run) writeUsers(d *dataSet) error {
	rng := r.random(1)
	r.users = r.ids(rng, r.opts.Users)
	orders := keyOrder{rng: rng, keys: 6}
	return d.records("users", len(r.users), perFile(len(r.users)), orders.newFile, func(dst []byte, i int) ([]byte, error) {
		u := r.user(rng, r.users[i])
		if i%everyOdd == everyOdd/2 {
			u.LastName = r.words.odd[i/everyOdd%len(r.words.odd)]
		}
		if r.model != nil {
			if err := r.model.AddUser(u); err != nil {
				return dst, err
			}
		}
		return appendObject(dst, userMembers(u), orders.order(i), styleOf(i)), r.tell("users", i+1, len(r.users))
	})
}

func (r *run) writeLocations(d *dataSet) error {
	rng := r.random(2)
	r.locations = r.ids(rng, r.opts.Locations)
	orders := keyOrder{rng: rng, keys: 5}
	return d.records("locations", len(r.locations), perFile(len(r.locations)), orders.newFile, func(dst []byte, i int) ([]byte, error) {
		l := r.location(rng, r.locations[i])
		if i%everyOdd == everyOdd/2 {
			l.Place = r.words.odd[i/everyOdd%len(r.words.odd)]
		}
		if r.model != nil {
			if err := r.model.AddLocation(l); err != nil {
				return dst, err
			}
		}
		return appendObject(dst, locationMembers(l), orders.order(i), styleOf(i)), r.tell("locations", i+1, len(r.locations))
	})
}

func (r *run) writeVisits(d *dataSet) error {
	const perVisitFile = 10_000
	rng := r.random(3)
	r.visits = r.ids(rng, r.opts.Visits)
	orders := keyOrder{rng: rng, keys: 5}
	return d.records("visits", len(r.visits), perVisitFile, orders.newFile, func(dst []byte, i int) ([]byte, error) {
		v := r.visit(rng, r.visits[i], r.grown(i))
		if r.model != nil {
			if err := r.model.AddVisit(v); err != nil {
				return dst, err
			}
		}
		return appendObject(dst, visitMembers(v), orders.order(i), plain), r.tell("visits", i+1, len(r.visits))
	})
}

// perFile is how many users or locations the contest puts into one file.
func perFile(records int) int {
	if records <= 100_000 {
		return 1_000
	}
	return 10_000
}

// grown is the share of users and locations that visit i may name. It grows
// with every thousand visits, as if the data had been recorded while the site
// was growing: that is what makes the first users' lists long in the contest's
// data, 70 or 80 visits against 10 on average.
func (r *run) grown(i int) float64 {
	const block = 1000
	blocks := (len(r.visits) + block - 1) / block
	return float64(i/block+1) / float64(blocks)
}

// tell reports progress now and then, and ends the run if it is canceled.
func (r *run) tell(step string, done, total int) error {
	if done%4096 != 0 && done != total {
		return nil
	}
	if r.progress != nil {
		r.progress(Progress{step, done, total})
	}
	return r.ctx.Err()
}

// keyOrder varies the order of keys: one for each file, and now and then one
// for a single record.
type keyOrder struct {
	rng     *rand.Rand
	keys    int
	current []int
	own     []int
}

func (k *keyOrder) newFile() { k.current = k.rng.Perm(k.keys) }

func (k *keyOrder) order(i int) []int {
	if i%everyShuffle != everyShuffle/2 {
		return k.current
	}
	k.own = append(k.own[:0], k.current...)
	k.rng.Shuffle(len(k.own), func(a, b int) { k.own[a], k.own[b] = k.own[b], k.own[a] })
	return k.own
}

func styleOf(i int) style {
	switch {
	case i%everyEscaped != everyEscaped/2:
		return plain
	case i/everyEscaped%2 == 0:
		return escaped
	default:
		return strange
	}
}

func (r *run) user(rng *rand.Rand, id uint32) model.User {
	u := model.User{
		ID:        id,
		Gender:    "m",
		FirstName: pick(rng, r.words.male),
		BirthDate: int32(firstBirthDay+rng.IntN(lastBirthDay-firstBirthDay+1)) * day,
	}
	if rng.IntN(2) == 0 {
		u.Gender, u.FirstName = "f", pick(rng, r.words.female)
	}
	u.LastName = r.lastName(rng, u.Gender)
	u.Email = r.email(rng)
	return u
}

func (r *run) lastName(rng *rand.Rand, gender string) string {
	ending := r.words.endings[rng.IntN(len(r.words.endings))]
	last := ending[0]
	if gender == "f" {
		last = ending[1]
	}
	return pick(rng, r.words.stems) + pick(rng, r.words.middles) + last
}

// email draws until it finds one that nobody has. Only hashes are kept: where
// two meet by chance, one more draw is all that happens.
func (r *run) email(rng *rand.Rand) string {
	for {
		local := ""
		for range 4 + rng.IntN(6) {
			local += pick(rng, r.words.syllables)
		}
		email := local + "@" + pick(rng, r.words.domains)
		hash := fnv.New64a()
		hash.Write([]byte(email))
		if _, taken := r.emails[hash.Sum64()]; !taken {
			r.emails[hash.Sum64()] = struct{}{}
			return email
		}
	}
}

func (r *run) location(rng *rand.Rand, id uint32) model.Location {
	return model.Location{
		ID:       id,
		Place:    pick(rng, r.words.places),
		Country:  pick(rng, r.words.countries),
		City:     r.city(rng),
		Distance: 1 + rng.Uint32N(100),
	}
}

func (r *run) city(rng *rand.Rand) string {
	return pick(rng, r.words.cityBeginnings) + pick(rng, r.words.city)
}

// visit names users and locations out of the given share of them.
func (r *run) visit(rng *rand.Rand, id uint32, share float64) model.Visit {
	return model.Visit{
		ID:        id,
		User:      r.users[rng.IntN(portion(len(r.users), share))],
		Location:  r.locations[rng.IntN(portion(len(r.locations), share))],
		VisitedAt: firstVisit + rng.Int32N(endOfVisits-firstVisit),
		Mark:      uint8(1 + rng.IntN(4)),
	}
}

func portion(n int, share float64) int {
	return min(n, max(1, int(math.Ceil(float64(n)*share))))
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

func userMembers(u model.User) []member {
	return []member{
		numberOf("id", int64(u.ID)), textOf("email", u.Email), textOf("first_name", u.FirstName),
		textOf("last_name", u.LastName), textOf("gender", u.Gender), numberOf("birth_date", int64(u.BirthDate)),
	}
}

func locationMembers(l model.Location) []member {
	return []member{
		numberOf("id", int64(l.ID)), textOf("place", l.Place), textOf("country", l.Country),
		textOf("city", l.City), numberOf("distance", int64(l.Distance)),
	}
}

func visitMembers(v model.Visit) []member {
	return []member{
		numberOf("id", int64(v.ID)), numberOf("location", int64(v.Location)), numberOf("user", int64(v.User)),
		numberOf("visited_at", int64(v.VisitedAt)), numberOf("mark", int64(v.Mark)),
	}
}
