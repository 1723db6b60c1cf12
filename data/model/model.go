// Package model is the Travels API once more, as maps and loops: what the
// answers ought to be.
//
// It is an oracle. It shares no code with the server (handlers, data, store),
// so that a mistake made there is not made here too, and it prefers the
// obvious way to the fast one. The generator takes its answers from it, and
// tests compare servers with it.
//
// A Model is not safe for concurrent use.
package model

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// User is a traveller. Gender is "m" or "f"; BirthDate is in seconds since
// 1970, UTC.
type User struct {
	ID        uint32
	Email     string
	FirstName string
	LastName  string
	Gender    string
	BirthDate int32
}

// Location is a sight, Distance kilometres from the city's centre.
type Location struct {
	ID       uint32
	Place    string
	Country  string
	City     string
	Distance uint32
}

// Visit is one user's visit to one location. VisitedAt is in seconds since
// 1970, UTC; Mark is 0 to 5.
type Visit struct {
	ID        uint32
	Location  uint32
	User      uint32
	VisitedAt int32
	Mark      uint8
}

// What a record may be refused for; Do answers all of them with 400.
var (
	ErrExists     = errors.New("a record with this id exists")
	ErrEmailTaken = errors.New("another user has this email")
	ErrNoUser     = errors.New("the visit's user does not exist")
	ErrNoLocation = errors.New("the visit's location does not exist")
	ErrInvalid    = errors.New("a field is outside what the contract allows")
)

// The longest strings, in code points.
const (
	maxEmail = 100
	maxText  = 50
	maxMark  = 5
)

// user, location and visit are the stored forms: without the id, which is the
// map's key, and with what leads from a user or location to its visits.
type user struct {
	email, firstName, lastName string
	birthDate                  int32
	female                     bool
	visits                     []uint32 // ids in order of arrival; nearly always a few dozen at most
}

type location struct {
	place, country, city string
	distance             uint32
	visits               []uint32
}

type visit struct {
	location, user uint32
	visitedAt      int32
	mark           uint8
}

// Model holds a whole data set: about 120 bytes a visit and 400 a user, so
// that the contest's full set of ten million visits fits in 2 GB.
type Model struct {
	now       int64
	users     map[uint32]*user
	locations map[uint32]*location
	visits    map[uint32]visit
	emails    map[string]uint32 // email to the id of the user who has it
}

// New returns an empty model whose ages are counted back from now, in seconds
// since 1970. Years must fit what package time can tell apart, which any date
// of the next million years does.
func New(now int64) *Model {
	return &Model{
		now:       now,
		users:     make(map[uint32]*user),
		locations: make(map[uint32]*location),
		visits:    make(map[uint32]visit),
		emails:    make(map[string]uint32),
	}
}

// Now is the instant that ages are counted back from, in seconds since 1970.
func (m *Model) Now() int64 { return m.now }

// Size tells how many records of each entity there are.
func (m *Model) Size() (users, locations, visits int) {
	return len(m.users), len(m.locations), len(m.visits)
}

// Visit returns the visit with this id, if there is one.
func (m *Model) Visit(id uint32) (Visit, bool) {
	v, ok := m.visits[id]
	return Visit{id, v.location, v.user, v.visitedAt, v.mark}, ok
}

// User returns the user with this id, if there is one.
func (m *Model) User(id uint32) (User, bool) {
	u, ok := m.users[id]
	if !ok {
		return User{}, false
	}
	return User{id, u.email, u.firstName, u.lastName, genderText(u.female), u.birthDate}, true
}

// Location returns the location with this id, if there is one.
func (m *Model) Location(id uint32) (Location, bool) {
	l, ok := m.locations[id]
	if !ok {
		return Location{}, false
	}
	return Location{id, l.place, l.country, l.city, l.distance}, true
}

