package store

import (
	"sync/atomic"

	"redoubt/store/arena"
)

// CreateUser adds a user with all fields. It fails with ErrExists,
// ErrEmailTaken, ErrBusy or ErrFull.
func (s *Store) CreateUser(u *User) error {
	w, err := s.begin()
	if err != nil {
		return err
	}
	defer s.end()
	if _, exists := s.userSlot(u.ID); exists {
		return ErrExists
	}
	fields := userFields{birth: u.BirthDate, gender: u.Gender, first: s.text(u.FirstName), last: s.text(u.LastName), email: s.text(u.Email)}
	slot, err := s.newSlot(&s.userIDs, u.ID)
	if err != nil {
		return err
	}
	key := s.emailKey(fields.email)
	if s.emailTaken(key, fields.email, slot) {
		return ErrEmailTaken
	}
	if err := s.roomForEmail(w, key); err != nil {
		return err
	}
	if err := s.setUser(w, slot, u.ID, &fields); err != nil {
		return err
	}
	w.commit()
	s.emails.add(key, slot)
	s.userIDs.commit(u.ID)
	s.size[userKind].Add(1)
	return nil
}

// setUser publishes the user's block and, if the store is ready, its body.
func (s *Store) setUser(w *write, slot, id uint32, fields *userFields) error {
	block, err := s.newUserBlock(w, fields)
	if err != nil {
		return err
	}
	if s.ready {
		u := s.userBlock(block)
		s.rendered = appendUser(s.rendered[:0], id, &u)
		body, err := newBlock(s.heap, w, s.rendered)
		if err != nil {
			return err
		}
		w.setBlock(s.userBodies.At(slot), body)
	}
	w.setBlock(&s.users.At(slot).block, block)
	return nil
}

// UpdateUser changes the given fields of a user. It fails with ErrMissing,
// ErrEmailTaken, ErrBusy or ErrFull.
func (s *Store) UpdateUser(id uint32, u *User) error {
	w, err := s.begin()
	if err != nil {
		return err
	}
	defer s.end()
	slot, exists := s.userSlot(id)
	if !exists {
		return ErrMissing
	}
	row := s.users.At(slot)
	old := s.userBlock(arena.Ref(row.block.Load()))
	from := len(s.encoded)
	s.encoded = old.appendEmail(s.encoded)
	oldEmail := s.encoded[from:]
	fields := userFields{birth: old.birth, gender: old.gender, first: old.first, last: old.last, email: oldEmail}
	if u.Has&BirthDate != 0 {
		fields.birth = u.BirthDate
	}
	if u.Has&Gender != 0 {
		fields.gender = u.Gender
	}
	if u.Has&FirstName != 0 {
		fields.first = s.text(u.FirstName)
	}
	if u.Has&LastName != 0 {
		fields.last = s.text(u.LastName)
	}
	if u.Has&Email != 0 {
		fields.email = s.text(u.Email)
	}
	oldKey, key := s.emailKey(oldEmail), s.emailKey(fields.email)
	newEmail := string(oldEmail) != string(fields.email)
	if newEmail {
		if s.emailTaken(key, fields.email, slot) {
			return ErrEmailTaken
		}
		if err := s.roomForEmail(w, key); err != nil {
			return err
		}
	}
	if err := s.setUser(w, slot, id, &fields); err != nil {
		return err
	}
	was, is := s.clock.traveller(old.birth, old.gender), s.clock.traveller(fields.birth, fields.gender)
	if was != is {
		if err := s.changeTraveller(w, slot, arena.Ref(row.list.Load()), was, is); err != nil {
			return err
		}
	}
	w.commit()
	if newEmail {
		s.emails.remove(oldKey, slot)
		s.emails.add(key, slot)
	}
	return nil
}

