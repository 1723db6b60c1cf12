package rewrite

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"redoubt/netloop/http1"
)

// What comes of a target is a target, whatever rules and variables bring.
func FuzzURL(f *testing.F) {
	f.Add("/old/a?b", "^/old/(.*)", "/new/$1", "", "/x")
	f.Add("/aaa", "a", "$path", "g", "/\r\nX: y")
	f.Add("/a", "^/", "", "", "")
	f.Add("/aAa", "a", "$&$$b", "gil", "")
	f.Fuzz(func(t *testing.T, target, find, put, flags, path string) {
		r, err := Compile(Options{URL: []Rule{{Find: find, Put: put, Flags: flags}}}, Request)
		if err != nil {
			return
		}
		out, changed, ok := r.URL(nil, []byte(target), &Vars{Path: []byte(path)})
		if changed && ok && !legalTarget(string(out)) {
			t.Errorf("%q", out)
		}
		if !changed && !ok || out != nil && !(changed && ok) {
			t.Errorf("%q, %v, %v", out, changed, ok)
		}
	})
}

// What comes of a head is a head with the lines that it should have.
func FuzzHead(f *testing.F) {
	f.Add("a b a", "a", "$path", "g", "/x", "$path$client")
	f.Add("a", "(a)", "$1\t", "", "/\r\nX: y", "1")
	f.Fuzz(func(t *testing.T, value, find, put, flags, path, set string) {
		r, err := Compile(Options{Headers: []Rule{{Name: "A", Find: find, Put: put, Flags: flags}}, Set: []Field{{"B", set}, {"Host", set}}}, Request)
		if err != nil {
			return
		}
		var in http1.Request
		if n, _ := in.Parse([]byte("GET / HTTP/1.1\r\nHost: h\r\nA: " + value + "\r\nB: 1\r\n\r\n")); n == 0 || len(in.Fields()) != 3 {
			return
		}
		var out http1.Segments
		apply(r, &out, &in, &Vars{Path: []byte(path)})
		out.EndHead()
		head := append([]byte("GET / HTTP/1.1\r\n"), bytes.Join(out.List(), nil)...)
		var again http1.Request
		if n, fault := again.Parse(head); fault != http1.HeadTooLong && (n != len(head) || fault != 0) {
			t.Fatalf("%q: %v", head, fault)
		}
		if len(again.Fields()) > 3 {
			t.Errorf("%q", head)
		}
	})
}

// Every text is understood whole, or its error tells a place in it.
func FuzzPut(f *testing.F) {
	for _, text := range []string{"a$1", "$&$$${2}", "$client_", "${path}x", "$", "${", "$99999999999999999999", "a\nb", "${12", "$_"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, rule := range []Rule{{Find: "(a)(b)?"}, {Find: "a"}, {Find: "a", Flags: "l"}} {
			rule.Put = in
			r, err := Compile(Options{URL: []Rule{rule}}, Request)
			if e, ok := errors.AsType[*Error](err); ok {
				if e.Key != "put" || e.Offset < 0 || e.Offset >= len(in) || strings.IndexByte("$", in[e.Offset]) < 0 && inTarget(in[e.Offset]) {
					t.Errorf("%q: %+v", in, e)
				}
				continue
			}
			// Variables that stand for themselves, groups that are empty: what
			// is left is what was written.
			got := r.url[0].put.append(nil, nil, []int{0, 0, 0, 0, 0, 0}, &Vars{Client: []byte("C"), Path: []byte("P")})
			m := model{vars: map[string]string{"client": "C", "path": "P"}}
			want := m.replace(Rule{Find: "()()", Put: in}, "")
			if string(got) != want {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		}
	})
}
