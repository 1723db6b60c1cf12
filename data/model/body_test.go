package model

import (
	"strings"
	"testing"
)

// whole is a complete new record of each entity.
var whole = map[string]string{
	"users":     `{"id":3,"email":"c@mail.test","first_name":"C","last_name":"D","gender":"m","birth_date":-1}`,
	"locations": `{"id":3,"place":"P","country":"Q","city":"R","distance":1}`,
	"visits":    `{"id":5,"location":1,"user":2,"visited_at":7,"mark":0}`,
}

// TestWrites posts each body to a fresh model. A 200 answers {}; a 400 must
// leave everything as it was.
func TestWrites(t *testing.T) {
	f := func(target, body string, status int) {
		t.Helper()
		m := small(t)
		before := dump(m)
		got := m.Do("POST", target, []byte(body))
		if got.Status != status {
			t.Errorf("POST %s %q: got %d, want %d", target, body, got.Status, status)
		}
		if status == 200 && string(got.Body) != "{}" {
			t.Errorf("POST %s %q: body %q, want {}", target, body, got.Body)
		}
		if after := dump(m); status != 200 && after != before {
			t.Errorf("POST %s %q: refused, but changed\n%sto\n%s", target, body, before, after)
		}
	}
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }

	for entity, record := range whole {
		create, update := "/"+entity+"/new", "/"+entity+"/1"
		f(create, record, 200)
		f(create+"?query_id=%zz", " \t\r\n"+record+" \t\r\n", 200)
		f(create, record[:len(record)-1]+`,"extra":{"id":null,"x":[1.5e-7,true,false,null,"\u00e9"]}}`, 200)
		f(update, `{}`, 200)
		f(update, `{"unknown":null}`, 200)
		f(update, `{"ID":1,"Mark":null,"":0}`, 200) // names are case-sensitive
		f(update, `{"id":1}`, 400)
		f(update, `{"\u0069d":1}`, 400) // the same name
		f(update, `{"id":null}`, 400)
		f(create, `{}`, 400)
		f(update, `{"x":`+nested(32)+`}`, 200)
		f(update, `{"x":`+nested(33)+`}`, 400)
		f(update, `{"x":`+objects(32)+`}`, 200)
		f(update, `{"x":`+objects(33)+`}`, 400)
		f(update, `{"x":`+nested(20000)+`}`, 400)
		f(update, `{"x":[`+nested(31)+`,`+nested(31)+`]}`, 200)
		for _, target := range []string{create, update} {
			for _, body := range []string{
				"", " ", "{", "}", "[]", "null", "1", `""`, "true", "{}{}", "{} x", `{},`, `{"x":}`, `{"x"}`, `{"x":1,}`, `{,}`,
				`{'x':1}`, `{x:1}`, `{"x":1 "y":2}`, `{"x":01}`, `{"x":+1}`, `{"x":.5}`, `{"x":5.}`, `{"x":1e}`, `{"x":-}`,
				`{"x":nul}`, `{"x":True}`, `{"x":[1,]}`, `{"x":[1 2]}`, `{"x":"` + "\n" + `"}`, `{"x":"\x"}`, `{"x":"\u12"}`, `{"x":"`,
				"{\"x\":\"\xff\"}", "{\"\xd0\":1}", `{"x":"\ud800"}`, `{"x":"\udc00"}`, `{"x":"\ud800\ud800"}`, `{"\ud800":1}`,
				`{"x":"\ud83d\u0041"}`, `{"x":"\ud83d\\udc00"}`, "\xef\xbb\xbf{}", `{}` + "\x00", `/**/{}`, `[{}]`,
			} {
				f(target, body, 400)
			}
		}
	}
	f("/users/1", `{"x":"\ud83d\ude00\\ud800\\\ud83d\ude00"}`, 200) // pairs, and an escaped backslash before u

	// Each field of a create: missing, null, of another type.
	for entity, record := range whole {
		for _, part := range strings.Split(strings.Trim(record, "{}"), ",") {
			name, _, _ := strings.Cut(part, ":")
			f("/"+entity+"/new", strings.NewReplacer(part+",", "", ","+part, "").Replace(record), 400)
			for _, value := range []string{"null", "true", "[]", "{}", `[1]`, "1.0", "1e0", `1E1`, "-1.5", "99999999999", "-99999999999", `"\u0000\u0000` + strings.Repeat("x", 100) + `"`} {
				if name == `"place"` && strings.HasPrefix(value, `"`) {
					continue // a place may be any length
				}
				f("/"+entity+"/new", strings.Replace(record, part, name+":"+value, 1), 400)
				f("/"+entity+"/new", strings.Replace(record, part, name+":"+value+","+part, 1), 400) // all are checked
			}
			f("/"+entity+"/new", strings.Replace(record, part, part+","+part, 1), 200)
		}
	}

	// Ranges.
	f("/users/new", strings.Replace(whole["users"], `"id":3`, `"id":4294967294`, 1), 200)
	f("/users/new", strings.Replace(whole["users"], `"id":3`, `"id":4294967296`, 1), 400)
	f("/users/new", strings.Replace(whole["users"], `"id":3`, `"id":-0`, 1), 200) // -0 is 0
	f("/users/new", strings.Replace(whole["users"], `"id":3`, `"id":-1`, 1), 400)
	f("/users/new", strings.Replace(whole["users"], `"id":3`, `"id":1`, 1), 400) // exists
	f("/users/new", strings.Replace(whole["users"], `"id":3`, `"id":"3"`, 1), 400)
	f("/users/1", `{"birth_date":-2147483648}`, 200)
	f("/users/1", `{"birth_date":-2147483649}`, 400)
	f("/users/1", `{"birth_date":2147483647}`, 200)
	f("/users/1", `{"birth_date":2147483648}`, 400)
	f("/locations/1", `{"distance":4294967295}`, 200)
	f("/locations/1", `{"distance":4294967296}`, 400)
	f("/locations/1", `{"distance":-1}`, 400)
	f("/locations/1", `{"distance":"5"}`, 400)
	f("/visits/1", `{"mark":0}`, 200)
	f("/visits/1", `{"mark":5}`, 200)
	f("/visits/1", `{"mark":6}`, 400)
	f("/visits/1", `{"mark":-1}`, 400)
	f("/visits/1", `{"mark":260}`, 400)
	f("/visits/1", `{"mark":3,"mark":9}`, 400)
	f("/visits/1", `{"mark":9,"mark":3}`, 400)
	f("/visits/1", `{"visited_at":2147483648}`, 400)

	// Strings: code points, not bytes; empty is fine.
	for _, name := range []string{"first_name", "last_name"} {
		f("/users/1", `{"`+name+`":""}`, 200)
		f("/users/1", `{"`+name+`":"`+strings.Repeat("я", 50)+`"}`, 200)
		f("/users/1", `{"`+name+`":"`+strings.Repeat(`\ud83d\ude00`, 50)+`"}`, 200)
		f("/users/1", `{"`+name+`":"`+strings.Repeat("я", 51)+`"}`, 400)
		f("/users/1", `{"`+name+`":5}`, 400)
	}
	f("/users/1", `{"email":"`+strings.Repeat("я", 100)+`"}`, 200)
	f("/users/1", `{"email":"`+strings.Repeat("y", 101)+`"}`, 400)
	f("/users/1", `{"email":""}`, 200)
	f("/users/1", `{"gender":"\u006d"}`, 200)
	f("/users/1", `{"gender":"M"}`, 400)
	f("/users/1", `{"gender":""}`, 400)
	f("/users/1", `{"gender":"mm"}`, 400)
	f("/locations/1", `{"city":"`+strings.Repeat("y", 51)+`"}`, 400)
	f("/locations/1", `{"country":"`+strings.Repeat("y", 51)+`"}`, 400)
	f("/locations/1", `{"place":"`+strings.Repeat("y", 5000)+`"}`, 200)

	// References and emails.
	f("/visits/1", `{"user":2}`, 200)
	f("/visits/1", `{"user":999}`, 400)
	f("/visits/1", `{"location":999}`, 400)
	f("/visits/1", `{"location":2,"user":999}`, 400)
	f("/visits/1", `{"user":999,"user":2}`, 200) // existence is asked of the last only
	f("/visits/new", strings.Replace(whole["visits"], `"user":2`, `"user":999`, 1), 400)
	f("/visits/new", strings.Replace(whole["visits"], `"location":1`, `"location":999`, 1), 400)
	f("/users/1", `{"email":"bob@mail.test"}`, 400)
	f("/users/1", `{"email":"ann@mail.test"}`, 200) // one's own
	f("/users/1", `{"email":"Bob@mail.test"}`, 200)
	f("/users/new", strings.Replace(whole["users"], "c@mail.test", "bob@mail.test", 1), 400)
}