// roomForEmail makes room for one more email. Emails have no readers but the
// writer, so the segment's old block is free at once.
func (s *Store) roomForEmail(w *write, key uint32) error {
	old, err := s.emails.room(key, s.heap.Alloc)
	if err != nil {
		return err
	}
	s.heap.Free(old)
	return nil
}

// CreateLocation adds a location with all fields. It fails with ErrExists,
// ErrBusy or ErrFull.
func (s *Store) CreateLocation(l *Location) error {
	w, err := s.begin()
	if err != nil {
		return err
	}
	defer s.end()
	if _, exists := s.locationSlot(l.ID); exists {
		return ErrExists
	}
	slot, err := s.newSlot(&s.locationIDs, l.ID)
	if err != nil {
		return err
	}
	fields := locationFields{distance: l.Distance, place: s.text(l.Place), country: s.text(l.Country), city: s.text(l.City)}
	if err := s.setLocation(w, slot, l.ID, &fields); err != nil {
		return err
	}
	w.commit()
	s.locationIDs.commit(l.ID)
	s.size[locationKind].Add(1)
	return nil
}

func (s *Store) setLocation(w *write, slot, id uint32, fields *locationFields) error {
	if s.ready {
		s.rendered = appendLocation(s.rendered[:0], id, fields)
		body, err := newBlock(s.heap, w, s.rendered)
		if err != nil {
			return err
		}
		w.setBlock(s.locationBodies.At(slot), body)
	}
	word, err := s.newLocationWord(w, fields)
	if err != nil {
		return err
	}
	row := s.locations.At(slot)
	w.drop(locationBlock(row.word.Load()))
	w.set(&row.word, word)
	return nil
}

// UpdateLocation changes the given fields of a location. It fails with
// ErrMissing, ErrBusy or ErrFull.
func (s *Store) UpdateLocation(id uint32, l *Location) error {
	w, err := s.begin()
	if err != nil {
		return err
	}
	defer s.end()
	slot, exists := s.locationSlot(id)
	if !exists {
		return ErrMissing
	}
	fields := s.locationFields(s.locations.At(slot).word.Load())
	if l.Has&Distance != 0 {
		fields.distance = l.Distance
	}
	if l.Has&Place != 0 {
		fields.place = s.text(l.Place)
	}
	if l.Has&Country != 0 {
		fields.country = s.text(l.Country)
	}
	if l.Has&City != 0 {
		fields.city = s.text(l.City)
	}
	if err := s.setLocation(w, slot, id, &fields); err != nil {
		return err
	}
	w.commit()
	return nil
}

// CreateVisit adds a visit with all fields. It fails with ErrExists,
// ErrNoUser, ErrNoLocation, ErrBusy or ErrFull.
func (s *Store) CreateVisit(v *Visit) error {
	w, err := s.begin()
	if err != nil {
		return err
	}
	defer s.end()
	if _, exists := s.visitSlot(v.ID); exists {
		return ErrExists
	}
	slot, err := s.newSlot(&s.visitIDs, v.ID)
	if err != nil {
		return err
	}
	to, err := s.resolve(v, visit{})
	if err != nil {
		return err
	}
	if err := moveEntry(w, s.userLists, nil, s.userList(to), userEntry{}, to.userEntry(slot)); err != nil {
		return err
	}
	if err := moveEntry(w, s.placeLists, nil, s.placeList(to), 0, s.placeEntry(to)); err != nil {
		return err
	}
	if err := s.setVisit(w, slot, v.ID, to); err != nil {
		return err
	}
	s.commitVisit(w, slot, to)
	s.visitIDs.commit(v.ID)
	s.size[visitKind].Add(1)
	return nil
}

