package handlers_test

import (
	"fmt"
	"strings"
	"testing"
)

// known fills a pair with records that the tables below speak of.
func known(t *testing.T, ready bool) *pair {
	p := newPair(t, newStore(t, ready))
	for _, r := range []struct{ target, body string }{
		{"/users/new", `{"id":1,"email":"a@x.ru","first_name":"Анна","last_name":"Б","gender":"f","birth_date":-631065600}`},
		{"/users/new", `{"id":2,"email":"b@x.ru","first_name":"Bob","last_name":"C","gender":"m","birth_date":500000000}`},
		{"/users/new", `{"id":4294967295,"email":"far@x.ru","first_name":"F","last_name":"R","gender":"m","birth_date":0}`},
		{"/users/new", `{"id":0,"email":"","first_name":"","last_name":"","gender":"m","birth_date":0}`},
		{"/locations/new", `{"id":1,"distance":10,"place":"Lake","country":"Peru","city":"Lima"}`},
		{"/locations/new", `{"id":2,"distance":4294967295,"place":"","country":"Côte d'Ivoire","city":""}`},
		{"/locations/new", `{"id":4294967294,"distance":20,"place":"Hill \"top\"","country":"Papua New Guinea","city":"X"}`},
		{"/visits/new", `{"id":1,"user":1,"location":1,"visited_at":1000,"mark":5}`},
		{"/visits/new", `{"id":2,"user":1,"location":2,"visited_at":1000,"mark":4}`},
		{"/visits/new", `{"id":3,"user":1,"location":4294967294,"visited_at":-5,"mark":0}`},
		{"/visits/new", `{"id":4294967290,"user":2,"location":1,"visited_at":2147483647,"mark":2}`},
		{"/visits/new", `{"id":4294967289,"user":2,"location":1,"visited_at":2147483647,"mark":3}`},
	} {
		if got := p.ask("POST", r.target, r.body); got != 200 {
			t.Fatalf("POST %s %s: %d", r.target, r.body, got)
		}
	}
	return p
}

