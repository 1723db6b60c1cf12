package data

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"redoubt/store"
)

func TestReaderUser(t *testing.T) {
	var r Reader
	accept := func(src string, want store.User) {
		t.Helper()
		var got store.User
		if err := r.User([]byte(src), &got); err != nil {
			t.Errorf("%s: %v", src, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", src, diff)
		}
	}
	name := func(s string) store.User { return store.User{Has: store.FirstName, FirstName: []byte(s)} }
	id := func(n uint32) store.User { return store.User{Has: store.ID, ID: n} }
	born := func(n int32) store.User { return store.User{Has: store.BirthDate, BirthDate: n} }
	nothing := store.User{}

	accept(`{"first_name": "Инна", "last_name": "Данатоная", "birth_date": -631065600, "gender": "f", "id": 1, "email": "coghueserriletesik@icloud.com"}`,
		store.User{Has: store.WholeUser, ID: 1, FirstName: []byte("Инна"), LastName: []byte("Данатоная"), BirthDate: -631065600, Gender: 'f', Email: []byte("coghueserriletesik@icloud.com")})
	accept(`{}`, nothing)
	accept(" \t\r\n{ \t\r\n} \t\r\n", nothing)
	accept("\n{ \"id\" \t:\r\n 7 , \"gender\" : \"m\" }\n", store.User{Has: store.ID | store.Gender, ID: 7, Gender: 'm'})

	// Integers.
	accept(`{"id":0}`, id(0))
	accept(`{"id":-0}`, id(0))
	accept(`{"id":4294967295}`, id(4294967295))
	accept(`{"birth_date":-2147483648}`, born(-2147483648))
	accept(`{"birth_date":2147483647}`, born(2147483647))
	accept(`{"birth_date":-0}`, born(0))

	// Strings: empty, at their limits in code points, escaped.
	accept(`{"first_name":""}`, name(""))
	accept(`{"first_name":"`+strings.Repeat("я", 50)+`"}`, name(strings.Repeat("я", 50)))
	accept(`{"first_name":"`+strings.Repeat("😀", 50)+`"}`, name(strings.Repeat("😀", 50)))
	accept(`{"first_name":"`+strings.Repeat(`\ud83d\ude00`, 50)+`"}`, name(strings.Repeat("😀", 50)))
	accept(`{"email":"`+strings.Repeat("a", 100)+`"}`, store.User{Has: store.Email, Email: bytes.Repeat([]byte("a"), 100)})
	accept(`{"first_name":"\"\\\/\b\f\n\r\t\u0000"}`, name("\"\\/\b\f\n\r\t\x00"))
	accept(`{"first_name":"\u0418\u043D\u043d\u0430"}`, name("Инна"))
	accept(`{"first_name":"a\u00e9b\uFFFDc\ud7ff\ue000"}`, name("aéb\uFFFDc\ud7ff\ue000"))
	accept(`{"first_name":"\uD800\uDC00\uDBFF\uDFFF"}`, name("\U00010000\U0010FFFF"))
	accept("{\"first_name\":\"\x7f\u0080\u07ff\u0800\uffff\U00010000\"}", name("\x7f\u0080\u07ff\u0800\uffff\U00010000"))
	accept(`{"gender":"\u006d"}`, store.User{Has: store.Gender, Gender: 'm'})

	// Strings with escapes do not disturb each other.
	accept(`{"first_name":"\u0061\u0062","l\u0061st_name":"\u0063","email":"\u0064x"}`,
		store.User{Has: store.FirstName | store.LastName | store.Email, FirstName: []byte("ab"), LastName: []byte("c"), Email: []byte("dx")})

	// Repeated fields: the last counts. Names may be escaped, and are
	// compared exactly.
	accept(`{"id":1,"id":2}`, id(2))
	accept(`{"id":1,"\u0069d":2}`, id(2))
	accept(`{"\u0069\u0064":3}`, id(3))
	accept(`{"ID":1,"Id":"x"," id":[],"id\u0000":null,"":0}`, nothing)
	accept(`{"mark":9,"distance":"far","place":null}`, nothing) // other entities' fields are unknown here

	// Unknown fields.
	accept(`{"x":null,"x":true,"x":false,"x":"\ud83d\ude00ё","x":[ ],"x":{ },"id":5}`, id(5))
	accept(`{"x":[0,-0,1.5,-1e9,1E+2,1e-2,0.0e0,123456789012345678901234567890]}`, nothing)
	accept(`{"x":{"a":[1, {"b" : [] } , "c"],"a":2},"id":6}`, id(6))
	accept(`{"x":`+nested(32)+`}`, nothing)

	refuse := func(src, reason string) {
		t.Helper()
		var got store.User
		err := r.User([]byte(src), &got)
		if err == nil {
			t.Errorf("%s: accepted", src)
		} else if !strings.HasPrefix(err.Error(), reason) {
			t.Errorf("%s: %v, want %s...", src, err, reason)
		}
	}
	const object = "expected an object at offset "
	refuse("", object+"0")
	refuse("  ", object+"2")
	for _, src := range []string{`[]`, `null`, `1`, `"x"`, `[{}]`, "\xef\xbb\xbf{}", "\v{}", "\u00a0{}"} {
		refuse(src, object+"0")
	}
	for _, src := range []string{`{}{}`, `{},`, `{}x`, `{}]`, "{}\x00", `{"id":1} 2`} {
		refuse(src, "expected nothing after the object")
	}

	// Known fields that are null or of another type.
	for _, value := range []string{`null`, `true`, `false`, `[]`, `[1]`, `{}`} {
		for _, field := range []string{"id", "birth_date"} {
			refuse(fmt.Sprintf(`{"%s":%s}`, field, value), field+": expected an integer at offset "+fmt.Sprint(len(field)+4))
		}
		for _, field := range []string{"email", "first_name", "last_name", "gender"} {
			refuse(fmt.Sprintf(`{"%s":%s}`, field, value), field+": expected a string at offset "+fmt.Sprint(len(field)+4))
			refuse(fmt.Sprintf(`{"%s":1}`, field), field+": expected a string")
		}
	}
	for _, value := range []string{`"1"`, `+1`, `01`, `-01`, `00`, `-`, `--1`, `.5`, `0x1`, `1.0`, `1.`, `1e2`, `1E0`, `0e0`, `-0.0`} {
		if value == "0x1" {
			refuse(`{"id":0x1}`, "expected a comma")
			continue
		}
		refuse(`{"id":`+value+`}`, "id: expected an integer")
		refuse(`{"birth_date":`+value+`}`, "birth_date: expected an integer")
	}
	for _, value := range []string{`-1`, `4294967296`, `10000000000`, `18446744073709551616`, `18446744073709551617`, strings.Repeat("9", 400)} {
		refuse(`{"id":`+value+`}`, "id: out of range")
	}
	for _, value := range []string{`-2147483649`, `2147483648`, `4294967296`, `-18446744073709551617`} {
		refuse(`{"birth_date":`+value+`}`, "birth_date: out of range")
	}
	for _, value := range []string{`""`, `"M"`, `"F"`, `"mm"`, `"x"`, `"м"`, `" m"`, `"\u0000m"`} {
		refuse(`{"gender":`+value+`}`, "gender: must be m or f at offset 10")
	}
	for field, limit := range map[string]int{"email": 100, "first_name": 50, "last_name": 50} {
		for _, char := range []string{"a", "я", "😀", `\u0061`, `\ud83d\ude00`} {
			refuse(`{"`+field+`":"`+strings.Repeat(char, limit+1)+`"}`, field+": too long")
		}
	}

	// Bad strings, in known fields, unknown ones and names.
	for body, reason := range map[string]string{
		`\x`: "a bad escape", `\u12`: "a bad escape", `\u12G4`: "a bad escape", `\U0061`: "a bad escape", `\'`: "a bad escape",
		`\ud800`: "a bad escape", `\udc00`: "a bad escape", `\ud800x`: "a bad escape", `\ud800\n`: "a bad escape", `\ud800\u0061`: "a bad escape",
		`\ud800\ud800`: "a bad escape", `\udc00\ud800`: "a bad escape", `\udbffudc00`: "a bad escape", `abcdefgh\ud800`: "a bad escape",
		"\n": "a control", "\x00": "a control", "\x1f": "a control", "abcdefgh\tabcdefgh": "a control", "яяяяя\r": "a control",
		"\x80": "bad UTF-8", "\xc0\x80": "bad UTF-8", "\xc1\xbf": "bad UTF-8", "\xc2": "bad UTF-8", "яяя\xd1": "bad UTF-8", "abcdefgяяяя\xc0\xafabcdefgh": "bad UTF-8",
		"\xe0\x80\x80": "bad UTF-8", "\xed\xa0\x80": "bad UTF-8", "\xed\xbf\xbf": "bad UTF-8", "\xf0\x80\x80\x80": "bad UTF-8", "\xf4\x90\x80\x80": "bad UTF-8", "\xff": "bad UTF-8", "\xf8\x88\x80\x80\x80": "bad UTF-8",
		"abcdefg\xffabcdefgh": "bad UTF-8", "\xe2\x82": "bad UTF-8",
	} {
		refuse(`{"email":"`+body+`"}`, "email: "+reason)
		refuse(`{"x":["`+body+`"]}`, reason)
		refuse(`{"`+body+`":1}`, reason)
	}
	refuse(`{"email":"`, "email: a string without end at offset 10")
	refuse(`{"x`, "a string without end at offset 3")

	// All of a repeated field's values are checked.
	refuse(`{"id":null,"id":1}`, "id: expected an integer")
	refuse(`{"id":1,"\u0069d":"1"}`, "id: expected an integer")
	refuse(`{"gender":"x","gender":"m"}`, "gender: must be")

	// Malformed objects.
	for _, src := range []string{`{1:2}`, `{id:1}`, `{'id':1}`, `{,}`, `{"id":1,}`, `{"id":1,,"gender":"m"}`, `{`, `{ `, `{"id":1,`, `{null:1}`} {
		refuse(src, "expected a field's name")
	}
	for _, src := range []string{`{"id"}`, `{"id" 1}`, `{"id",1}`, `{"id"`, `{"id"=1}`} {
		refuse(src, "expected a colon")
	}
	for _, src := range []string{`{"id":1`, `{"id":1 `, `{"id":1;}`, `{"id":1 "gender":"m"}`, `{"id":1]`, `{"email":"a"b}`, `{"id":1/**/}`} {
		refuse(src, "expected a comma or the object's end")
	}

	// Unknown fields are checked in full.
	for _, value := range []string{``, `nul`, `nulll`, `True`, `NaN`, `Infinity`, `undefined`, `'x'`, `[,]`, `[1,]`, `[1 2]`, `[1`, `[`, `{"a"}`, `{"a":}`,
		`{"a":1,}`, `{1:1}`, `[}`, `{]`, `[1}`, `01`, `-`, `+1`, `1.`, `.1`, `1e`, `1e+`, `1.e1`, `-x`, `[1.]`, `00`, `1.2.3`, `0x1`, `- 1`, `{"a":1`, `{"a":[}`} {
		refuse(`{"x":`+value+`}`, "")
		refuse(`{"x":[0,`+value+`]}`, "")
	}
	refuse(`{"x":`+nested(33)+`}`, "arrays and objects nested too deep at offset")
	refuse(`{"x":`+strings.Repeat("[", 100_000), "arrays and objects nested too deep at offset 37")
	refuse(`{"x":`+strings.Repeat(`{"":`, 100_000), "arrays and objects nested too deep")
	refuse(`{"x":-x}`, "a malformed number at offset 6")
	refuse(`{"x":1.x}`, "a malformed number at offset 7")
}

// nested returns arrays and objects that nest n levels deep.
func nested(n int) string {
	var head, tail string
	for i := range n {
		if i%2 == 0 {
			head, tail = head+`[1,`, `]`+tail
		} else {
			head, tail = head+`{"a":`, `}`+tail
		}
	}
	return head + "0" + tail
}

func TestReaderLocation(t *testing.T) {
	var r Reader
	accept := func(src string, want store.Location) {
		t.Helper()
		var got store.Location
		if err := r.Location([]byte(src), &got); err != nil {
			t.Errorf("%s: %v", src, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", src, diff)
		}
	}
	accept(`{"distance": 69, "city": "Белстан", "place": "Поместье", "id": 1, "country": "Белоруссия"}`,
		store.Location{Has: store.WholeLocation, ID: 1, Distance: 69, City: []byte("Белстан"), Place: []byte("Поместье"), Country: []byte("Белоруссия")})
	accept(`{"distance":4294967295}`, store.Location{Has: store.Distance, Distance: 4294967295})
	accept(`{"city":"","country":""}`, store.Location{Has: store.City | store.Country, City: []byte{}, Country: []byte{}})
	long := strings.Repeat("я", 10_000)
	accept(`{"place":"`+long+`"}`, store.Location{Has: store.Place, Place: []byte(long)})
	accept(`{"place":"\n`+long+`"}`, store.Location{Has: store.Place, Place: []byte("\n" + long)})
	accept(`{"email":null,"user":"x"}`, store.Location{})

	refuse := func(src, reason string) {
		t.Helper()
		var got store.Location
		if err := r.Location([]byte(src), &got); err == nil || !strings.HasPrefix(err.Error(), reason) {
			t.Errorf("%s: %v, want %s...", src, err, reason)
		}
	}
	refuse(`{"distance":-1}`, "distance: out of range")
	refuse(`{"distance":4294967296}`, "distance: out of range")
	refuse(`{"distance":"1"}`, "distance: expected an integer")
	refuse(`{"id":-1}`, "id: out of range")
	for _, field := range []string{"place", "country", "city"} {
		refuse(`{"`+field+`":null}`, field+": expected a string")
		refuse(`{"`+field+`":5}`, field+": expected a string")
	}
	for _, field := range []string{"country", "city"} {
		accept := strings.Repeat("ё", 50)
		var got store.Location
		if err := r.Location([]byte(`{"`+field+`":"`+accept+`"}`), &got); err != nil {
			t.Errorf("%s of 50: %v", field, err)
		}
		refuse(`{"`+field+`":"`+accept+`ё"}`, field+": too long")
	}
	refuse(`[]`, "expected an object")
	refuse(`{} {}`, "expected nothing after")
}

func TestReaderVisit(t *testing.T) {
	var r Reader
	accept := func(src string, want store.Visit) {
		t.Helper()
		var got store.Visit
		if err := r.Visit([]byte(src), &got); err != nil {
			t.Errorf("%s: %v", src, err)
		} else if got != want {
			t.Errorf("%s: %+v, want %+v", src, got, want)
		}
	}
	accept(`{"user": 52, "location": 61, "visited_at": 1049447314, "id": 1, "mark": 3}`,
		store.Visit{Has: store.WholeVisit, ID: 1, User: 52, Location: 61, VisitedAt: 1049447314, Mark: 3})
	accept(`{"mark":0}`, store.Visit{Has: store.Mark})
	accept(`{"mark":5}`, store.Visit{Has: store.Mark, Mark: 5})
	accept(`{"visited_at":-2147483648}`, store.Visit{Has: store.VisitedAt, VisitedAt: -2147483648})
	accept(`{"user":4294967295,"location":0}`, store.Visit{Has: store.ByUser | store.AtLocation, User: 4294967295})

	refuse := func(src, reason string) {
		t.Helper()
		var got store.Visit
		if err := r.Visit([]byte(src), &got); err == nil || !strings.HasPrefix(err.Error(), reason) {
			t.Errorf("%s: %v, want %s...", src, err, reason)
		}
	}
	for _, field := range []string{"id", "user", "location"} {
		refuse(`{"`+field+`":-1}`, field+": out of range")
		refuse(`{"`+field+`":4294967296}`, field+": out of range")
		refuse(`{"`+field+`":null}`, field+": expected an integer")
	}
	refuse(`{"visited_at":2147483648}`, "visited_at: out of range")
	refuse(`{"visited_at":1.5}`, "visited_at: expected an integer, without fraction")
	refuse(`{"mark":6}`, "mark: out of range")
	refuse(`{"mark":-1}`, "mark: out of range")
	refuse(`{"mark":256}`, "mark: out of range") // not 0
	refuse(`{"mark":3.0}`, "mark: expected an integer")
	refuse(`{"mark":"3"}`, "mark: expected an integer")
}

// TestReaderNames writes each field's name plainly, with an escape and with
// blanks, before other bytes and near the input's end; and names that are
// almost known.
func TestReaderNames(t *testing.T) {
	var r Reader
	for k, known := range fieldNames {
		for _, f := range known {
			name, value := f.name, "3"
			if rule := rules[kind(k)][name]; rule.runes > 0 {
				value = `"3"`
			} else if rule.words != nil {
				value = `"m"`
			}
			escaped := fmt.Sprintf(`\u%04x`, name[0]) + name[1:]
			for _, form := range []string{`{"%s":%s}`, `{"%s": %s, "x": "a long rest of it"}`, `{"%s" : %s }`, "{\"%s\"\n:\t%s,\"x\":\"a long rest of it\"}"} {
				for _, written := range []string{name, escaped} {
					src := fmt.Sprintf(form, written, value)
					record, err := read(&r, kind(k), []byte(src))
					if given := fields(record); err != nil || len(given) != 1 || given[name] == nil {
						t.Errorf("%v %s: %v, %v", kind(k), src, given, err)
					}
				}
				for _, other := range []string{name + "s", name[1:], "x" + name, strings.ToUpper(name), name[:len(name)-1], name + " ", name + `\"`} {
					src := fmt.Sprintf(form, other, value)
					record, err := read(&r, kind(k), []byte(src))
					if given := fields(record); err != nil || len(given) != 0 {
						t.Errorf("%v %s: %v, %v", kind(k), src, given, err)
					}
				}
			}
			bad := fmt.Sprintf(`{"%s":null,"x":"a long rest of it"}`, name)
			_, err := read(&r, kind(k), []byte(bad))
			var e *Error
			if !errors.As(err, &e) || e.Field != name {
				t.Errorf("%v %s (%s): %v", kind(k), bad, name, err)
			}
		}
	}
}

// TestReaderError looks at the error as a value: it outlives the next call.
func TestReaderError(t *testing.T) {
	var r Reader
	first := r.User([]byte(`{"email": 1}`), new(store.User))
	second := r.User([]byte(`{"id": 1`), new(store.User))
	var e *Error
	if !errors.As(first, &e) || *e != (Error{Field: "email", Reason: "expected a string", Offset: 10}) {
		t.Errorf("first error: %+v", e)
	}
	if !errors.As(second, &e) || *e != (Error{Reason: "expected a comma or the object's end", Offset: 8}) {
		t.Errorf("second error: %+v", e)
	}
}

// wholes holds inputs of every feature, one per kind, that are valid.
var wholes = map[kind]string{
	users: `{"first_name": "Инна", "l\u0061st_name": "Дан\u0430т\ud83d\ude00", "birth_date": -631065600, "gender": "f", "id": 1, "email": "a€@😀.com",` +
		`"x": {"a": [1, -2.5e+3, true, false, null, "\n", {}], "b": []}}`,
	locations: "{\"distance\": 69,\r\n\t\"city\": \"Белстан\", \"place\": \"По\\\\местье\", \"id\": 1, \"country\": \"Белоруссия\"}",
	visits:    `{"user": 52, "location": 61, "visited_at": 1049447314, "id": 1, "mark": 3, "mark": 4}`,
}

// read reads src as a body of kind k.
func read(r *Reader, k kind, src []byte) (any, error) {
	switch k {
	case users:
		u := new(store.User)
		return u, r.User(src, u)
	case locations:
		l := new(store.Location)
		return l, r.Location(src, l)
	default:
		v := new(store.Visit)
		return v, r.Visit(src, v)
	}
}

// TestTruncation cuts bodies at every byte. The cut ends the slice's capacity
// too, so any read beyond it would panic.
func TestTruncation(t *testing.T) {
	var r Reader
	for k, src := range wholes {
		if _, err := read(&r, k, []byte(src)); err != nil {
			t.Fatal(err)
		}
		for n := range len(src) {
			cut := bytes.Clone([]byte(src[:n]))
			if _, err := read(&r, k, cut[:n:n]); err == nil {
				t.Errorf("cut to %d bytes, %s was accepted", n, src)
			}
		}
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	var r Reader
	u, l, v := new(store.User), new(store.Location), new(store.Visit)
	bodies := map[kind][]byte{}
	for k, src := range wholes {
		bodies[k] = []byte(src)
	}
	if n := testing.AllocsPerRun(100, func() {
		if r.User(bodies[users], u) != nil || r.Location(bodies[locations], l) != nil || r.Visit(bodies[visits], v) != nil {
			t.Fatal("a valid body was refused")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPlain compares the search in words with the one in bytes, on random
// strings of everything the two tell apart.
func TestPlain(t *testing.T) {
	pieces := []string{"a", "Z", "~", "\x7f", " ", "я", "Ё", "\u0080", "\u07ff", "\u0800", "€", "\uffff", "😀",
		"abcdefgh", "абвг", "абвгдежз", `"`, `\`, "\x1f", "\x00", "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xd1", "\xe2\x82", "\xed\xa0\x80", "\xff"}
	for round := range 50_000 {
		rng := rand.New(rand.NewPCG(1, uint64(round)))
		var b []byte
		for range rng.IntN(12) {
			n := len(pieces)
			if rng.IntN(2) == 0 {
				n = 16 // nothing special so far
			}
			b = append(b, pieces[rng.IntN(n)]...)
		}
		b = b[:len(b):len(b)]
		if got, want := plain(b, 0), plainBytes(b, 0); got != want {
			t.Fatalf("round %d: plain(%q) = %d, want %d", round, b, got, want)
		}
	}
}