// UpdateVisit changes the given fields of a visit. It fails with ErrMissing,
// ErrNoUser, ErrNoLocation, ErrBusy or ErrFull.
func (s *Store) UpdateVisit(id uint32, v *Visit) error {
	w, err := s.begin()
	if err != nil {
		return err
	}
	defer s.end()
	slot, exists := s.visitSlot(id)
	if !exists {
		return ErrMissing
	}
	from, _ := s.visit(slot)
	to, err := s.resolve(v, from)
	if err != nil {
		return err
	}
	if to == from {
		return nil
	}
	if err := moveEntry(w, s.userLists, s.userList(from), s.userList(to), from.userEntry(slot), to.userEntry(slot)); err != nil {
		return err
	}
	if err := moveEntry(w, s.placeLists, s.placeList(from), s.placeList(to), s.placeEntry(from), s.placeEntry(to)); err != nil {
		return err
	}
	if err := s.setVisit(w, slot, id, to); err != nil {
		return err
	}
	s.commitVisit(w, slot, to)
	return nil
}

// resolve returns the visit v changed by the fields given, with ids resolved.
func (s *Store) resolve(given *Visit, v visit) (visit, error) {
	if given.Has&ByUser != 0 {
		slot, exists := s.userSlot(given.User)
		if !exists {
			return v, ErrNoUser
		}
		v.user = slot
	}
	if given.Has&AtLocation != 0 {
		slot, exists := s.locationSlot(given.Location)
		if !exists {
			return v, ErrNoLocation
		}
		v.location = slot
	}
	if given.Has&VisitedAt != 0 {
		v.date = given.VisitedAt
	}
	if given.Has&Mark != 0 {
		v.mark = given.Mark
	}
	return v, nil
}

// setVisit makes the visit's body where the store keeps it.
func (s *Store) setVisit(w *write, slot, id uint32, v visit) error {
	if !s.ready {
		return nil
	}
	s.rendered = appendVisit(s.rendered[:0], id, s.locationIDs.id(v.location), s.userIDs.id(v.user), v.date, v.mark)
	body, err := newBlock(s.heap, w, s.rendered)
	if err != nil {
		return err
	}
	w.setBlock(s.visits.bodies.At(slot), body)
	return nil
}

func (s *Store) commitVisit(w *write, slot uint32, v visit) {
	w.commit()
	if !s.ready {
		s.visits.put(slot, v)
	}
}

// newSlot makes a slot for an id that has none. The id is not found by it
// before the ids' commit. Readers may still look at what had to grow.
func (s *Store) newSlot(x *ids, id uint32) (uint32, error) {
	slot, old, err := x.prepare(id, s.heap.Alloc)
	if err != nil {
		return 0, err
	}
	if old != 0 {
		s.epochs.retire(old)
		s.epochs.now.Add(1)
	}
	return slot, nil
}

func (s *Store) userList(v visit) *atomic.Uint64  { return &s.users.At(v.user).list }
func (s *Store) placeList(v visit) *atomic.Uint64 { return &s.locations.At(v.location).list }

func (v visit) userEntry(slot uint32) userEntry {
	return userEntry{date: v.date, place: v.location<<3 | uint32(v.mark), visit: slot}
}

func (s *Store) placeEntry(v visit) placeEntry {
	u := s.userBlock(arena.Ref(s.users.At(v.user).block.Load()))
	return newPlaceEntry(v.date, v.user, v.mark, s.clock.traveller(u.birth, u.gender))
}

// moveEntry takes the entry from out of its list, if it has one, and enters
// the entry to in its list. Where the lists differ the entry leaves the one
// before it enters the other.
func moveEntry[E comparable](w *write, l *lists[E], fromList, toList *atomic.Uint64, from, to E) error {
	if fromList == toList {
		if from == to {
			return nil
		}
		list, err := l.edit(w, arena.Ref(toList.Load()), &from, &to)
		w.set(toList, uint64(list))
		return err
	}
	if fromList != nil {
		list, err := l.edit(w, arena.Ref(fromList.Load()), &from, nil)
		if err != nil {
			return err
		}
		w.set(fromList, uint64(list))
	}
	list, err := l.edit(w, arena.Ref(toList.Load()), nil, &to)
	w.set(toList, uint64(list))
	return err
}
