package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"redoubt/store"
)

// fake is a store of maps. All workers of a load share it.
type fake struct {
	mu        sync.Mutex
	users     map[uint32]store.User
	emails    map[string]bool
	locations map[uint32]store.Location
	visits    map[uint32]store.Visit
	added     func() // called for each record, if set
}

func newFake() *fake {
	return &fake{users: map[uint32]store.User{}, emails: map[string]bool{}, locations: map[uint32]store.Location{}, visits: map[uint32]store.Visit{}}
}

func (f *fake) adder() Adder { return f }

func (f *fake) AddUser(u *store.User) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note()
	if _, known := f.users[u.ID]; known {
		return store.ErrExists
	}
	if f.emails[string(u.Email)] {
		return store.ErrEmailTaken
	}
	f.emails[string(u.Email)] = true
	c := *u
	c.Email, c.FirstName, c.LastName = bytes.Clone(u.Email), bytes.Clone(u.FirstName), bytes.Clone(u.LastName)
	f.users[u.ID] = c
	return nil
}

func (f *fake) AddLocation(l *store.Location) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note()
	if _, known := f.locations[l.ID]; known {
		return store.ErrExists
	}
	c := *l
	c.Place, c.Country, c.City = bytes.Clone(l.Place), bytes.Clone(l.Country), bytes.Clone(l.City)
	f.locations[l.ID] = c
	return nil
}

func (f *fake) AddVisit(v *store.Visit) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note()
	if _, known := f.visits[v.ID]; known {
		return store.ErrExists
	}
	if _, known := f.users[v.User]; !known {
		return store.ErrNoUser
	}
	if _, known := f.locations[v.Location]; !known {
		return store.ErrNoLocation
	}
	f.visits[v.ID] = *v
	return nil
}

func (f *fake) note() {
	if f.added != nil {
		f.added()
	}
}

func (f *fake) counts() Counts { return Counts{len(f.users), len(f.locations), len(f.visits)} }

// Records and files of them.

func userJSON(id int) string {
	return fmt.Sprintf(`{"first_name": "Инна", "last_name": "Данатоная", "birth_date": -631065600, "gender": "f", "id": %d, "email": "u%d@icloud.com"}`, id, id)
}

func locationJSON(id int) string {
	return fmt.Sprintf(`{"distance": 69, "city": "Белстан", "place": "Поместье", "id": %d, "country": "Белоруссия"}`, id)
}

func visitJSON(id, user, location int) string {
	return fmt.Sprintf(`{"user": %d, "location": %d, "visited_at": 1049447314, "id": %d, "mark": 3}`, user, location, id)
}

func fileOf(key string, records ...string) string {
	return `{"` + key + `": [` + strings.Join(records, ", ") + `]}`
}

// smallSet is 8 files: 30 users, 20 locations, 60 visits, ids in no order.
// Most visits refer to the last files of the others.
func smallSet() map[string]string {
	set := map[string]string{optionsName: "1503966608\n0", "README": "not a file of records", "users.json": "nor this"}
	for n := range 3 {
		var us, ls, vs []string
		for i := range 10 {
			us = append(us, userJSON(n*10+(i*7)%10+1))
		}
		for i := 0; i < 10 && n < 2; i++ {
			ls = append(ls, locationJSON(n*10+10-i))
		}
		for i := range 20 {
			vs = append(vs, visitJSON(n*20+i+1, 30-i%3, 20-i%10))
		}
		set[fmt.Sprintf("users_%d.json", n+1)] = fileOf("users", us...)
		set[fmt.Sprintf("visits_%d.json", n+1)] = fileOf("visits", vs...)
		if n < 2 {
			set[fmt.Sprintf("locations_%d.json", n+1)] = fileOf("locations", ls...)
		}
	}
	return set
}

var smallCounts = Counts{Users: 30, Locations: 20, Visits: 60}

// folder makes a folder of files.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// loadInto opens and loads dir into a fake.
func loadInto(dir string, f *fake, workers int) (Stats, error) {
	s, err := Open(dir)
	if err != nil {
		return Stats{}, err
	}
	defer s.Close()
	return s.Load(context.Background(), f.adder, workers, nil)
}

func TestLoadFolder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 5, 100} {
		f := newFake()
		stats, err := loadInto(folder(t, smallSet()), f, workers)
		if err != nil {
			t.Fatalf("%d workers: %v", workers, err)
		}
		if f.counts() != smallCounts || stats.Records != smallCounts {
			t.Errorf("%d workers: %+v loaded, %+v counted", workers, f.counts(), stats.Records)
		}
		if u := f.users[30]; string(u.FirstName) != "Инна" || string(u.Email) != "u30@icloud.com" || u.BirthDate != -631065600 || u.Gender != 'f' {
			t.Errorf("user 30: %+v", u)
		}
		if v := f.visits[60]; v != (store.Visit{Has: store.WholeVisit, ID: 60, User: 29, Location: 11, VisitedAt: 1049447314, Mark: 3}) {
			t.Errorf("visit 60: %+v", v)
		}
	}
}

