package store

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"redoubt/store/arena"
)

// Config says what a store is made for.
type Config struct {
	Now       int64 // "now" of the data set, in Unix seconds: ages count from it
	Ready     bool  // keep every user, location and visit rendered, not only formatted when asked
	Users     int   // how many are expected. More are fine; the estimate need not be exact
	Locations int
	Visits    int
	Waiting   int64 // bytes of replaced blocks that may wait for readers; 0: DefaultWaiting
}

// Store holds one data set. Its methods that change it may be called by any
// goroutine; to read, make a Reader.
type Store struct {
	ready bool
	clock clock
	heap  *arena.Heap

	userIDs, locationIDs, visitIDs ids
	users                          arena.Column[userRow]
	locations                      arena.Column[locationRow]
	visits                         visits
	userBodies, locationBodies     arena.Column[atomic.Uint64] // ready only

	firstNames, lastNames, domains dict
	places, countries, cities      dict

	seed maphash.Seed
	size [3]atomic.Int64 // users, locations, visits

	// All below is the writer's: whoever holds mu.
	mu         sync.Mutex
	epochs     epochs
	emails     table
	userLists  *lists[userEntry]
	placeLists *lists[placeEntry]
	w          write
	encoded    []byte      // kept texts of the write under way
	rendered   []byte      // its bodies
	entries    []userEntry // a user's visits, when the user changes
}

// The kinds of record, as indexes.
const (
	userKind = iota
	locationKind
	visitKind
)

// Reserved address space costs nothing until it is touched. Where it is not
// lazy (under the race detector) stores are small.
const (
	heapReserve   = 64 << 30
	heapLeast     = 1 << 30
	farReserve    = 1 << 27 // rows of each table beyond the dense ids
	denseSlack    = 1 << 16
	heapSmall     = 16 << 20
	farSmall      = 1 << 15
	denseSmall    = 1 << 12
	locationsMost = 1 << 29 // their slots have 29 bits
)

// New returns an empty store.
func New(c Config) (*Store, error) {
	s := &Store{ready: c.Ready, clock: newClock(c.Now), seed: maphash.MakeSeed()}
	if err := s.reserve(c); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), s.Close())
	}
	s.epochs.init(c.Waiting)
	s.emails.heap, s.emails.expect = s.heap, c.Users
	s.userLists = userLists(s.heap, &s.visitIDs)
	s.placeLists = placeLists(s.heap)
	s.w.store = s
	return s, nil
}

func (s *Store) reserve(c Config) (err error) {
	size, least := heapReserve, heapLeast
	if !arena.Lazy {
		size = heapSmall + 4*int(Estimate(c))
		least = size
	}
	if s.heap, err = arena.NewHeap(size, least); err != nil {
		return err
	}
	usersRows, err1 := s.newIDs(&s.userIDs, c.Users)
	placesRows, err2 := s.newIDs(&s.locationIDs, c.Locations)
	visitsRows, err3 := s.newIDs(&s.visitIDs, c.Visits)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if s.users, err = arena.NewColumn[userRow](usersRows, c.Users); err != nil {
		return err
	}
	if s.locations, err = arena.NewColumn[locationRow](placesRows, c.Locations); err != nil {
		return err
	}
	if s.ready {
		s.userBodies, err1 = arena.NewColumn[atomic.Uint64](usersRows, c.Users)
		s.locationBodies, err2 = arena.NewColumn[atomic.Uint64](placesRows, c.Locations)
		s.visits.bodies, err3 = arena.NewColumn[atomic.Uint64](visitsRows, c.Visits)
		err = errors.Join(err1, err2, err3)
	} else {
		s.visits.lines, err = arena.NewColumn[visitLine](visitsRows/visitsPerLine+1, c.Visits/visitsPerLine)
	}
	if err != nil {
		return err
	}
	for _, d := range []struct {
		dict  *dict
		limit uint32
	}{
		{&s.firstNames, namesLimit}, {&s.lastNames, namesLimit}, {&s.domains, domainsLimit},
		{&s.places, placesLimit}, {&s.countries, countriesLimit}, {&s.cities, citiesLimit},
	} {
		if err := d.dict.init(s.heap, s.seed, d.limit); err != nil {
			return err
		}
	}
	return nil
}

