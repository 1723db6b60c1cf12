package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"redoubt/store/arena"
)

// A Builder fills a new store with a whole data set at once. Any number of
// goroutines add records, each through an Adder of its own: first all users
// and locations, then, when every Add of those has returned, the visits.
type Builder struct {
	store  *Store
	emails [segments]sync.Mutex
	far    sync.Mutex // ids beyond the dense ones
	// A bit for each dense user and location there is. Visits come in no order
	// of users; asking the rows themselves cost a seventh of the whole load.
	users, locations arena.Column[atomic.Uint32]
	mu               sync.Mutex // guards what follows
	adders           []*Adder
}

// NewBuilder returns a builder of an empty store.
func NewBuilder(c Config) (*Builder, error) {
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	b := &Builder{store: s}
	var err1, err2 error
	b.users, err1 = arena.NewColumn[atomic.Uint32](int(s.userIDs.dense)/32+1, 0)
	b.locations, err2 = arena.NewColumn[atomic.Uint32](int(s.locationIDs.dense)/32+1, 0)
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(err, b.Abandon())
	}
	return b, nil
}

// Abandon gives the memory back where the load has failed.
func (b *Builder) Abandon() error { return errors.Join(b.release(), b.store.Close()) }

func (b *Builder) release() error { return errors.Join(b.users.Release(), b.locations.Release()) }

func setBit(bits *arena.Column[atomic.Uint32], i uint32) { bits.At(i / 32).Or(1 << (i % 32)) }

func hasBit(bits *arena.Column[atomic.Uint32], i uint32) bool {
	return bits.At(i/32).Load()&(1<<(i%32)) != 0
}

// Adder adds records from one goroutine.
type Adder struct {
	builder  *Builder
	span     *arena.Span
	replaced []arena.Ref // blocks of hash tables that had to grow
	encoded  []byte
	rendered []byte
	highest  [3]uint32 // dense id of users, locations, visits; plus 1
	count    [3]int64
}

// Adder returns a new adder.
func (b *Builder) Adder() *Adder {
	a := &Adder{builder: b, span: b.store.heap.Span()}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.adders = append(b.adders, a)
	return a
}

func (a *Adder) text(raw []byte) []byte {
	var kept []byte
	kept, a.encoded = text(raw, a.encoded)
	return kept
}

// slot returns the slot for a record that is to be added.
func (a *Adder) slot(x *ids, kind int, id uint32) (uint32, error) {
	a.count[kind]++
	if id < x.dense {
		a.highest[kind] = max(a.highest[kind], id+1)
		return id, nil
	}
	a.builder.far.Lock()
	defer a.builder.far.Unlock()
	if _, exists := x.slot(id); exists {
		return 0, ErrExists
	}
	slot, old, err := x.prepare(id, a.span.Alloc)
	if err != nil {
		return 0, err
	}
	a.replace(old)
	x.commit(id)
	return slot, nil
}

// replace notes a block that is no longer used. It is freed at the end: while
// spans are in use, nobody may.
func (a *Adder) replace(ref arena.Ref) {
	if ref != 0 {
		a.replaced = append(a.replaced, ref)
	}
}

// AddUser adds a user with all fields. It fails with ErrExists, ErrEmailTaken
// or ErrFull; the build has failed then.
func (a *Adder) AddUser(u *User) error {
	s := a.builder.store
	slot, err := a.slot(&s.userIDs, userKind, u.ID)
	if err != nil {
		return err
	}
	a.encoded = a.encoded[:0]
	fields := userFields{birth: u.BirthDate, gender: u.Gender, first: a.text(u.FirstName), last: a.text(u.LastName), email: a.text(u.Email)}
	block, err := s.newUserBlock(a.span, &fields)
	if err != nil {
		return err
	}
	if !s.users.At(slot).block.CompareAndSwap(0, uint64(block)) {
		return ErrExists
	}
	if slot < s.userIDs.dense {
		setBit(&a.builder.users, slot)
	}
	if s.ready {
		v := s.userBlock(block)
		a.rendered = appendUser(a.rendered[:0], u.ID, &v)
		if err := a.setBody(s.userBodies.At(slot)); err != nil {
			return err
		}
	}
	key := s.emailKey(fields.email)
	lock := &a.builder.emails[key%segments]
	lock.Lock()
	defer lock.Unlock()
	if s.emailTaken(key, fields.email, slot) {
		return ErrEmailTaken
	}
	old, err := s.emails.room(key, a.span.Alloc)
	if err != nil {
		return err
	}
	a.replace(old)
	s.emails.add(key, slot)
	return nil
}

