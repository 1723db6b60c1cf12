package data

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	s, err := Open(folder(t, smallSet()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Options() != (Options{Now: 1503966608}) {
		t.Errorf("options %+v", s.Options())
	}
	if s.Counts() != smallCounts {
		t.Errorf("counts %+v", s.Counts())
	}
	var names []string
	for _, f := range s.files {
		names = append(names, f.name)
	}
	const want = "users_1.json users_2.json users_3.json locations_1.json locations_2.json visits_1.json visits_2.json visits_3.json"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("files %s", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	refuse := func(dir string, want ...string) {
		t.Helper()
		s, err := Open(dir)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", dir)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%v, want %s", err, w)
			}
		}
	}
	refuse(filepath.Join(t.TempDir(), "missing"), "missing", "redoubt gen --out DIR")
	empty := t.TempDir()
	refuse(empty, empty, "data.zip", "users_*.json, locations_*.json or visits_*.json", "redoubt gen --out DIR")
	refuse(folder(t, map[string]string{"users_1.txt": "", "xusers_1.json": "", "users.json": "", optionsName: "5\n0"}), "redoubt gen")
	file := filepath.Join(folder(t, map[string]string{"x": ""}), "x")
	refuse(file, file+" is not a folder")
	refuse(folder(t, map[string]string{"users_1.json": "{}", optionsName: "5\n7"}), "options.txt:2: ")
	refuse(folder(t, map[string]string{"users_1.json": "{}", zipName: "PK"}), "data.zip: ")

	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "users_1.json"), 0o777)
	refuse(dir, "users_1.json is not a regular file")
	dir = t.TempDir()
	os.Mkdir(filepath.Join(dir, zipName), 0o777)
	refuse(dir, "data.zip is not a regular file")
	dir = t.TempDir()
	os.Symlink("nowhere", filepath.Join(dir, "users_1.json"))
	refuse(dir, "users_1.json")
}

// TestOpenLinks has files that are links, as a mounted volume has them.
func TestOpenLinks(t *testing.T) {
	real := folder(t, smallSet())
	dir := t.TempDir()
	for name := range smallSet() {
		if err := os.Symlink(filepath.Join(real, name), filepath.Join(dir, name)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	f := newFake()
	if _, err := loadInto(dir, f, 2); err != nil || f.counts() != smallCounts {
		t.Errorf("%+v, %v", f.counts(), err)
	}
}

// TestCounts estimates sets that are longer than the samples.
func TestCounts(t *testing.T) {
	set := map[string]string{}
	var us, vs []string
	for id := 1; id <= 3000; id++ {
		us = append(us, userJSON(id))
		vs = append(vs, visitJSON(id*1000, id, id))
	}
	set["users_1.json"] = fileOf("users", us...)
	set["visits_1.json"] = fileOf("visits", vs[:1500]...)
	set["visits_2.json"] = fileOf("visits", vs[1500:]...)
	set["locations_1.json"] = `{"locations": [` + strings.Repeat("x", 112_000) + `]}` // cannot be read
	for name, dir := range map[string]string{"folder": folder(t, set), "zip": zipFolder(t, set)} {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		c := s.Counts()
		near(t, name+": users", c.Users, 3000, 0.02)
		near(t, name+": visits", c.Visits, 3000, 0.01)
		near(t, name+": locations", c.Locations, 1000, 0.01)
		s.Close()
	}
}

func near(t *testing.T, what string, got, want int, within float64) {
	t.Helper()
	if math.Abs(float64(got-want)) > float64(want)*within {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// TestOfficial loads the contest's training set, from its files and from a
// zip of them.
func TestOfficial(t *testing.T) {
	set := officialSet(t)
	want := Counts{Users: 10_057, Locations: 7_628, Visits: 100_570}
	for name, dir := range map[string]string{"folder": folder(t, set), "zip": zipFolder(t, set)} {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if s.Options() != (Options{Now: 1503966608}) {
			t.Errorf("%s: options %+v", name, s.Options())
		}
		t.Logf("%s: estimated %+v", name, s.Counts())
		near(t, "users", s.Counts().Users, want.Users, 0.01)
		near(t, "locations", s.Counts().Locations, want.Locations, 0.01)
		near(t, "visits", s.Counts().Visits, want.Visits, 0.01)
		f := newFake()
		stats, err := s.Load(context.Background(), f.adder, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %+v", name, stats)
		if f.counts() != want || stats.Records != want {
			t.Errorf("%s: loaded %+v, counted %+v, want %+v", name, f.counts(), stats.Records, want)
		}
		if u := f.users[10001]; string(u.FirstName) != "Алёна" || string(u.LastName) != "Стыкушутева" || string(u.Email) != "otecalot@ya.ru" || u.BirthDate != 177379200 || u.Gender != 'f' {
			t.Errorf("%s: user 10001: %+v", name, u)
		}
	}
}

// officialSet returns the files of the contest's training set. It is not part
// of the repository: $REDOUBT_TRAVELS names the folder whose data/ holds it.
func officialSet(t testing.TB) map[string]string {
	t.Helper()
	root := os.Getenv("REDOUBT_TRAVELS")
	if root == "" {
		t.Skip("REDOUBT_TRAVELS is unset: it names the folder of the official set, with data/users_1.json and so on")
	}
	dir := filepath.Join(root, "data")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		set[e.Name()] = string(text)
	}
	return set
}