// Every row is also compared with the model, bodies and all.
func TestReading(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := known(t, ready)
		f := func(want int, method, target string) {
			t.Helper()
			if got := p.ask(method, target, ""); got != want {
				t.Errorf("%s %s: %d, want %d", method, target, got, want)
			}
		}
		// Paths.
		f(200, "GET", "/users/1")
		f(200, "HEAD", "/users/1")
		f(200, "GET", "/users/4294967295")
		f(200, "GET", "/users/0")
		f(200, "GET", "/locations/4294967294?anything=%zz&=&&")
		f(200, "GET", "/visits/4294967290")
		f(404, "GET", "/users/3")
		f(404, "GET", "/users/4294967296") // not user 0
		f(404, "GET", "/users/4294967297") // not user 1
		f(404, "GET", "/users/18446744073709551617")
		f(404, "GET", "/users/-1")
		f(404, "GET", "/users/+1")
		f(404, "GET", "/users/01")
		f(404, "GET", "/users/1/")
		f(404, "GET", "/users/%31")
		f(404, "GET", "/users/")
		f(404, "GET", "/users")
		f(404, "GET", "/")
		f(404, "GET", "")
		f(404, "GET", "*")
		f(404, "GET", "/users/broken")
		f(404, "GET", "/users/1abc")
		f(404, "GET", "/Users/1")
		f(404, "GET", "//users/1")
		f(404, "GET", "/users/1/avg")
		f(404, "GET", "/locations/1/visits")
		f(404, "GET", "/visits/1/visits")
		f(404, "GET", "/users/1/visits/")
		f(404, "GET", "/users/1/visit")
		f(404, "GET", "/users//visits")
		f(404, "GET", "/users/new/visits")
		f(404, "GET", "/users/1/\x00\xff")
		// Methods come after the path and before existence.
		f(404, "GET", "/users/new")
		f(404, "HEAD", "/visits/new")
		f(405, "PUT", "/users/new")
		f(405, "DELETE", "/users/1")
		f(405, "PUT", "/users/3")
		f(405, "POST", "/users/1/visits")
		f(405, "POST", "/locations/1/avg")
		f(405, "OPTIONS", "/locations/77/avg")
		f(405, "get", "/users/1")
		f(404, "PUT", "/users/x")
		// Existence comes before parameters.
		f(404, "GET", "/users/3/visits?fromDate=abc")
		f(404, "GET", "/locations/3/avg?gender=x")
		// Visits of a user.
		f(200, "GET", "/users/1/visits")
		f(200, "GET", "/users/1/visits?")
		f(200, "GET", "/users/0/visits")
		f(200, "GET", "/users/2/visits") // far ids of one date, in order of id
		f(200, "GET", "/users/1/visits?fromDate=999&toDate=1001")
		f(200, "GET", "/users/1/visits?fromDate=1000")
		f(200, "GET", "/users/1/visits?toDate=1000")
		f(200, "GET", "/users/1/visits?fromDate=9&toDate=-9")
		f(200, "GET", "/users/1/visits?fromDate=-9223372036854775808&toDate=9223372036854775807")
		f(200, "GET", "/users/1/visits?fromDate=9223372036854775807")
		f(200, "GET", "/users/1/visits?toDate=-9223372036854775808")
		f(200, "GET", "/users/1/visits?toDistance=20")
		f(200, "GET", "/users/1/visits?toDistance=-1")
		f(200, "GET", "/users/1/visits?toDistance=4294967295")
		f(200, "GET", "/users/1/visits?toDistance=4294967296")
		f(200, "GET", "/users/1/visits?country=Peru")
		f(200, "GET", "/users/1/visits?country=Papua+New%20Guinea")
		f(200, "GET", "/users/1/visits?country=C%C3%B4te%20d%27Ivoire")
		f(200, "GET", "/users/1/visits?country=C\xc3\xb4te+d'Ivoire")
		f(200, "GET", "/users/1/visits?country=Nowhere")
		f(200, "GET", "/users/1/visits?country=%22") // stands escaped where it is kept
		f(200, "GET", "/users/1/visits?%63ountry=Peru")
		f(200, "GET", "/users/1/visits?country=Peru&toDistance=5&fromDate=1")
		f(200, "GET", "/users/1/visits?fromAge=abc&gender=zz") // another query's parameters
		f(200, "GET", "/users/1/visits?COUNTRY=&x&%zz=1&=&&fromDate%=")
		f(200, "GET", "/users/1/visits?fromDate=007")
		f(200, "GET", "/users/1/visits?fromDate=%31")
		f(200, "GET", "/users/1/visits?fromDate=5&fromDate=1") // the last counts
		f(400, "GET", "/users/1/visits?fromDate=x&fromDate=1") // all are checked
		f(400, "GET", "/users/1/visits?fromDate=1&fromDate=")
		f(400, "GET", "/users/1/visits?toDate")
		f(400, "GET", "/users/1/visits?toDate=")
		f(400, "GET", "/users/1/visits?toDate=1;2")
		f(400, "GET", "/users/1/visits?toDate=1.5")
		f(400, "GET", "/users/1/visits?toDate=1e3")
		f(400, "GET", "/users/1/visits?toDate=+1")
		f(400, "GET", "/users/1/visits?toDate=%2B1")
		f(400, "GET", "/users/1/visits?toDate=1+")
		f(400, "GET", "/users/1/visits?toDate=-")
		f(400, "GET", "/users/1/visits?toDate=--1")
		f(400, "GET", "/users/1/visits?toDate=9223372036854775808")
		f(400, "GET", "/users/1/visits?toDate=-9223372036854775809")
		f(400, "GET", "/users/1/visits?toDate=99999999999999999999999")
		f(400, "GET", "/users/1/visits?toDate=0x10")
		f(400, "GET", "/users/1/visits?toDate=%")
		f(400, "GET", "/users/1/visits?toDate=%3")
		f(400, "GET", "/users/1/visits?toDate=%3g")
		f(400, "GET", "/users/1/visits?toDate=1=2")
		f(400, "GET", "/users/1/visits?toDistance=far")
		f(400, "GET", "/users/1/visits?country=")
		f(400, "GET", "/users/1/visits?country")
		f(400, "GET", "/users/1/visits?country=%ff")
		f(400, "GET", "/users/1/visits?country=\xc3")
		f(400, "GET", "/users/1/visits?country=%")
		// Averages.
		f(200, "GET", "/locations/1/avg")
		f(200, "GET", "/locations/2/avg?fromDate=1000")
		f(200, "GET", "/locations/1/avg?gender=m")
		f(200, "GET", "/locations/1/avg?gender=%66")
		f(200, "GET", "/locations/1/avg?gender=f&gender=m")
		f(200, "GET", "/locations/1/avg?fromAge=30")
		f(200, "GET", "/locations/1/avg?toAge=30")
		f(200, "GET", "/locations/1/avg?fromAge=-9223372036854775808&toAge=9223372036854775807")
		f(200, "GET", "/locations/1/avg?fromAge=9223372036854775807&toAge=-9223372036854775808")
		f(200, "GET", "/locations/1/avg?country=&toDistance=x") // another query's parameters
		f(400, "GET", "/locations/1/avg?gender=")
		f(400, "GET", "/locations/1/avg?gender")
		f(400, "GET", "/locations/1/avg?gender=M")
		f(400, "GET", "/locations/1/avg?gender=mf")
		f(400, "GET", "/locations/1/avg?gender=x&gender=m")
		f(400, "GET", "/locations/1/avg?fromAge=")
		f(400, "GET", "/locations/1/avg?toAge=old")
		f(400, "GET", "/locations/1/avg?fromDate=1&toDate=y")
	})
}

