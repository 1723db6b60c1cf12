package rewrite

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"redoubt/netloop/http1"
)

var testVars = Vars{
	Client: []byte("192.0.2.7"), Host: []byte("shop.example"), Path: []byte("/a/b"), RequestID: []byte("f00d"), Upstream: []byte("127.0.0.1:9000"),
}

// parse reads a head of lines that end in LF. The first of a request's is not
// among them; an answer has no Host.
func parse(t testing.TB, side Side, lines string) Head {
	t.Helper()
	lines = strings.ReplaceAll(lines, "\n", "\r\n")
	if side == Response {
		a := new(http1.Response)
		if n, fault := a.Parse([]byte("HTTP/1.1 200 OK\r\n" + lines + "\r\n")); n == 0 {
			t.Fatalf("%q: %v", lines, fault)
		}
		return a
	}
	r := new(http1.Request)
	if n, fault := r.Parse([]byte("GET / HTTP/1.0\r\n" + lines + "\r\n")); n == 0 {
		t.Fatalf("%q: %v", lines, fault)
	}
	return r
}

// apply is what a proxy does with a head.
func apply(r *Rules, out *http1.Segments, h Head, v *Vars) {
	for _, f := range h.Fields() {
		if !r.Field(out, h, f, v) {
			out.Raw(h.Line(f))
		}
	}
	r.Added(out, v)
}

// applied is what apply makes, with LF as the end of lines.
func applied(r *Rules, h Head, v *Vars) string {
	var out http1.Segments
	apply(r, &out, h, v)
	return strings.ReplaceAll(string(bytes.Join(out.List(), nil)), "\r\n", "\n")
}