// TestWhatWritesChange looks at what others see after a 200.
func TestWhatWritesChange(t *testing.T) {
	m := small(t)
	post := func(target, body string, status int) {
		t.Helper()
		if got := m.Do("POST", target, []byte(body)); got.Status != status {
			t.Fatalf("POST %s %s: got %d, want %d", target, body, got.Status, status)
		}
	}
	get := func(target, want string) {
		t.Helper()
		if got := m.Do("GET", target, nil); got.Status != 200 || !sameJSON(t, got.Body, want) {
			t.Errorf("GET %s: got %d %s, want %s", target, got.Status, got.Body, want)
		}
	}

	// Only the given fields change; of a repeated one the last counts.
	post("/users/1", `{"last_name":"x","last_n\u0061me":"\"\\\u0001\u2028","first_name":"A\u043d\ud83d\ude00"}`, 200)
	get("/users/1", `{"id":1,"email":"ann@mail.test","first_name":"Aн😀","last_name":"\"\\\u0001\u2028","gender":"f","birth_date":0}`)

	// An email that is freed may be used at once; the old one is free, the new one taken.
	post("/users/1", `{"email":"new@mail.test"}`, 200)
	post("/users/2", `{"email":"new@mail.test"}`, 400)
	post("/users/2", `{"email":"ann@mail.test"}`, 200)
	post("/users/new", strings.Replace(whole["users"], "c@mail.test", "bob@mail.test", 1), 200)

	// A visit moves: out of the old lists, into the new ones.
	post("/visits/1", `{"user":2,"location":2}`, 200)
	get("/users/1/visits", `{"visits":[`+visit2+`,`+visit4+`]}`)
	get("/users/2/visits", `{"visits":[{"mark":1,"visited_at":1000,"place":"Pond"},{"mark":4,"visited_at":2000,"place":"Tower"}]}`)
	get("/locations/1/avg", `{"avg":4}`)
	get("/locations/2/avg", `{"avg":2.33333}`)
	post("/visits/1", `{"user":1,"location":1}`, 200)
	get("/users/1/visits", `{"visits":[`+allOf1+`]}`)
	get("/locations/1/avg", `{"avg":2.5}`)

	// A location's changes show in lists, a user's in averages.
	post("/locations/1", `{"place":"Mast","distance":50,"country":"Peru"}`, 200)
	get("/users/1/visits?country=Peru&toDistance=51", `{"visits":[{"mark":1,"visited_at":1000,"place":"Mast"}]}`)
	get("/users/1/visits?country=Chile", `{"visits":[]}`)
	post("/users/1", `{"gender":"m","birth_date":2147483647}`, 200)
	get("/locations/1/avg?gender=f", `{"avg":0}`)
	get("/locations/1/avg?fromAge=1&gender=m", `{"avg":4}`)

	// New records are there at once.
	post("/visits/new", whole["visits"], 200)
	get("/visits/5", whole["visits"])
	get("/locations/1/avg", `{"avg":1.66667}`)
	post("/visits/new", whole["visits"], 400)
}