func (a *Adder) setBody(word *atomic.Uint64) error {
	body, err := newBlock(a.builder.store.heap, a.span, a.rendered)
	word.Store(uint64(body))
	return err
}

// AddLocation adds a location with all fields. It fails with ErrExists or
// ErrFull; the build has failed then.
func (a *Adder) AddLocation(l *Location) error {
	s := a.builder.store
	slot, err := a.slot(&s.locationIDs, locationKind, l.ID)
	if err != nil {
		return err
	}
	a.encoded = a.encoded[:0]
	fields := locationFields{distance: l.Distance, place: a.text(l.Place), country: a.text(l.Country), city: a.text(l.City)}
	word, err := s.newLocationWord(a.span, &fields)
	if err != nil {
		return err
	}
	if !s.locations.At(slot).word.CompareAndSwap(0, word) {
		return ErrExists
	}
	if slot < s.locationIDs.dense {
		setBit(&a.builder.locations, slot)
	}
	if s.ready {
		a.rendered = appendLocation(a.rendered[:0], l.ID, &fields)
		return a.setBody(s.locationBodies.At(slot))
	}
	return nil
}

// AddVisit adds a visit with all fields. It fails with ErrExists, ErrNoUser,
// ErrNoLocation or ErrFull; the build has failed then.
func (a *Adder) AddVisit(v *Visit) error {
	s := a.builder.store
	user, exists := s.userIDs.slot(v.User)
	if !exists || user < s.userIDs.dense && !hasBit(&a.builder.users, user) {
		return ErrNoUser
	}
	location, exists := s.locationIDs.slot(v.Location)
	if !exists || location < s.locationIDs.dense && !hasBit(&a.builder.locations, location) {
		return ErrNoLocation
	}
	added := visit{user: user, location: location, date: v.VisitedAt, mark: v.Mark}
	slot, err := a.slot(&s.visitIDs, visitKind, v.ID)
	if err != nil {
		return err
	}
	if !s.ready {
		if !s.visits.claim(slot, added) {
			return ErrExists
		}
		return nil
	}
	a.rendered = appendVisit(a.rendered[:0], v.ID, v.Location, v.User, v.VisitedAt, v.Mark)
	body, err := newBlock(s.heap, a.span, a.rendered)
	if err != nil {
		return err
	}
	if !s.visits.bodies.At(slot).CompareAndSwap(0, uint64(body)) {
		return ErrExists
	}
	return nil
}

// Build makes the lists of visits, on all processors, and returns the store.
// No Add may be under way or come later.
func (b *Builder) Build() (*Store, error) {
	s := b.store
	var slots [3][]span
	var highest [3]uint32
	for _, a := range b.adders {
		a.span.Close()
		for kind := range highest {
			highest[kind] = max(highest[kind], a.highest[kind])
			s.size[kind].Add(a.count[kind])
		}
	}
	for _, a := range b.adders {
		for _, ref := range a.replaced {
			s.heap.Free(ref)
		}
	}
	for kind, x := range []*ids{&s.userIDs, &s.locationIDs, &s.visitIDs} {
		slots[kind] = spans(highest[kind], x.dense, x.dense+x.count)
	}
	ix, err := newIndexing(s)
	if err == nil {
		err = ix.run(slots)
	}
	if err := errors.Join(err, ix.release(), b.release()); err != nil {
		return nil, errors.Join(fmt.Errorf("store: cannot index the visits: %w", err), s.Close())
	}
	return s, nil
}