func compile(t testing.TB, o Options, side Side) *Rules {
	t.Helper()
	r, err := Compile(o, side)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHeads(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		side Side
		in   string
		want string
	}{
		{"no rules", Options{}, Request, "Host: a\nX-A: 1\n", "Host: a\nX-A: 1\n"},

		// Names, in whatever case, known or not, repeated or not.
		{"remove", Options{Remove: []string{"SERVER", "x-debug"}}, Response, "Server: a\nX-DEBUG: 1\nX-Debug2: 2\nserver: b\n", "X-Debug2: 2\n"},
		{"remove one of the same length", Options{Remove: []string{"X-Ab"}}, Response, "X-Aa: 1\nX-Ac: 2\nx-aB: 3\n", "X-Aa: 1\nX-Ac: 2\n"},
		{"^ is not ~", Options{Remove: []string{"x^"}}, Response, "X~: 1\nX^: 2\n", "X~: 1\n"},
		{"a name over 64 bytes", Options{Remove: []string{strings.Repeat("n", 70)}}, Response,
			strings.Repeat("n", 71) + ": 1\n" + strings.Repeat("N", 70) + ": 2\n", strings.Repeat("n", 71) + ": 1\n"},

		{"set", Options{Set: []Field{{"x-real-ip", "$client"}}}, Request, "X-Real-IP: 1\nA: b\nX-REAL-IP: 2\n", "A: b\nx-real-ip: 192.0.2.7\n"},
		{"set what is not there", Options{Set: []Field{{"Server", "s"}}}, Response, "A: b\n", "A: b\nServer: s\n"},
		{"set to nothing", Options{Set: []Field{{"Server", ""}}}, Response, "Server: b\n", "Server: \n"},
		{"add", Options{Add: []Field{{"Via", "1.1 a"}, {"Via", "1.1 b"}}}, Response, "Via: 1.1 o\n", "Via: 1.1 o\nVia: 1.1 a\nVia: 1.1 b\n"},
		{"remove and add", Options{Remove: []string{"via"}, Add: []Field{{"Via", "1"}}}, Response, "Via: 0\n", "Via: 1\n"},
		{"set and add", Options{Set: []Field{{"A", "1"}}, Add: []Field{{"a", "2"}}}, Response, "A: 0\n", "A: 1\na: 2\n"},
		{"all variables", Options{Add: []Field{{"A", "$client,$host,${path},$request_id,$upstream$$client ${host}s$hostS"}}}, Request, "",
			"A: 192.0.2.7,shop.example,/a/b,f00d,127.0.0.1:9000$client shop.examplesshop.exampleS\n"},

		// Values.
		{"literal", Options{Headers: []Rule{{"Location", "//a.b", "//c", "l"}}}, Response, "Location: http://a.b/?//a.b\n", "Location: http://c/?//a.b\n"},
		{"literal, each", Options{Headers: []Rule{{"Location", "//a.b", "//c", "gl"}}}, Response, "Location: http://a.b/?//a.b\n", "Location: http://c/?//c\n"},
		{"ignoring case", Options{Headers: []Rule{{"Location", "//A.B", "//c", "il"}}}, Response, "Location: //aXb//a.b\n", "Location: //aXb//c\n"},
		{"expression", Options{Headers: []Rule{{"location", `//(\w+)\.b`, "//$1.c/$&$$", ""}}}, Response, "LOCATION: http://a.b/\n", "LOCATION: http://a.c///a.b$/\n"},
		{"only the first", Options{Headers: []Rule{{"A", "x+", "y", ""}}}, Response, "A: xxaxx\n", "A: yaxx\n"},
		{"each", Options{Headers: []Rule{{"A", "x+", "y", "g"}}}, Response, "A: xxaxx\n", "A: yay\n"},
		{"empty matches", Options{Headers: []Rule{{"A", "x*", "-", "g"}}}, Response, "A: axxb\n", "A: -a-b-\n"},
		{"no literal", Options{Headers: []Rule{{"A", "", "-", "gl"}, {"B", "", "", "gl"}, {"C", "", "-", "l"}}}, Response, "A: ab\nB: ab\nC: ab\n", "A: -a-b-\nB: ab\nC: -ab\n"},
		{"an anchored literal", Options{Headers: []Rule{{"A", "^x$", "-", "g"}}}, Response, "A: axxb\nA: x\n", "A: axxb\nA: -\n"},
		{"a group that has not matched", Options{Headers: []Rule{{"A", "(x)|y", "<$1>", "g"}}}, Response, "A: xy\n", "A: <x><>\n"},
		{"digits kept apart", Options{Headers: []Rule{{"A", "(x)", "${1}0", ""}}}, Response, "A: x\n", "A: x0\n"},
		{"to nothing", Options{Headers: []Rule{{"A", ".*", "", ""}}}, Response, "A: x\nB: c\n", "A: \nB: c\n"},
		{"each of repeated lines", Options{Headers: []Rule{{"Set-Cookie", "Domain=a", "Domain=b", "i"}}}, Response,
			"Set-Cookie: x=1; domain=a\nSet-Cookie: y=2\nSet-Cookie: z=3; Domain=a\n", "Set-Cookie: x=1; Domain=b\nSet-Cookie: y=2\nSet-Cookie: z=3; Domain=b\n"},
		{"in order, each on the one before", Options{Headers: []Rule{{"A", "a", "b", ""}, {"a", "b", "cc", "g"}, {"A", "z", "", ""}, {"A", "cc$", "d", ""}}},
			Response, "A: abab\nA: q\n", "A: ccccad\nA: q\n"},
		{"variables", Options{Headers: []Rule{{"A", "x", "$host${path}x", "g"}}}, Request, "A: x.x\n", "A: shop.example/a/bx.shop.example/a/bx\n"},
		{"not on what is set", Options{Set: []Field{{"A", "x"}}, Add: []Field{{"B", "x"}}, Headers: []Rule{{"A", "x", "y", ""}, {"B", "x", "y", ""}}},
			Response, "A: x\nB: x\n", "B: y\nA: x\nB: x\n"},
		{"bytes beyond ASCII", Options{Headers: []Rule{{"A", "ä", "\xff", "g"}}}, Response, "A: ä\xe4ä\n", "A: \xff\xe4\xff\n"},

		// Host is always there, and always one.
		{"set host", Options{Set: []Field{{"Host", "b:80"}}}, Request, "Host: a\n", "Host: b:80\n"},
		{"set host in HTTP/1.0", Options{Set: []Field{{"host", "$upstream"}}}, Request, "", "host: 127.0.0.1:9000\n"},
		{"set host to no host", Options{Set: []Field{{"Host", "$path"}}}, Request, "Host: a\n", "Host: a\n"},
		{"set host to nothing", Options{Set: []Field{{"Host", "$upstream$upstream"}}}, Request, "Host: a\n", "Host: a\n"},
		{"rewrite host", Options{Headers: []Rule{{"Host", `^www\.`, "", ""}}}, Request, "Host: www.a\n", "Host: a\n"},
		{"rewrite host to nothing", Options{Headers: []Rule{{"Host", `.*`, "", ""}}}, Request, "Host: www.a\n", "Host: www.a\n"},
		{"rewrite host to no host", Options{Headers: []Rule{{"Host", `a`, "/", ""}}}, Request, "Host: www.a\n", "Host: www.a\n"},
		{"host of an answer", Options{Remove: []string{"Host"}, Add: []Field{{"Host", "/"}}}, Response, "Host: a\n", "Host: /\n"},
	}
	for _, test := range tests {
		r := compile(t, test.o, test.side)
		if got := applied(r, parse(t, test.side, test.in), &testVars); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestNil(t *testing.T) {
	h := parse(t, Request, "Host: a\nX-A: 1\n")
	for _, r := range []*Rules{nil, compile(t, Options{}, Request), Join(nil, nil)} {
		if got := applied(r, h, nil); got != "Host: a\nX-A: 1\n" {
			t.Errorf("%q", got)
		}
		out, changed, ok := r.URL(nil, []byte("/"), nil)
		if out != nil || changed || !ok {
			t.Error(out, changed, ok)
		}
		out, changed, ok = r.Value(nil, []byte("A"), []byte("b"), nil)
		if out != nil || changed || !ok || r.Owns(http1.Server) || r.OwnsName("X-A") {
			t.Error(out, changed, ok)
		}
	}
}

// Whatever is in a variable or in what a group has matched, no line is broken.
func TestHostileValues(t *testing.T) {
	h := parse(t, Request, "Host: a\nA: x\nB: y\n")
	for _, path := range []string{"/\r\nX: y", "/\n", "\r", "\x00", "\x7f", strings.Repeat("/", http1.MaxHead+1)} {
		v := testVars
		v.Path = []byte(path)
		r := compile(t, Options{
			Set:     []Field{{"Host", "$path"}, {"C", "${path}1"}, {"D", "2"}},
			Add:     []Field{{"B", "$path"}},
			Headers: []Rule{{"A", "x", "$path", ""}, {"B", "y", "z", "l"}},
		}, Request)
		if got, want := applied(r, h, &v), "Host: a\nB: z\nD: 2\n"; got != want {
			t.Errorf("%.20q: %q, want %q", path, got, want)
		}
		if out, changed, ok := r.Value(nil, []byte("A"), []byte("x"), &v); out != nil || !changed || ok {
			t.Errorf("%.20q: trailer %q, %v, %v", path, out, changed, ok)
		}
	}
}

// Rules that square what the client sends are stopped.
func TestResultsAreBounded(t *testing.T) {
	v := testVars
	v.Path = bytes.Repeat([]byte("/"), http1.MaxTarget)
	for _, flags := range []string{"g", "gl"} {
		r := compile(t, Options{URL: []Rule{{"", "/", "$path", flags}}, Headers: []Rule{{"A", "/", "$path", flags}},
			Add: []Field{{"D", strings.Repeat("$path", 10)}}}, Request)
		if out, changed, ok := r.URL(nil, v.Path, &v); out != nil || !changed || ok {
			t.Errorf("%d bytes, %v, %v", len(out), changed, ok)
		}
		if got := applied(r, parse(t, Request, "A: "+string(v.Path)+"\nB: c\n"), &v); got != "B: c\n" {
			t.Errorf("%d bytes", len(got))
		}
		if cap(v.room) > keepRoom {
			t.Errorf("%d bytes are kept", cap(v.room))
		}
	}
}

// Expressions that would go over the same bytes again and again are stopped:
// without a bound this takes minutes.
func TestMatchesAreBounded(t *testing.T) {
	v := testVars
	a := func(n int) string { return strings.Repeat("a", n) }
	far := []Rule{{"A", "(?:a.*b|a)", "-", "g"}, {"B", "a", "", "g"}, {"C", "[ax]", "-", ""}, {"Host", "[ax]", "y", "g"}}
	r := compile(t, Options{Headers: far}, Request)
	for _, test := range []struct{ name, in, want string }{
		{"a long value", "A: " + a(30<<10) + "\nD: d\n", "D: d\n"},
		{"as many as may be", "A: " + a(512) + strings.Repeat(".", 512) + "\n", "A: " + strings.Repeat("-", 512) + strings.Repeat(".", 512) + "\n"},
		{"one more", "A: " + a(513) + strings.Repeat(".", 511) + "\n", ""},
		{"an end that is near", "A: " + a(1000) + "b\n", "A: -\n"},
		{"many values", strings.Repeat("A: "+a(500)+"\n", 50), strings.Repeat("A: "+strings.Repeat("-", 500)+"\n", 2)},
		{"literal text", "B: " + a(30<<10) + "\n", "B: \n"},
		{"without g", "A: " + a(2<<10) + "\nC: " + a(2<<10) + "\n", "C: -" + a(2<<10-1) + "\n"},
		{"Host after all that", "A: " + a(30<<10) + "\nHost: ax\nA: a\n", "Host: yy\nA: -\n"},
		{"another head", "A: " + a(500) + "\n", "A: " + strings.Repeat("-", 500) + "\n"},
	} {
		if got := applied(r, parse(t, Request, test.in), &v); got != test.want {
			t.Errorf("%s: %d bytes: %.100q", test.name, len(got), got)
		}
	}
	for n, want := range map[int]bool{700: true, 8000: false} {
		r := compile(t, Options{URL: []Rule{{"", "(?:a.*b|a)", "-", "g"}}}, Request)
		for range 3 {
			if out, changed, ok := r.URL(nil, []byte("/"+a(n)), &v); !changed || ok != want || ok && len(out) != n+1 {
				t.Errorf("a target of %d bytes: %d, %v, %v", n, len(out), changed, ok)
			}
		}
		r = compile(t, Options{Headers: far}, Request)
		for range 3 {
			if out, changed, ok := r.Value(nil, []byte("A"), []byte(a(n)), &v); !changed || ok != want || ok && len(out) != n {
				t.Errorf("a trailer of %d bytes: %d, %v, %v", n, len(out), changed, ok)
			}
		}
	}
}

// A head that loses one field and gains two costs new memory for the two.
func TestUnchangedLinesAreViews(t *testing.T) {
	in := []byte("HTTP/1.1 200 OK\r\nDate: x\r\nServer: a\r\nA: b\r\nLocation: /x\r\nC: d\r\n\r\n")
	whole := string(in)
	var a http1.Response
	a.Parse(in)
	r := compile(t, Options{Remove: []string{"Server"}, Set: []Field{{"X-Real-IP", "$client"}}, Add: []Field{{"X-Served-By", "redoubt"}},
		Headers: []Rule{{"Location", "^/", "/z/", ""}, {"A", "nothing", "x", ""}}}, Response)
	var out http1.Segments
	v := testVars
	apply(r, &out, &a, &v)
	var fresh []byte
	for _, segment := range out.List() {
		at := strings.Index(whole, string(segment))
		if at < 0 || &in[at] != &segment[0] {
			fresh = append(fresh, segment...)
		}
	}
	if want := "Location: /z/x\r\nX-Real-IP: 192.0.2.7\r\nX-Served-By: redoubt\r\n"; string(fresh) != want {
		t.Errorf("new are %q, want %q", fresh, want)
	}
	if n := len(out.List()); n != 5 { // three runs of views, and between and behind them what is new
		t.Errorf("%d segments: %q", n, out.List())
	}
}

func TestJoin(t *testing.T) {
	outer := Options{
		Remove:  []string{"Server"},
		Set:     []Field{{"A", "outer"}, {"B", "outer"}, {"C", "outer"}},
		Add:     []Field{{"D", "outer"}, {"E", "outer"}},
		Headers: []Rule{{"V", "1", "2", ""}},
	}
	inner := Options{
		Remove:  []string{"b", "e"},
		Set:     []Field{{"a", "inner"}},
		Add:     []Field{{"C", "inner"}, {"D", "inner"}, {"Server", "inner"}},
		Headers: []Rule{{"V", "2", "3", ""}, {"W", "1", "4", ""}},
	}
	in := "Server: 0\nA: 0\nB: 0\nC: 0\nD: 0\nE: 0\nV: 1\nW: 1\n"
	a, b := compile(t, outer, Response), compile(t, inner, Response)
	h := parse(t, Response, in)
	before := applied(a, h, &testVars) + applied(b, h, &testVars)
	want := "D: 0\nV: 3\nW: 4\nC: outer\nD: outer\na: inner\nC: inner\nD: inner\nServer: inner\n"
	if got := applied(Join(a, b), h, &testVars); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The other way round rules on V come in the other order.
	want = "D: 0\nV: 2\nW: 4\nD: inner\nA: outer\nB: outer\nC: outer\nD: outer\nE: outer\n"
	if got := applied(Join(b, a), h, &testVars); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if after := applied(a, h, &testVars) + applied(b, h, &testVars); after != before {
		t.Errorf("what was joined is now %q, was %q", after, before)
	}
	if Join(a, nil) != a || Join(nil, b) != b {
		t.Error("of one the other is made")
	}
}

func TestJoinHost(t *testing.T) {
	outer := compile(t, Options{Set: []Field{{"Host", "outer"}}, URL: []Rule{{"", "^/", "/b/", ""}}}, Request)
	rewrites := compile(t, Options{Headers: []Rule{{"Host", "a", "b", ""}}, URL: []Rule{{"", "b", "c", ""}}}, Request)
	sets := compile(t, Options{Set: []Field{{"Host", "inner"}}}, Request)
	h := parse(t, Request, "Host: a\n")
	if got := applied(Join(outer, rewrites), h, &testVars); got != "Host: outer\n" {
		t.Errorf("%q", got)
	}
	if got := applied(Join(outer, sets), h, &testVars); got != "Host: inner\n" {
		t.Errorf("%q", got)
	}
	if out, _, _ := Join(outer, rewrites).URL(nil, []byte("/x"), &testVars); string(out) != "/c/x" {
		t.Errorf("%q", out)
	}
	if out, _, _ := Join(rewrites, outer).URL(nil, []byte("/x"), &testVars); string(out) != "/b/x" {
		t.Errorf("%q", out)
	}
}

func TestOwns(t *testing.T) {
	r := compile(t, Options{Remove: []string{"via", "X-Debug"}, Set: []Field{{"DATE", "x"}, {"x-set", "y"}},
		Add: []Field{{"X-Added", "1"}, {"Server", "s"}}, Headers: []Rule{{"X-Ruled", "a", "b", ""}, {"Location", "a", "b", ""}}}, Response)
	for k := range http1.Known(64) {
		if got, want := r.Owns(k), k == http1.Via || k == http1.Date; got != want {
			t.Errorf("%v: %v", k, got)
		}
		if got, want := r.OwnsName(k.String()), r.Owns(k); got != want {
			t.Errorf("%v by name: %v", k, got)
		}
	}
	for _, name := range []string{"x-debug", "X-SET", "via", "X-Added", "X-Ruled", "X-None", "", "x-se", "Location", "Server"} {
		want := slices.Contains([]string{"x-debug", "X-SET", "via"}, name)
		if r.OwnsName(name) != want {
			t.Errorf("%s: %v", name, r.OwnsName(name))
		}
	}
}

func TestValue(t *testing.T) {
	r := compile(t, Options{Headers: []Rule{{"X-Sum", "a", "bb", "g"}, {"Host", `^(.*)\.old$`, "$1", ""}}}, Request)
	tests := []struct {
		name, value, want string
		changed           bool
	}{
		{"x-sum", "aca", "bbcbb", true},
		{"X-SUM", "cc", "", false},
		{"X-Other", "a", "", false},
		{"Host", "a.old", "a", true},
		{"Host", ".old", "", false}, // would be empty
	}
	for _, test := range tests {
		out, changed, ok := r.Value([]byte("> "), []byte(test.name), []byte(test.value), &testVars)
		want := ""
		if test.changed {
			want = "> " + test.want
		}
		if string(out) != want || changed != test.changed || !ok {
			t.Errorf("%s: %q, %v, %v", test.name, out, changed, ok)
		}
	}
}

func TestURL(t *testing.T) {
	long := "/" + strings.Repeat("x", http1.MaxTarget-1)
	tests := []struct {
		rules        []Rule
		target, want string // the same: unchanged; "": no target
	}{
		{[]Rule{{"", "^/old/(.*)", "/new/$1", ""}}, "/old/a?b=c", "/new/a?b=c"},
		{[]Rule{{"", "^/old/(.*)", "/new/$1", ""}}, "/Old/a", "/Old/a"},
		{[]Rule{{"", "^/old/(.*)", "/new/$1", "i"}}, "/Old/a", "/new/a"},
		{[]Rule{{"", "^/a$", "/b", ""}, {"", "^/b$", "/c", ""}, {"", "x", "y", ""}}, "/a", "/c"},
		{[]Rule{{"", "^/c$", "/d", ""}, {"", "^/a$", "/c", ""}}, "/a", "/c"},
		{[]Rule{{"", `\?.*`, "", ""}}, "/a?b", "/a"},
		{[]Rule{{"", "a", "$host", "g"}}, "/a/a", "/shop.example/shop.example"},
		{[]Rule{{"", "a", "a", ""}}, "/aa", "/aa"}, // matches, and stays as it is
		{[]Rule{{"", "^/", "", ""}}, "/a", ""},
		{[]Rule{{"", ".*", "", ""}}, "/a", ""},
		{[]Rule{{"", "^/", "", ""}, {"", "^", "/", ""}}, "/a", "/a"}, // only the last result counts
		{[]Rule{{"", "$", "x", ""}}, long, ""},
		{[]Rule{{"", "x$", "y", ""}}, long, long[:len(long)-1] + "y"},
		{[]Rule{{"", "^/", "http://a/", ""}}, "/b", ""},
	}
	for _, test := range tests {
		r := compile(t, Options{URL: test.rules}, Request)
		out, changed, ok := r.URL([]byte("> "), []byte(test.target), &testVars)
		switch {
		case test.want == "":
			if out != nil || !changed || ok {
				t.Errorf("%q on %.20q: %.20q, %v, %v", test.rules, test.target, out, changed, ok)
			}
		case !changed:
			if out != nil || !ok || test.want != test.target {
				t.Errorf("%q on %.20q: %.20q, %v, %v", test.rules, test.target, out, changed, ok)
			}
		case string(out) != "> "+test.want || !ok:
			t.Errorf("%q on %.20q: %.20q, %v", test.rules, test.target, out, ok)
		}
	}
	for _, path := range []string{"/\r\nX: y", " ", "\x00", "#", "\x80"} {
		v := testVars
		v.Path = []byte(path)
		r := compile(t, Options{URL: []Rule{{"", "a", "$path", ""}}}, Request)
		if out, changed, ok := r.URL(nil, []byte("/a"), &v); out != nil || !changed || ok {
			t.Errorf("%q passes: %q", path, out)
		}
	}
}
