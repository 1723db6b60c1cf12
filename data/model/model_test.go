package model

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// now is 29 February 2016, 12:30:05 UTC: the day that other years lack.
var now = time.Date(2016, 2, 29, 12, 30, 5, 0, time.UTC).Unix()

// small is three users, two locations and four visits.
func small(t testing.TB) *Model {
	t.Helper()
	m := New(now)
	for _, err := range []error{
		m.AddUser(User{1, "ann@mail.test", "Ann", "Ash", "f", 0}),
		m.AddUser(User{2, "bob@mail.test", "Bob", "Birch", "m", 86400 * 365 * 20}),
		m.AddUser(User{4294967295, "far@mail.test", "Far", "Fir", "m", -86400}),
		m.AddLocation(Location{1, "Tower", "Chile", "Lima", 10}),
		m.AddLocation(Location{2, "Pond", "New Land", "Oslo", 20}),
		m.AddVisit(Visit{1, 1, 1, 1000, 1}),
		m.AddVisit(Visit{2, 2, 1, 500, 2}),
		m.AddVisit(Visit{4, 2, 1, 1000, 4}), // the same second as visit 1
		m.AddVisit(Visit{3, 1, 2, 2000, 4}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestPathMethodExistence(t *testing.T) {
	m := small(t)
	f := func(method, target string, status int, allow string) {
		t.Helper()
		got := m.Do(method, target, nil)
		if got.Status != status || got.Allow != allow {
			t.Errorf("%s %s: got %d, Allow %q, want %d, %q", method, target, got.Status, got.Allow, status, allow)
		}
		if (status != 200 || method == "HEAD") && len(got.Body) > 0 {
			t.Errorf("%s %s: %d with a body: %s", method, target, status, got.Body)
		}
	}
	f("GET", "/users/1", 200, "")
	f("GET", "/locations/1", 200, "")
	f("GET", "/visits/1", 200, "")
	f("GET", "/users/4294967295", 200, "")
	f("GET", "/users/1?whatever=%zz&toDate", 200, "") // an entity's query is ignored
	f("GET", "/users/1?", 200, "")
	f("HEAD", "/users/1", 200, "")
	f("HEAD", "/users/1/visits", 200, "")
	f("HEAD", "/users/1/visits?toDate=x", 400, "")
	f("HEAD", "/locations/1/avg", 200, "")
	f("HEAD", "/locations/9/avg?toDate=x", 404, "")

	// Paths that are none.
	for _, path := range []string{
		"", "/", "/users", "/users/", "/users/1/", "/users/1/visits/", "//users/1", "/users//1", "/Users/1",
		"/users/broken", "/users/01", "/users/+1", "/users/-1", "/users/-0", "/users/1.0", "/users/1e0", "/users/ 1",
		"/users/4294967296", "/users/4294967297", "/users/18446744073709551617", "/users/%31", "/%75sers/1",
		"/visits/1/visits", "/locations/1/visits", "/users/1/avg", "/visits/1/avg", "/users/new/visits", "/locations/new/avg",
		"/users/1/visits/2", "/user/1", "/options.txt", "*", "users/1", "/users/0x1", "/users/1#a", "/users/1_0",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
			f(method, path, 404, "") // the path comes before the method
		}
	}

	// Then the method.
	for _, entity := range []string{"users", "locations", "visits"} {
		f("GET", "/"+entity+"/new", 404, "") // an unknown id
		f("HEAD", "/"+entity+"/new", 404, "")
		for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "post", "get"} {
			f(method, "/"+entity+"/new", 405, "POST")
			f(method, "/"+entity+"/1", 405, "GET, HEAD, POST")
			f(method, "/"+entity+"/999", 405, "GET, HEAD, POST") // the method comes before existence
		}
		f("POST", "/"+entity+"/999", 404, "")
		f("GET", "/"+entity+"/999", 404, "")
		f("GET", "/"+entity+"/0", 404, "") // 0 is canonical, and nobody's
	}
	for _, method := range []string{"POST", "PUT"} {
		f(method, "/users/1/visits", 405, "GET, HEAD")
		f(method, "/users/999/visits", 405, "GET, HEAD")
		f(method, "/locations/1/avg", 405, "GET, HEAD")
	}

	// Existence before parameters and before the body.
	f("GET", "/users/999/visits?toDate=x", 404, "")
	f("GET", "/locations/999/avg?gender=x", 404, "")
	if got := m.Do("POST", "/users/999", []byte("{broken")); got.Status != 404 {
		t.Errorf("update of an unknown user with a broken body: %d, want 404", got.Status)
	}
}

func TestEntities(t *testing.T) {
	m := small(t)
	f := func(target, want string) {
		t.Helper()
		if got := m.Do("GET", target, nil); got.Status != 200 || !sameJSON(t, got.Body, want) {
			t.Errorf("%s: got %d %s, want %s", target, got.Status, got.Body, want)
		}
	}
	f("/users/1", `{"id":1,"email":"ann@mail.test","first_name":"Ann","last_name":"Ash","gender":"f","birth_date":0}`)
	f("/locations/2", `{"id":2,"place":"Pond","country":"New Land","city":"Oslo","distance":20}`)
	f("/visits/3", `{"id":3,"location":1,"user":2,"visited_at":2000,"mark":4}`)
}

const (
	visit1 = `{"mark":1,"visited_at":1000,"place":"Tower"}`
	visit2 = `{"mark":2,"visited_at":500,"place":"Pond"}`
	visit4 = `{"mark":4,"visited_at":1000,"place":"Pond"}`
	allOf1 = visit2 + "," + visit1 + "," + visit4 // by date, ties by id
)

func TestUserVisits(t *testing.T) {
	m := small(t)
	f := func(query, want string) {
		t.Helper()
		got := m.Do("GET", "/users/1/visits"+query, nil)
		if got.Status != 200 || !sameJSON(t, got.Body, `{"visits":[`+want+`]}`) {
			t.Errorf("%s: got %d %s, want %s", query, got.Status, got.Body, want)
		}
	}
	f("", allOf1)
	f("?", allOf1)
	f("?fromDate=500", visit1+","+visit4) // strictly later
	f("?toDate=1000", visit2)             // strictly earlier
	f("?fromDate=499&toDate=501", visit2)
	f("?toDistance=20", visit1) // strictly nearer
	f("?toDistance=21", allOf1)
	f("?toDistance=-1", "")
	f("?country=Chile", visit1)
	f("?country=chile", "")
	f("?country=New+Land", visit2+","+visit4)
	f("?country=New%20Land", visit2+","+visit4)
	f("?country=New%2BLand", "")
	f("?country=a=b", "") // split at the first '='
	f("?fromDate=-9223372036854775808&toDate=9223372036854775807", allOf1)
	f("?fromDate=00499&toDate=%31000", visit2) // leading zeros are fine here
	f("?fromDate=-0", allOf1)
	// Unknown parameters, whatever they hold.
	f("?fromdate=x&gender=x&fromAge=x&%zz=1&a=%zz&=5&=&todate", allOf1)
	f("?from%44ate=500", visit1+","+visit4) // names are decoded, too
	f("?fromDat%=x", allOf1)
	f("?fromDate%FF=x", allOf1)
	f("?+fromDate=x", allOf1)
}

func TestSegments(t *testing.T) {
	m := small(t)
	f := func(query string, status int, want string) {
		t.Helper()
		got := m.Do("GET", "/users/1/visits?"+query, nil)
		if got.Status != status || status == 200 && !sameJSON(t, got.Body, `{"visits":[`+want+`]}`) {
			t.Errorf("%s: got %d %s, want %d %s", query, got.Status, got.Body, status, want)
		}
	}
	f("&&toDate=1000&&", 200, visit2)
	f("a=1&&toDate=1000", 200, visit2)
	f("toDate=5&toDate=1000", 200, visit2) // the last counts
	f("toDate=x&toDate=1000", 400, "")     // but all are checked
	f("toDate=1000&toDate=x", 400, "")
	f("toDate=1000;a=1", 400, "") // ';' is no separator: the value is "1000;a=1"
	f("a=1;toDate=x", 200, allOf1)
	f("?toDate=x", 200, allOf1) // the name is "?toDate"
}

func TestBadParameters(t *testing.T) {
	m := small(t)
	f := func(target string) {
		t.Helper()
		if got := m.Do("GET", target, nil); got.Status != 400 {
			t.Errorf("%s: got %d, want 400", target, got.Status)
		}
	}
	for _, value := range []string{
		"", "=", "=x", "=+5", "=%2B5", "=5+", "=1.0", "=1e3", "=--1", "=-", "=0x10", "=1_0", "=9223372036854775808",
		"=-9223372036854775809", "=%", "=%3", "=%3x", "=%FF", "=%D0", "=5%00", "=%E2%82", "==5",
	} {
		for _, name := range []string{"fromDate", "toDate", "toDistance"} {
			f("/users/1/visits?" + name + value)
		}
		for _, name := range []string{"fromDate", "toDate", "fromAge", "toAge", "gender"} {
			f("/locations/1/avg?" + name + value)
		}
	}
	f("/users/1/visits?country")
	f("/users/1/visits?country=")
	f("/users/1/visits?country=%D0")
	f("/users/1/visits?country=%zz")
	f("/users/1/visits?country&country=Chile")
	f("/locations/1/avg?gender=M")
	f("/locations/1/avg?gender=mf")
	f("/locations/1/avg?gender=x&gender=m")
	f("/users/4294967295/visits?toDate=x") // also where there is nothing to list
}

func TestAverage(t *testing.T) {
	m := small(t)
	f := func(query, want string) {
		t.Helper()
		got := m.Do("GET", "/locations/1/avg"+query, nil)
		if got.Status != 200 || string(got.Body) != `{"avg":`+want+`}` {
			t.Errorf("%s: got %d %s, want %s", query, got.Status, got.Body, want)
		}
	}
	f("", "2.5")
	f("?gender=m", "4")
	f("?gender=%66", "1")
	f("?fromDate=1000", "4")
	f("?toDate=2000", "1")
	f("?toDate=0", "0")
	f("?fromAge=40", "1") // Ann is 46, Bob 26
	f("?toAge=40", "4")
	f("?fromAge=20&toAge=50", "2.5")
	f("?fromAge=9223372036854775807", "0") // older than anyone
	f("?toAge=9223372036854775807", "2.5")
	f("?fromAge=-9223372036854775808", "2.5")
	f("?toAge=-9223372036854775808", "0")
	f("?fromAge=-5", "2.5") // born before the year 2021
	f("?country=&toDistance=x", "2.5")
}

func TestMean(t *testing.T) {
	f := func(sum, count int64, want string) {
		t.Helper()
		if got := mean(sum, count); got != want {
			t.Errorf("mean(%d, %d) = %s, want %s", sum, count, got, want)
		}
	}
	f(0, 0, "0")
	f(0, 5, "0")
	f(4, 1, "4")
	f(20, 2, "10")
	f(5, 2, "2.5")
	f(18, 7, "2.57143")
	f(1, 64, "0.01563") // 0.015625: a float rounds this down
	f(1, 3, "0.33333")
	f(2, 3, "0.66667")
	f(1, 200_000, "0.00001")
	f(1, 200_001, "0")
	f(999_999, 1_000_000, "1")
}

func TestYearsBefore(t *testing.T) {
	f := func(now string, n int64, want string) {
		t.Helper()
		at, err := time.Parse(time.DateTime, now)
		if err != nil {
			t.Fatal(err)
		}
		got := time.Unix(yearsBefore(at.Unix(), n), 0).UTC().Format(time.DateTime)
		if got != want {
			t.Errorf("%d years before %s: got %s, want %s", n, now, got, want)
		}
	}
	f("2017-08-29 00:30:08", 0, "2017-08-29 00:30:08")
	f("2017-08-29 00:30:08", 30, "1987-08-29 00:30:08")
	f("2016-02-29 12:30:05", 1, "2015-02-28 12:30:05")
	f("2016-02-29 12:30:05", 4, "2012-02-29 12:30:05")
	f("2016-02-29 12:30:05", 116, "1900-02-28 12:30:05") // no leap year
	f("2016-02-29 12:30:05", 16, "2000-02-29 12:30:05")  // one
	f("2016-02-29 12:30:05", -1, "2017-02-28 12:30:05")
	f("2015-02-28 12:30:05", 3, "2012-02-28 12:30:05")
	for _, n := range []int64{1_000_000, 1_000_001, 1 << 40, 1<<63 - 1} {
		if bound := yearsBefore(now, n); bound >= -1<<31 {
			t.Errorf("%d years ago is %d: somebody would be born before", n, bound)
		}
		if bound := yearsBefore(now, -n); bound <= 1<<31 {
			t.Errorf("%d years ahead is %d: somebody would be born after", n, bound)
		}
	}
}

func TestLoadDir(t *testing.T) {
	files := map[string]string{
		"options.txt":      strconv.FormatInt(now, 10) + "\n1",
		"users_1.json":     `{"users": [{"id":1,"email":"a","first_name":"b","last_name":"c","gender":"m","birth_date":-5}]}`,
		"users_2.json":     `{"users": []}`,
		"locations_1.json": `{"locations": [{"id":1,"place":"\u0430","country":"","city":"c","distance":7}]}`,
		"visits_1.json":    `{"visits": [{"id":1,"location":1,"user":1,"visited_at":0,"mark":5}]}`,
	}
	write := func(change map[string]string) string {
		dir := t.TempDir()
		all := maps.Clone(files)
		maps.Copy(all, change)
		for name, text := range all {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	m, err := LoadDir(write(nil))
	if err != nil {
		t.Fatal(err)
	}
	if u, l, v := m.Size(); u != 1 || l != 1 || v != 1 || m.Now() != now {
		t.Errorf("loaded %d, %d, %d, now %d", u, l, v, m.Now())
	}
	if l, _ := m.Location(1); l.Place != "а" {
		t.Errorf("place %q", l.Place)
	}
	f := func(name, text, want string) {
		t.Helper()
		_, err := LoadDir(write(map[string]string{name: text}))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s %q: error %v, want one with %q", name, text, err, want)
		}
	}
	f("options.txt", "soon", "seconds since 1970")
	f("options.txt", "", "no such file")
	f("users_1.json", "", "no such file")
	f("visits_1.json", `{"visits": [{"id":1,"location":1,"user":1,"visited_at":0,"mark":5},{"id":1}]}`, "record 2")
	f("visits_1.json", `{"visits": [{"id":1,"location":2,"user":1,"visited_at":0,"mark":5}]}`, "record 1")
	f("visits_1.json", `{"users": []}`, "want visits")
	f("visits_1.json", `{"visits": []} x`, "follows")
	f("visits_1.json", `{"visits": [`, "EOF")
}

func TestAddErrors(t *testing.T) {
	m := small(t)
	f := func(got, want error) {
		t.Helper()
		if !errors.Is(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	f(m.AddUser(User{1, "new", "", "", "m", 0}), ErrExists)
	f(m.AddUser(User{9, "ann@mail.test", "", "", "m", 0}), ErrEmailTaken)
	f(m.AddUser(User{9, "new", "", "", "x", 0}), ErrInvalid)
	f(m.AddUser(User{9, strings.Repeat("я", 101), "", "", "m", 0}), ErrInvalid)
	f(m.AddUser(User{9, "new", "\xff", "", "m", 0}), ErrInvalid)
	f(m.AddLocation(Location{1, "", "", "", 0}), ErrExists)
	f(m.AddLocation(Location{9, "", strings.Repeat("я", 51), "", 0}), ErrInvalid)
	f(m.AddVisit(Visit{1, 1, 1, 0, 0}), ErrExists)
	f(m.AddVisit(Visit{9, 9, 1, 0, 0}), ErrNoLocation)
	f(m.AddVisit(Visit{9, 1, 9, 0, 0}), ErrNoUser)
	f(m.AddVisit(Visit{9, 1, 1, 0, 6}), ErrInvalid)
	if u, l, v := m.Size(); u != 3 || l != 2 || v != 4 {
		t.Errorf("refused records came in: %d, %d, %d", u, l, v)
	}
}

// dump is everything a reader could see of m.
func dump(m *Model) string {
	var out bytes.Buffer
	for _, target := range []string{
		"/users/1", "/users/2", "/users/3", "/users/1/visits", "/users/2/visits", "/users/3/visits",
		"/locations/1", "/locations/2", "/locations/3", "/locations/1/avg", "/locations/2/avg",
		"/visits/1", "/visits/2", "/visits/3", "/visits/4", "/visits/5",
	} {
		a := m.Do("GET", target, nil)
		fmt.Fprintf(&out, "%s %d %s\n", target, a.Status, a.Body)
	}
	return out.String()
}