// AddUser adds a user as POST /users/new would. Nothing changes on an error.
func (m *Model) AddUser(u User) error {
	switch {
	case !shortText(u.Email, maxEmail), !shortText(u.FirstName, maxText), !shortText(u.LastName, maxText),
		u.Gender != "m" && u.Gender != "f":
		return fmt.Errorf("user %d: %w", u.ID, ErrInvalid)
	case m.users[u.ID] != nil:
		return fmt.Errorf("user %d: %w", u.ID, ErrExists)
	}
	if owner, taken := m.emails[u.Email]; taken {
		return fmt.Errorf("user %d: %w: user %d", u.ID, ErrEmailTaken, owner)
	}
	m.users[u.ID] = &user{u.Email, u.FirstName, u.LastName, u.BirthDate, u.Gender == "f", nil}
	m.emails[u.Email] = u.ID
	return nil
}

// AddLocation adds a location as POST /locations/new would. Nothing changes on
// an error.
func (m *Model) AddLocation(l Location) error {
	switch {
	case !utf8.ValidString(l.Place), !shortText(l.Country, maxText), !shortText(l.City, maxText):
		return fmt.Errorf("location %d: %w", l.ID, ErrInvalid)
	case m.locations[l.ID] != nil:
		return fmt.Errorf("location %d: %w", l.ID, ErrExists)
	}
	m.locations[l.ID] = &location{l.Place, l.Country, l.City, l.Distance, nil}
	return nil
}

// AddVisit adds a visit as POST /visits/new would. Nothing changes on an error.
func (m *Model) AddVisit(v Visit) error {
	if v.Mark > maxMark {
		return fmt.Errorf("visit %d: %w", v.ID, ErrInvalid)
	}
	if _, known := m.visits[v.ID]; known {
		return fmt.Errorf("visit %d: %w", v.ID, ErrExists)
	}
	u, l := m.users[v.User], m.locations[v.Location]
	if u == nil {
		return fmt.Errorf("visit %d: %w: %d", v.ID, ErrNoUser, v.User)
	}
	if l == nil {
		return fmt.Errorf("visit %d: %w: %d", v.ID, ErrNoLocation, v.Location)
	}
	m.visits[v.ID] = visit{v.Location, v.User, v.VisitedAt, v.Mark}
	u.visits = append(u.visits, v.ID)
	l.visits = append(l.visits, v.ID)
	return nil
}

// setUser, setLocation and setVisit replace a record that exists.

func (m *Model) setUser(u User) error {
	if owner, taken := m.emails[u.Email]; taken && owner != u.ID {
		return ErrEmailTaken
	}
	old := m.users[u.ID]
	delete(m.emails, old.email)
	m.emails[u.Email] = u.ID
	m.users[u.ID] = &user{u.Email, u.FirstName, u.LastName, u.BirthDate, u.Gender == "f", old.visits}
	return nil
}

func (m *Model) setLocation(l Location) {
	m.locations[l.ID] = &location{l.Place, l.Country, l.City, l.Distance, m.locations[l.ID].visits}
}

func (m *Model) setVisit(v Visit) error {
	u, l := m.users[v.User], m.locations[v.Location]
	if u == nil {
		return ErrNoUser
	}
	if l == nil {
		return ErrNoLocation
	}
	old := m.visits[v.ID]
	remove(&m.users[old.user].visits, v.ID)
	remove(&m.locations[old.location].visits, v.ID)
	u.visits = append(u.visits, v.ID)
	l.visits = append(l.visits, v.ID)
	m.visits[v.ID] = visit{v.Location, v.User, v.VisitedAt, v.Mark}
	return nil
}

func remove(ids *[]uint32, id uint32) {
	at := slices.Index(*ids, id)
	*ids = slices.Delete(*ids, at, at+1)
}

// shortText reports whether s is valid UTF-8 of at most limit code points.
func shortText(s string, limit int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= limit
}

func genderText(female bool) string {
	if female {
		return "f"
	}
	return "m"
}
