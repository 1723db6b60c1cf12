package handlers_test

import (
	"fmt"
	"testing"
)

// FuzzServe sends one request of any kind to a small store and to the model,
// and then looks whether both agree on what has changed.
func FuzzServe(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/users/1", ""},
		{"HEAD", "/visits/1?x", ""},
		{"GET", "/users/1/visits?fromDate=0&toDate=9999&country=Peru&toDistance=50", ""},
		{"GET", "/users/1/visits?toDate", ""},
		{"GET", "/locations/1/avg?fromAge=3&toAge=90&gender=f&fromDate=-1", ""},
		{"GET", "/locations/1/avg?%67ender=%6D&fromAge=9223372036854775807", ""},
		{"GET", "/users/4294967297", ""},
		{"POST", "/users/1", `{"email":"b@x.ru","first_name":"\u0041\ud83d\ude00","gender":"m","birth_date":-1}`},
		{"POST", "/locations/1", `{"distance":4294967295,"place":"","country":"x","city":"\"\\"}`},
		{"POST", "/visits/1", `{"user":2,"location":2,"mark":0,"visited_at":-2147483648}`},
		{"POST", "/users/new", `{"id":7,"email":"","first_name":"","last_name":"","gender":"f","birth_date":0}`},
		{"POST", "/visits/new", `{"id":4294967295,"user":1,"location":2,"visited_at":1,"mark":5,"x":[[{}]]}`},
		{"POST", "/users/1", `[]`},
		{"DELETE", "/users/new", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], false)
		f.Add(seed[0], seed[1], seed[2], true)
	}
	f.Fuzz(func(t *testing.T, method, target, body string, ready bool) {
		p := newPair(t, newStore(t, ready))
		for id := 1; id < 3; id++ {
			p.ask("POST", "/users/new", fmt.Sprintf(`{"id":%d,"email":"%c@x.ru","first_name":"A","last_name":"B","gender":"f","birth_date":%d}`, id, 'a'+id, id*100_000_000))
			p.ask("POST", "/locations/new", fmt.Sprintf(`{"id":%d,"distance":%d,"place":"P","country":"Peru","city":"C"}`, id, id*30))
			p.ask("POST", "/visits/new", fmt.Sprintf(`{"id":%d,"user":1,"location":%d,"visited_at":%d,"mark":%d}`, id, id, id*1000, id))
		}
		p.ask(method, target, body)
		for id := 1; id < 8; id += 1 + id/2 {
			for _, path := range []string{"/users/%d", "/locations/%d", "/visits/%d", "/users/%d/visits", "/locations/%d/avg?gender=f"} {
				p.ask("GET", fmt.Sprintf(path, id), "")
			}
		}
	})
}