// TestLoadShapes loads files of every shape that is right, and refuses those
// that are not.
func TestLoadShapes(t *testing.T) {
	u1, u2 := userJSON(1), userJSON(2)
	accept := func(text string, n int) {
		t.Helper()
		f := newFake()
		if _, err := loadInto(folder(t, map[string]string{"users_1.json": text}), f, 1); err != nil || len(f.users) != n {
			t.Errorf("%s: %d users, %v", text, len(f.users), err)
		}
	}
	accept(`{"users":[]}`, 0)
	accept(" {\n\"users\" :\t[ ] } \r\n", 0)
	accept(`{"users":[`+u1+`]}`, 1)
	accept(`{"users":[`+u1+`,`+u2+`]}`, 2)
	accept("{ \"users\" : [ "+u1+"\n,\r\n"+u2+" ] }\n", 2)
	accept(`{"\u0075sers":[`+u1+`]}`, 1)
	accept(`{"users":[{"x":[1,{}],`+u1[1:]+`]}`, 1)
	accept(`{"users":[`+strings.Replace(u1, "Инна", `\u0418\"`, 1)+`]}`, 1)

	refuse := func(text, want string) {
		t.Helper()
		_, err := loadInto(folder(t, map[string]string{"users_1.json": text}), newFake(), 1)
		if err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
	const name = "users_1.json: "
	refuse(``, name+"expected an object at offset 0")
	refuse(`[]`, name+"expected an object at offset 0")
	refuse(`[`+u1+`]`, name+"expected an object at offset 0")
	refuse("\xef\xbb\xbf{\"users\":[]}", name+"expected an object at offset 0")
	refuse(`{}`, name+`expected a field "users" at offset 1`)
	refuse(`{"visits":[]}`, name+`the file's name promises a field "users", not "visits" at offset 1`)
	refuse(`{"users":{}}`, name+"expected an array at offset 9")
	refuse(`{"users":null}`, name+"expected an array at offset 9")
	refuse(`{"users"`, name+"expected a colon after the field's name at offset 8")
	refuse(`{"users":[]`, name+"expected the end of the object at offset 11")
	refuse(`{"users":[],"users":[]}`, name+"expected the end of the object at offset 11")
	refuse(`{"users":[]}]`, name+"expected nothing after the object at offset 12")
	refuse(`{"users":[]}{}`, name+"expected nothing after the object at offset 12")
	refuse(`{"users":[{}`, name+"record 1: lacks id, email, first_name, last_name, gender, birth_date")
	refuse(`{"users":[`+u1+`,{"id":5,"email":"x","gender":"m"}]}`, name+"record 2 (id 5): lacks first_name, last_name, birth_date")
	refuse(`{"users":[`+u1+`,]}`, fmt.Sprintf(name+"record 2: expected an object at offset %d", 11+len(u1)))
	refuse(`{"users":[`+u1+` `+u2+`]}`, fmt.Sprintf(name+"expected a comma or the array's end at offset %d", 11+len(u1)))
	refuse(`{"users":[`+u1+`}`, fmt.Sprintf(name+"expected a comma or the array's end at offset %d", 10+len(u1)))
	refuse(`{"users":[null]}`, name+"record 1: expected an object at offset 10")
	refuse(`{"users":[{"id":7,"email":null}]}`, name+"record 1 (id 7): email: expected a string at offset 26")
	refuse(`{"users":[{"email":null,"id":7}]}`, name+"record 1: email: expected a string at offset 19")
	refuse(`{"users":[{"id":-7}]}`, name+"record 1: id: out of range at offset 16")
	refuse(`{"users":[`+u1+`,`+u1+`]}`, name+"record 2 (id 1): a record with this id exists")
	refuse(`{"users":[`+u1+`,`+strings.Replace(u1, `"id": 1`, `"id": 3`, 1)+`]}`, name+`record 2 (id 3): another user has this email: "u1@icloud.com"`)

	whole := fileOf("users", u1, u2)
	for n := range len(whole) {
		if _, err := loadInto(folder(t, map[string]string{"users_1.json": whole[:n]}), newFake(), 1); err == nil {
			t.Errorf("cut to %d bytes, a file was accepted", n)
		}
	}
}

// TestLoadRefers loads visits of unknown users and locations, and what else
// depends on several files.
func TestLoadRefers(t *testing.T) {
	refuse := func(want string, is error, change func(set map[string]string)) {
		t.Helper()
		set := smallSet()
		change(set)
		_, err := loadInto(folder(t, set), newFake(), 2)
		if err == nil || err.Error() != want || !errors.Is(err, is) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	refuse("visits_2.json: record 2 (id 77): the visit's user does not exist: user 31", store.ErrNoUser, func(set map[string]string) {
		set["visits_2.json"] = fileOf("visits", visitJSON(76, 30, 20), visitJSON(77, 31, 21))
	})
	refuse("visits_2.json: record 1 (id 77): the visit's location does not exist: location 21", store.ErrNoLocation, func(set map[string]string) {
		set["visits_2.json"] = fileOf("visits", visitJSON(77, 30, 21))
	})
	// With one worker it is the later of two files that has the duplicate.
	set := smallSet()
	set["visits_10.json"] = fileOf("visits", visitJSON(61, 30, 20), visitJSON(2, 30, 20))
	_, err := loadInto(folder(t, set), newFake(), 1)
	if want := "visits_10.json: record 2 (id 2): a record with this id exists"; err == nil || err.Error() != want || !errors.Is(err, store.ErrExists) {
		t.Errorf("got %v\nwant %s", err, want)
	}
	var e *RecordError
	if want := (RecordError{File: "visits_10.json", Record: 2, ID: 2, HasID: true, Err: store.ErrExists}); !errors.As(err, &e) || *e != want {
		t.Errorf("%+v", e)
	}
}

// TestLoadFirstError has faults in several files: the first one's is told,
// however many workers there are.
func TestLoadFirstError(t *testing.T) {
	set := smallSet()
	set["users_2.json"] = fileOf("users", userJSON(11), userJSON(12)+"!")
	set["users_3.json"] = "!"
	set["locations_1.json"] = "!"
	set["visits_1.json"] = "!"
	dir := folder(t, set)
	for round := range 60 {
		_, err := loadInto(dir, newFake(), round%6+1)
		if err == nil || !strings.HasPrefix(err.Error(), "users_2.json: expected a comma") {
			t.Fatalf("%d workers: %v", round%6+1, err)
		}
	}
}

func TestLoadCancelled(t *testing.T) {
	var records []string
	for id := range 3 * checkEvery {
		records = append(records, locationJSON(id))
	}
	s, err := Open(folder(t, map[string]string{"locations_1.json": fileOf("locations", records...), "locations_2.json": "!"}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	f := newFake()
	f.added = func() {
		if len(f.locations) == 10 {
			cancel()
		}
	}
	if _, err := s.Load(ctx, f.adder, 1, nil); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if n := len(f.locations); n != checkEvery {
		t.Errorf("%d records were added, not %d", n, checkEvery)
	}
}

func TestLoadProgress(t *testing.T) {
	s, err := Open(folder(t, smallSet()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var last Progress
	stats, err := s.Load(context.Background(), newFake().adder, 2, func(p Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	if want := (Progress{s.Bytes(), s.Bytes(), 110, 110}); last != want {
		t.Errorf("%+v, want %+v", last, want)
	}
	if stats.Bytes != s.Bytes() || stats.Elapsed <= 0 {
		t.Errorf("%+v", stats)
	}
}

// nowhere takes records and forgets them.
type nowhere struct{}

func (nowhere) AddUser(*store.User) error         { return nil }
func (nowhere) AddLocation(*store.Location) error { return nil }
func (nowhere) AddVisit(*store.Visit) error       { return nil }

// TestLoadAllocates checks that allocations count by load and file, not by
// record.
func TestLoadAllocates(t *testing.T) {
	var records []string
	for id := range 5000 {
		records = append(records, visitJSON(id, id, id))
	}
	set := map[string]string{"visits_1.json": fileOf("visits", records...)}
	for name, dir := range map[string]string{"folder": folder(t, set), "zip": zipFolder(t, set)} {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if n := testing.AllocsPerRun(3, func() {
			if _, err := s.Load(context.Background(), func() Adder { return nowhere{} }, 1, nil); err != nil {
				t.Fatal(err)
			}
		}); n > 100 {
			t.Errorf("%s: %v allocations for 5000 records", name, n)
		}
	}
}

func TestReadFileThatChanged(t *testing.T) {
	path := filepath.Join(folder(t, map[string]string{"x": "12345"}), "x")
	for size := range int64(9) {
		text, err := readFile(path, nil, size)
		if size == 5 && (err != nil || string(text) != "12345") {
			t.Errorf("%q, %v", text, err)
		}
		if size != 5 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}