// FuzzDo throws anything at the model: it must answer with one of the
// contract's statuses, and change nothing unless it answers a POST with 200.
func FuzzDo(f *testing.F) {
	for _, record := range whole {
		f.Add("POST", "/users/new", record)
	}
	f.Add("GET", "/users/1/visits?toDate&country=%", "")
	f.Add("GET", "/locations/1/avg?fromAge=-9223372036854775808&gender=m", "")
	f.Add("POST", "/visits/1", `{"user":2,"location":2}`)
	f.Add("POST", "/users/1", `{"x":[[{"\ud83d\ude00":1e5}]],"email":"bob@mail.test"}`)
	f.Add("PUT", "/users/4294967297", "[]")
	f.Fuzz(func(t *testing.T, method, target, body string) {
		m := small(t)
		before := dump(m)
		a := m.Do(method, target, []byte(body))
		switch a.Status {
		case 200:
			if method == "POST" && string(a.Body) != "{}" {
				t.Errorf("a POST answers 200 %s", a.Body)
			}
		case 400, 404, 405:
			if len(a.Body) > 0 || (a.Allow != "") != (a.Status == 405) {
				t.Errorf("got %d, Allow %q, %s", a.Status, a.Allow, a.Body)
			}
		default:
			t.Errorf("status %d", a.Status)
		}
		if (method != "POST" || a.Status != 200) && dump(m) != before {
			t.Errorf("%s %q %q answers %d, but changed something", method, target, body, a.Status)
		}
	})
}
