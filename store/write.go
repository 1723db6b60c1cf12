package store

import (
	"cmp"
	"slices"
	"sync/atomic"

	"redoubt/store/arena"
)

// write is one change of the store on its way. It gathers new blocks, replaced
// blocks and the stores that will publish the ones and hide the others; until
// commit nobody sees any of it, and abort leaves no trace.
type write struct {
	store    *Store
	made     []arena.Ref
	replaced []arena.Ref
	stores   []publication
}

type publication struct {
	word  *atomic.Uint64
	value uint64
}

func (w *write) alloc(n int) (arena.Ref, error) {
	ref, err := w.store.heap.Alloc(n)
	if err != nil {
		return 0, ErrFull
	}
	w.made = append(w.made, ref)
	return ref, nil
}

func (w *write) memory() *arena.Heap { return w.store.heap }

// drop says that the block is no part of what will be published.
func (w *write) drop(ref arena.Ref) {
	if ref == 0 {
		return
	}
	ref = ref.Untagged()
	if i := slices.Index(w.made, ref); i >= 0 { // made by this write, seen by nobody
		w.made = slices.Delete(w.made, i, i+1)
		w.store.heap.Free(ref)
		return
	}
	w.replaced = append(w.replaced, ref)
}

// set stores value in word at commit, after all that was set before.
func (w *write) set(word *atomic.Uint64, value uint64) {
	w.stores = append(w.stores, publication{word, value})
}

// setBlock stores ref in word at commit and drops the block there now.
func (w *write) setBlock(word *atomic.Uint64, ref arena.Ref) {
	w.drop(arena.Ref(word.Load()))
	w.set(word, uint64(ref))
}

func (w *write) commit() {
	for _, p := range w.stores {
		p.word.Store(p.value)
	}
	e := &w.store.epochs
	for _, ref := range w.replaced {
		e.retire(ref)
	}
	if len(w.replaced) > 0 {
		e.now.Add(1)
	}
	w.reset()
}

func (w *write) abort() {
	for _, ref := range w.made {
		w.store.heap.Free(ref)
	}
	w.reset()
}

func (w *write) reset() {
	w.made, w.replaced, w.stores = w.made[:0], w.replaced[:0], w.stores[:0]
}

// reclaimAt is how many replaced blocks gather before their readers are looked
// at; looking is cheap, but not free.
const reclaimAt = 64

// begin enters the write section, and end leaves it, with the write undone
// unless it was committed.
func (s *Store) begin() (*write, error) {
	s.mu.Lock()
	e := &s.epochs
	if len(e.waiting) >= reclaimAt || e.bytes > e.limit {
		e.reclaim(s.heap)
	}
	if e.bytes > e.limit {
		s.mu.Unlock()
		return nil, ErrBusy
	}
	s.encoded = s.encoded[:0]
	return &s.w, nil
}

func (s *Store) end() {
	s.w.abort()
	s.mu.Unlock()
}

// The write's texts and bodies are made in scratch buffers of the store.

// text returns the kept form of raw, valid until the write ends.
func (s *Store) text(raw []byte) []byte {
	var kept []byte
	kept, s.encoded = text(raw, s.encoded)
	return kept
}

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
	s.size[0].Add(1)
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
		body, err := newBlock(w, s.rendered)
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
		if err := s.changeTraveller(w, arena.Ref(row.list.Load()), was, is); err != nil {
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
		return ErrFull
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
	s.size[1].Add(1)
	return nil
}

func (s *Store) setLocation(w *write, slot, id uint32, fields *locationFields) error {
	if s.ready {
		s.rendered = appendLocation(s.rendered[:0], id, fields)
		body, err := newBlock(w, s.rendered)
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
	s.size[2].Add(1)
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
	body, err := newBlock(w, s.rendered)
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
		return 0, ErrFull
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
	return newPlaceEntry(v.date, s.clock.traveller(u.birth, u.gender), v.mark)
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

// changeTraveller changes what the lists of the locations say of a user who
// has the given list of visits.
func (s *Store) changeTraveller(w *write, list arena.Ref, was, is traveller) error {
	s.entries = s.entries[:0]
	for block := range blocks[userEntry](s.heap, list) {
		s.entries = append(s.entries, block...)
	}
	slices.SortFunc(s.entries, func(a, b userEntry) int { // by location slot, date, mark
		return cmp.Or(cmp.Compare(a.place>>3, b.place>>3), cmp.Compare(a.date, b.date), cmp.Compare(a.place, b.place))
	})
	for rest := s.entries; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].place>>3 == rest[0].place>>3 {
			n++
		}
		word := &s.locations.At(rest[0].place >> 3).list
		if err := changeEntries(w, s.placeLists, word, rest[:n], was, is); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// changeEntries changes the traveller of some entries, ordered by date and
// mark, of a location's list. A single entry changes in place: its date stays,
// and so does the order. Several must change together, in new blocks.
func changeEntries(w *write, l *lists[placeEntry], word *atomic.Uint64, entries []userEntry, was, is traveller) error {
	list := arena.Ref(word.Load())
	l.open(list)
	i, j := 0, -1
	var last placeEntry
	for n, e := range entries {
		from := newPlaceEntry(e.date, was, uint8(e.mark()))
		if n == 0 || from != last {
			i, j = l.find(from)
		} else {
			i, j = l.findFrom(from, i, j+1)
		}
		last = from
		to := newPlaceEntry(e.date, is, uint8(e.mark()))
		block := l.chunks[i].block
		if len(entries) == 1 {
			w.set(&arena.Slice[atomic.Uint64](l.heap, block)[j], uint64(to))
			return nil
		}
		if !slices.Contains(w.made, block) {
			own, err := newBlock(w, arena.Slice[placeEntry](l.heap, block))
			if err != nil {
				return err
			}
			w.drop(block)
			l.chunks[i].block, block = own, own
		}
		arena.Slice[placeEntry](l.heap, block)[j] = to
	}
	if list.Tagged() {
		w.drop(list)
	}
	changed, err := l.directory(w)
	w.set(word, uint64(changed))
	return err
}