// newIDs makes x for expect ids and returns the number of rows of its table.
func (s *Store) newIDs(x *ids, expect int) (rows int, err error) {
	slack, far := denseSlack, farReserve
	if !arena.Lazy {
		slack, far = denseSmall, farSmall
	}
	dense := min(expect+expect/2+slack, locationsMost-far)
	rows = dense + far
	return rows, x.init(s.heap, uint32(dense), uint32(rows), rand.Uint64())
}

// Close gives the store's memory back. Nobody may use it or its readers any
// more.
func (s *Store) Close() error {
	var heap error
	if s.heap != nil {
		heap = s.heap.Release()
	}
	return errors.Join(heap,
		s.userIDs.outer.Release(), s.locationIDs.outer.Release(), s.visitIDs.outer.Release(),
		s.users.Release(), s.locations.Release(), s.visits.lines.Release(), s.visits.bodies.Release(),
		s.userBodies.Release(), s.locationBodies.Release(),
		s.firstNames.release(), s.lastNames.release(), s.domains.release(),
		s.places.release(), s.countries.release(), s.cities.release())
}

// Sizes are the numbers of records, and the memory of blocks in bytes: handed
// out at some time, free again, and waiting for readers.
type Sizes struct {
	Users, Locations, Visits int64
	Blocks, Free, Waiting    int64
}

// Sizes returns how much the store holds.
func (s *Store) Sizes() Sizes {
	s.mu.Lock()
	defer s.mu.Unlock()
	used, free := s.heap.Used()
	return Sizes{
		Users: s.size[userKind].Load(), Locations: s.size[locationKind].Load(), Visits: s.size[visitKind].Load(),
		Blocks: used, Free: free, Waiting: s.epochs.bytes,
	}
}

// Ready tells whether the store keeps rendered bodies.
func (s *Store) Ready() bool { return s.ready }

// Estimate returns about how many bytes of memory a store of these sizes
// takes, with data like the contest's: tables, lists and blocks, as in the
// table of docs/architecture.md.
func Estimate(c Config) int64 {
	const (
		userText  = 26  // block of a user: names shared, the local part of an email its own
		userJSON  = 160 // bodies, as their blocks count them
		placeJSON = 136
		visitJSON = 84
		rounding  = 1 // of lists to 8 bytes, per visit
	)
	word := arena.SizeOf[uint64]()
	user := arena.SizeOf[userRow]() + userText + word*5/4 // in the table of emails, four fifths full
	place := arena.SizeOf[locationRow]()
	visit := arena.SizeOf[userEntry]() + arena.SizeOf[placeEntry]() + rounding
	if c.Ready {
		user += word + userJSON
		place += word + placeJSON
		visit += word + visitJSON
	} else {
		visit += (arena.SizeOf[visitLine]() + visitsPerLine - 1) / visitsPerLine
	}
	return int64(c.Users)*int64(user) + int64(c.Locations)*int64(place) + int64(c.Visits)*int64(visit)
}

// EstimateBuild returns about how many bytes a Builder takes besides, until the
// store is built.
func EstimateBuild(c Config) int64 {
	counters := int64(arena.SizeOf[uint32]()) * int64(indexers())
	return counters*int64(c.Users+c.Locations) + int64(arena.SizeOf[traveller]())*int64(c.Users)
}

// emailKey is the table key of a kept email.
func (s *Store) emailKey(email []byte) uint32 { return uint32(maphash.Bytes(s.seed, email)) }

// How slots of a user, location or visit are found; a slot below the dense
// bound may be empty.

func (s *Store) userSlot(id uint32) (uint32, bool) {
	slot, found := s.userIDs.slot(id)
	return slot, found && s.users.At(slot).block.Load() != 0
}

func (s *Store) locationSlot(id uint32) (uint32, bool) {
	slot, found := s.locationIDs.slot(id)
	return slot, found && s.locations.At(slot).word.Load() != 0
}

func (s *Store) visitSlot(id uint32) (uint32, bool) {
	slot, found := s.visitIDs.slot(id)
	return slot, found && s.visits.has(slot)
}
