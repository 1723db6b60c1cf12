package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func warnings(t *testing.T, text string) (all []string) {
	t.Helper()
	_, err := Parse("f.json", []byte(text), Options{Warn: func(text string) { all = append(all, text) }})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestWarnings(t *testing.T) {
	const rest = `"upstreams": {"o": {"servers": ["h:1"]}}`
	f := func(text string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, warnings(t, "{"+rest+",\n"+text+"}")); diff != "" {
			t.Errorf("%s\n%s", text, diff)
		}
	}
	f(`"trust": ["10.0.0.0/8", "10.1.2.3", "::1", "2001:db8::/32"]`)
	f(`"trust": ["10.0.0.1/8"]`, `f.json:2:11: "10.0.0.1/8" means 10.0.0.0/8: bits beyond the first 8 do not count`)
	f(`"block": {"methods": ["TRACE", "trace", "M-Search"], "networks": ["2001:db8::1/32", "::ffff:10.0.0.1/104"]}`,
		`f.json:2:67: "2001:db8::1/32" means 2001:db8::/32: bits beyond the first 32 do not count`,
		`f.json:2:85: "::ffff:10.0.0.1/104" means ::ffff:10.0.0.0/104: bits beyond the first 104 do not count`,
		`f.json:2:32: "trace" refuses nobody who says TRACE: in methods case counts`,
		`f.json:2:41: "M-Search" refuses nobody who says M-SEARCH: in methods case counts`)
	f(`"body": {"hold": 4, "rules": [{"find": "abcde", "put": ""}, {"find": "ok", "put": ""}]}, "routes": [{"upstream": "o", "name": "a", "match": {"path": "/"}}, {"upstream": "o", "name": "b"}]`,
		`f.json:2:40: rule: never matches: the shortest match has 5 bytes, the hold limit is 4`)
}

// A route that gets no requests is told of, and no other.
func TestShadows(t *testing.T) {
	for _, c := range []struct{ before, after string }{ // host and path
		{"", ""}, {"", " /x"}, {"", "a.x"}, {"", "*.x"}, {"", "*.x /x/*"},
		{"a.x", "a.x"}, {"a.x", "A.X."}, {"a.x", "a.x /x"}, {"*.x", "a.x"}, {"*.x", "b.a.x"}, {"*.x", "*.a.x"}, {"*.x", "*.x"},
		{" /x", " /x"}, {" /x", "a.x /x"}, {" /x*", " /x"}, {" /x*", " /x/*"}, {" /x*", " /xyz*"}, {" /*", " /x"}, {" /*", " /*"},
		{"*.x /x/*", "a.x /x/y"}, {"*.x /x/*", "*.a.x /x/*"},
	} {
		if got := warnings(t, routes(c.before, c.after)); len(got) != 1 || !strings.HasSuffix(got[0], `: route "2" gets no requests: route "1", which stands before it, takes them all`) || !strings.HasPrefix(got[0], "f.json:3:1: ") {
			t.Errorf("%q, %q: %q", c.before, c.after, got)
		}
	}
	for _, c := range []struct{ before, after string }{
		{"a.x", ""}, {"a.x", "b.x"}, {"a.x", "*.x"}, {"*.x", ""}, {"*.x", "x"}, {"*.x", "a.y"}, {"*.x", "ax"}, {"*.a.x", "*.x"}, {"*.x", "*.ax"},
		{" /x", ""}, {" /x", " /x/*"}, {" /x", " /x*"}, {" /x/*", " /x"}, {" /x/*", " /*"}, {" /x*", " /X"}, {" /*", ""},
		{"*.x /x/*", "a.x /y/x"}, {"*.x /x/*", "a.y /x/y"}, {"*.x /x/*", "a.x"}, {"a.x /x", " /x"},
	} {
		if got := warnings(t, routes(c.before, c.after)); got != nil {
			t.Errorf("%q, %q: %q", c.before, c.after, got)
		}
	}
}

func routes(patterns ...string) string {
	var b strings.Builder
	b.WriteString(`{"upstreams": {"o": {"servers": ["h:1"]}}, "routes": [`)
	for i, p := range patterns {
		host, path, _ := strings.Cut(p, " ")
		fmt.Fprintf(&b, "\n{\"name\": \"%d\", \"match\": {\"host\": %q, \"path\": %q}, \"upstream\": \"o\"},", i+1, host, path)
	}
	b.WriteString("]}")
	return b.String()
}

// A list of slips does not flood the terminal, nor do many routes take long.
func TestManyWarnings(t *testing.T) {
	got := warnings(t, routes(make([]string, 100)...))
	if len(got) != mostWarnings+1 || got[mostWarnings] != "... and 79 more" {
		t.Errorf("%d: %q", len(got), got[len(got)-1])
	}
	var many []string
	for i := range 5000 {
		many = append(many, fmt.Sprintf("h%d.shop.example /%s/%d/*", i%100, strings.Repeat("long/", 200), i))
	}
	if got := warnings(t, routes(many...)); got != nil {
		t.Errorf("%q", got)
	}
}