func TestWriting(t *testing.T) {
	const (
		user     = `"email":"n@x.ru","first_name":"N","last_name":"M","gender":"m","birth_date":1`
		location = `"distance":1,"place":"P","country":"C","city":"D"`
		visit    = `"user":1,"location":1,"visited_at":5,"mark":3`
	)
	long := func(n int) string { return strings.Repeat("щ", n) }
	cases := []struct {
		want         int
		target, body string
	}{
		// Creation.
		{200, "/users/new", `{"id":7,` + user + `}`},
		{200, "/users/new?query_id=1&x=%zz", `{"id":7,` + user + `}`},
		{200, "/users/new", `{"id":4294967290,` + user + `}`},
		{200, "/locations/new", "\t\r\n {\"id\":7," + location + "} \n"},
		{200, "/visits/new", `{"id":7,` + visit + `}`},
		{400, "/users/new", `{"id":1,` + user + `}`},
		{400, "/users/new", `{"id":4294967295,` + user + `}`},
		{400, "/users/new", `{` + user + `}`},
		{400, "/users/new", `{"id":7,"email":"n@x.ru","first_name":"N","last_name":"M","gender":"m"}`},
		{400, "/users/new", `{"id":7,` + strings.Replace(user, "n@x", "a@x", 1) + `}`}, // taken
		{400, "/users/new", `{"id":4294967296,` + user + `}`},
		{400, "/users/new", `{"id":-1,` + user + `}`},
		{400, "/users/new", `{"id":"7",` + user + `}`},
		{400, "/users/new", `{"id":7.0,` + user + `}`},
		{400, "/users/new", `{"id":07,` + user + `}`},
		{400, "/users/new", `{"id":null,` + user + `}`},
		{400, "/locations/new", `{"id":1,` + location + `}`},
		{400, "/visits/new", `{"id":1,` + visit + `}`},
		{400, "/visits/new", `{"id":7,"user":3,"location":1,"visited_at":5,"mark":3}`},
		{400, "/visits/new", `{"id":7,"user":1,"location":3,"visited_at":5,"mark":3}`},
		// Bodies that are no object of ours.
		{400, "/users/new", ``},
		{400, "/users/new", `[]`},
		{400, "/users/new", `null`},
		{400, "/users/new", `{}`},
		{400, "/users/1", ``},
		{400, "/users/1", ` `},
		{400, "/users/1", `[]`},
		{400, "/users/1", `[{}]`},
		{400, "/users/1", `null`},
		{400, "/users/1", `"{}"`},
		{400, "/users/1", `{`},
		{400, "/users/1", `{}}`},
		{400, "/users/1", `{} x`},
		{400, "/users/1", `{"first_name":"A",}`},
		{400, "/users/1", `{"first_name":"A" "last_name":"B"}`},
		{400, "/users/1", `{'first_name':'A'}`},
		{400, "/users/1", `{"first_name":"A"`},
		{400, "/users/1", "\ufeff{}"},
		// Existence comes before the body.
		{404, "/users/3", `{"first_name":null}`},
		{404, "/locations/3", `nonsense`},
		{404, "/visits/3000000000", ``},
		{404, "/users/broken", `{}`},
		{404, "/users/4294967297", `{}`},
		// Updates.
		{200, "/users/1", `{}`},
		{200, "/users/1", ` { } `},
		{200, "/users/1", `{"unknown":null}`},
		{200, "/users/1", `{"unknown":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`},
		{400, "/users/1", `{"unknown":` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}`},
		{400, "/users/1", `{"unknown":[1,]}`},
		{400, "/users/1", `{"unknown":01}`},
		{400, "/users/1", `{"unknown":"\x"}`},
		{400, "/users/1", "{\"unknown\":\"\xff\"}"},
		{400, "/users/1", `{"unknown":"\ud800"}`},
		{400, "/users/1", `{"unknown":tru}`},
		{400, "/users/1", `{"id":1}`},
		{400, "/users/1", `{"first_name":"X","id":1}`},
		{400, "/users/1", `{"first_name":null}`},
		{400, "/users/1", `{"first_name":"X","birth_date":null}`},
		{400, "/users/1", `{"first_name":1}`},
		{400, "/users/1", `{"first_name":["X"]}`},
		{400, "/users/1", `{"first_name":null,"first_name":"X"}`},
		{200, "/users/1", `{"first_name":"X","first_name":"Y"}`},
		{200, "/users/1", `{"\u0066irst_name":"Z"}`},
		{200, "/users/1", `{"FIRST_NAME":5}`},
		{200, "/users/1", `{"first_name":""}`},
		{200, "/users/1", `{"first_name":"` + long(50) + `"}`},
		{400, "/users/1", `{"first_name":"` + long(51) + `"}`},
		{200, "/users/1", `{"last_name":"` + strings.Repeat(`\u0000`, 50) + `"}`},
		{400, "/users/1", `{"last_name":"` + long(51) + `"}`},
		{200, "/users/1", `{"email":"` + long(100) + `"}`},
		{400, "/users/1", `{"email":"` + long(101) + `"}`},
		{200, "/users/1", `{"first_name":"\"\\\/\b\f\n\r\t\u0001\u007f\ud83d\ude00"}`},
		{400, "/users/1", "{\"first_name\":\"\n\"}"},
		{400, "/users/1", "{\"first_name\":\"\xc0\x80\"}"},
		{400, "/users/1", `{"first_name":"\ud800x"}`},
		{400, "/users/1", `{"first_name":"\udc00"}`},
		{400, "/users/1", `{"first_name":"\u12g4"}`},
		{400, "/users/1", `{"gender":"x"}`},
		{400, "/users/1", `{"gender":"M"}`},
		{400, "/users/1", `{"gender":""}`},
		{200, "/users/1", `{"gender":"\u006d"}`},
		{200, "/users/1", `{"birth_date":-2147483648}`},
		{400, "/users/1", `{"birth_date":-2147483649}`},
		{200, "/users/1", `{"birth_date":2147483647}`},
		{400, "/users/1", `{"birth_date":2147483648}`},
		{200, "/users/1", `{"birth_date":-0}`},
		{400, "/users/1", `{"birth_date":+1}`},
		{400, "/users/1", `{"birth_date":1e3}`},
		{400, "/users/1", `{"birth_date":1.0}`},
		{400, "/users/1", `{"birth_date":00}`},
		{400, "/users/1", `{"birth_date":"1"}`},
		{400, "/users/1", `{"birth_date":true}`},
		{400, "/users/1", `{"birth_date":99999999999999999999}`},
		{200, "/users/1", `{"email":"a@x.ru"}`}, // one's own
		{400, "/users/1", `{"email":"b@x.ru"}`},
		{400, "/users/1", `{"email":"\u0062@x.ru"}`},
		{400, "/users/1", `{"email":"far@x.ru"}`},
		{400, "/users/1", `{"email":""}`}, // user 0 has it
		{200, "/locations/1", `{"distance":4294967295}`},
		{400, "/locations/1", `{"distance":4294967296}`},
		{400, "/locations/1", `{"distance":-1}`},
		{200, "/locations/1", `{"distance":1048575,"place":"` + long(2000) + `"}`},
		{200, "/locations/1", `{"city":"` + long(50) + `","country":"` + long(50) + `"}`},
		{400, "/locations/1", `{"city":"` + long(51) + `"}`},
		{400, "/locations/1", `{"country":"` + long(51) + `"}`},
		{400, "/locations/1", `{"place":null}`},
		{400, "/locations/1", `{"id":1}`},
		{200, "/visits/1", `{"mark":0}`},
		{200, "/visits/1", `{"mark":5,"visited_at":-2147483648}`},
		{400, "/visits/1", `{"mark":6}`},
		{400, "/visits/1", `{"mark":-1}`},
		{400, "/visits/1", `{"mark":""}`},
		{400, "/visits/1", `{"visited_at":2147483648}`},
		{400, "/visits/1", `{"id":1}`},
		{200, "/visits/1", `{"user":4294967295,"location":4294967294}`},
		{400, "/visits/1", `{"user":3}`},
		{400, "/visits/1", `{"location":3}`},
		{400, "/visits/1", `{"mark":1,"location":3}`},
		{400, "/visits/1", `{"user":4294967296}`},
	}
	bothModes(t, func(t *testing.T, ready bool) {
		for i, c := range cases {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				p := known(t, ready)
				if got := p.ask("POST", c.target, c.body); got != c.want {
					t.Errorf("POST %s %.200s: %d, want %d", c.target, c.body, got, c.want)
				}
				p.lookAround() // after a 400 nothing has changed, after a 200 just what ought to
			})
		}
	})
}

// lookAround compares everything the tables know with the model.
func (p *pair) lookAround() {
	p.t.Helper()
	for _, id := range []uint32{0, 1, 2, 3, 7, 4294967289, 4294967290, 4294967294, 4294967295} {
		for _, path := range []string{"/users/%d", "/locations/%d", "/visits/%d", "/users/%d/visits", "/locations/%d/avg",
			"/users/%d/visits?country=Peru", "/users/%d/visits?toDistance=15", "/locations/%d/avg?gender=f", "/locations/%d/avg?toAge=40"} {
			p.ask("GET", fmt.Sprintf(path, id), "")
		}
	}
}

// A freed email may be used at once; a taken one not, whoever asks.
func TestEmails(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := known(t, ready)
		f := func(want int, target, body string) {
			t.Helper()
			if got := p.ask("POST", target, body); got != want {
				t.Errorf("POST %s %s: %d, want %d", target, body, got, want)
			}
		}
		f(200, "/users/1", `{"email":"c@x.ru"}`)
		f(200, "/users/2", `{"email":"a@x.ru"}`)
		f(400, "/users/1", `{"email":"a@x.ru"}`)
		f(200, "/users/1", `{"email":"b@x.ru"}`)
		f(400, "/users/1", `{"email":"a@x.ru","first_name":"lost"}`)
		f(200, "/users/new", `{"id":5,"email":"c@x.ru","first_name":"","last_name":"","gender":"m","birth_date":1}`)
		f(400, "/users/new", `{"id":6,"email":"c@x.ru","first_name":"","last_name":"","gender":"m","birth_date":1}`)
		f(404, "/users/6", `{}`)
		p.lookAround()
	})
}

// A traveller's visits keep their place in averages when the traveller's age or
// gender changes, also where a location was visited twice.
func TestTravellerChanges(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := known(t, ready)
		for i, date := range []int{1000, 1000, 1000, 2000, 3000} {
			p.ask("POST", "/visits/new", fmt.Sprintf(`{"id":%d,"user":1,"location":1,"visited_at":%d,"mark":%d}`, 20+i, date, i%2+3))
		}
		for _, change := range []string{`{"gender":"m"}`, `{"birth_date":900000000}`, `{"birth_date":900000000}`, `{"birth_date":-900000000,"gender":"f"}`} {
			p.ask("POST", "/users/1", change)
			p.lookAround()
			p.ask("POST", "/visits/21", `{"location":2}`)
			p.ask("POST", "/visits/21", `{"location":1,"mark":1}`)
			p.lookAround()
		}
	})
}

// A birthday is exact to the second: the day's start at now's time of day, and
// 28 February where the year has no 29th.
func TestAgesToTheSecond(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := known(t, ready)
		f := func(birth int64, query, want string) {
			t.Helper()
			p.ask("POST", "/users/1", fmt.Sprintf(`{"birth_date":%d}`, birth))
			p.ask("GET", "/locations/2/avg?"+query, "") // compares
			body, _ := p.worker.Serve([]byte("GET"), []byte("/locations/2/avg"), []byte(query), nil).Body, 0
			if string(body) != want {
				t.Errorf("born %d, %s: %s, want %s", birth, query, body, want)
			}
		}
		const years1, years4 = 1425081600 + 12345, 1330473600 + 12345 // 2015-02-28, 2012-02-29
		for _, b := range []struct {
			bound int64
			years int
		}{{years1, 1}, {years4, 4}, {now, 0}} {
			from, to := fmt.Sprint("fromAge=", b.years), fmt.Sprint("toAge=", b.years)
			f(b.bound-1, from, `{"avg":4}`)
			f(b.bound, from, `{"avg":0}`)
			f(b.bound+1, from, `{"avg":0}`)
			f(b.bound-1, to, `{"avg":0}`)
			f(b.bound, to, `{"avg":0}`)
			f(b.bound+1, to, `{"avg":4}`)
		}
	})
}

func TestAverageIsRoundedHalfUp(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := known(t, ready)
		p.ask("POST", "/locations/new", `{"id":9,"distance":1,"place":"P","country":"C","city":"D"}`)
		for i := range 64 {
			p.ask("POST", "/visits/new", fmt.Sprintf(`{"id":%d,"user":1,"location":9,"visited_at":%d,"mark":%d}`, 100+i, i, max(0, 1-i)))
		}
		reply := p.worker.Serve([]byte("GET"), []byte("/locations/9/avg"), nil, nil)
		if string(reply.Body) != `{"avg":0.01563}` { // 1/64 = 0.015625
			t.Errorf("64 visits, one mark 1, rest 0: %s", reply.Body)
		}
	})
}

func TestFieldsOfARecordInOrder(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := known(t, ready)
		for path, want := range map[string]string{
			"/users/1":              `{"id":1,"email":"a@x.ru","first_name":"Анна","last_name":"Б","gender":"f","birth_date":-631065600}`,
			"/locations/4294967294": `{"id":4294967294,"distance":20,"place":"Hill \"top\"","country":"Papua New Guinea","city":"X"}`,
			"/visits/3":             `{"id":3,"location":4294967294,"user":1,"visited_at":-5,"mark":0}`,
			"/users/1/visits":       `{"visits":[{"mark":0,"visited_at":-5,"place":"Hill \"top\""},{"mark":5,"visited_at":1000,"place":"Lake"},{"mark":4,"visited_at":1000,"place":""}]}`,
			"/users/0/visits":       `{"visits":[]}`,
			"/locations/1/avg":      `{"avg":3.33333}`,
		} {
			if got := p.worker.Serve([]byte("GET"), []byte(path), nil, nil); string(got.Body) != want {
				t.Errorf("%s\ngot  %s\nwant %s", path, got.Body, want)
			}
		}
	})
}

// Serving allocates nothing once the worker's buffers have grown.
func TestServeAllocatesNothing(t *testing.T) {
	bothModes(t, func(t *testing.T, ready bool) {
		p := known(t, ready)
		get := []byte("GET")
		for _, target := range []string{"/users/1", "/locations/1", "/locations/2", "/visits/4294967290", "/users/77",
			"/users/1/visits?fromDate=1&toDistance=99&country=C%C3%B4te+d'Ivoire", "/locations/1/avg?fromAge=1&gender=m&toDate=5", "/users/1/visits?toDate=x"} {
			path, query, _ := strings.Cut(target, "?")
			pathBytes, queryBytes := []byte(path), []byte(query)
			if n := testing.AllocsPerRun(200, func() {
				p.worker.Enter()
				p.worker.Serve(get, pathBytes, queryBytes, nil)
				p.worker.Exit()
			}); n != 0 {
				t.Errorf("GET %s allocates %v times", target, n)
			}
		}
		post, path, body := []byte("POST"), []byte("/visits/1"), [2][]byte{[]byte(`{"user":2,"mark":1}`), []byte(`{"user":1,"mark":3}`)}
		i := 0
		if n := testing.AllocsPerRun(500, func() {
			p.worker.Enter()
			p.worker.Serve(post, path, nil, body[i%2])
			p.worker.Exit()
			i++
		}); n != 0 {
			t.Errorf("POST of a move allocates %v times", n)
		}
	})
}
