package store

import (
	"errors"

	"redoubt/store/arena"
)

// Fields says which fields of an entity are given: all of them in a record
// of a data file or a create, some in an update.
type Fields uint16

// The fields of the three entities; ID is common.
const (
	ID Fields = 1 << iota

	Email
	FirstName
	LastName
	Gender
	BirthDate

	Distance
	Place
	Country
	City

	AtLocation // the visit's location
	ByUser     // the visit's user
	VisitedAt
	Mark
)

// A whole record has these fields.
const (
	WholeUser     = ID | Email | FirstName | LastName | Gender | BirthDate
	WholeLocation = ID | Distance | Place | Country | City
	WholeVisit    = ID | AtLocation | ByUser | VisitedAt | Mark
)

// User is a traveller, or the changes to one. Strings are plain UTF-8 (no
// JSON escapes) and belong to whoever filled the struct; the store copies them.
type User struct {
	Has       Fields
	Gender    byte // 'm' or 'f'
	BirthDate int32
	ID        uint32
	Email     []byte
	FirstName []byte
	LastName  []byte
}

// Location is a sight, or the changes to one. Strings as in User.
type Location struct {
	Has      Fields
	ID       uint32
	Distance uint32
	Place    []byte
	Country  []byte
	City     []byte
}

// Visit is one user's visit to one location, or the changes to one. Location
// and User are outer ids.
type Visit struct {
	Has       Fields
	Mark      uint8 // 0..5
	VisitedAt int32
	ID        uint32
	Location  uint32
	User      uint32
}

// What a write or a load may be refused for. Nothing has changed then.
var (
	ErrMissing    = errors.New("no such record")                      // update of an unknown id
	ErrExists     = errors.New("a record with this id exists")        // create or load of a known id
	ErrEmailTaken = errors.New("another user has this email")         // create, update or load
	ErrNoUser     = errors.New("the visit's user does not exist")     // create, update or load of a visit
	ErrNoLocation = errors.New("the visit's location does not exist") // create, update or load of a visit
	ErrBusy       = errors.New("a reader stands still, memory waits") // too much replaced memory is still being read: try again later
	ErrFull       = arena.ErrFull                                     // no room for another record
	ErrTooLarge   = errors.New("the answer is too large")             // a list of visits that would be longer than MaxBody
)
