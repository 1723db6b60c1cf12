package filter

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"redoubt/netloop/http1"
)

var (
	escape  = regexp.MustCompile("%[0-9a-fA-F]{2}")
	slashes = regexp.MustCompile("/+")

	parametersSent    = regexp.MustCompile("(?s);[^/]*")
	parametersEscaped = regexp.MustCompile("(?s)(;|%3[bB])[^/]*")
)

func slowDecode(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		const digits = "0123456789abcdef"
		e = strings.ToLower(e)
		return string([]byte{byte(strings.IndexByte(digits, e[1])*16 + strings.IndexByte(digits, e[2]))})
	})
}

// slowRead is target.read in the words of its description.
func slowRead(as reading, path string) (read string, up bool) {
	is := func(what reading) bool { return as&what != 0 }
	if is(cut) {
		path = parametersSent.ReplaceAllString(path, "")
	}
	if !is(opaque) {
		path = slowDecode(path)
	}
	if is(slashed) {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	switch {
	case is(recut) && is(opaque):
		path = parametersEscaped.ReplaceAllString(path, "")
	case is(recut):
		path = parametersSent.ReplaceAllString(path, "")
	}
	if !is(empty) {
		path = slashes.ReplaceAllString(path, "/")
	}
	var have []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		meant := s
		if is(opaque) {
			meant = slowDecode(s)
		}
		dots := meant == "." || meant == ".."
		if meant == ".." {
			up = true
			have = have[:max(0, len(have)-1)]
		}
		switch {
		case !dots:
			have = append(have, s)
		case i == len(segments)-1:
			have = append(have, "")
		}
	}
	path = "/" + strings.Join(have, "/")
	if is(opaque) {
		path = slowDecode(path)
	}
	return slashes.ReplaceAllString(path, "/"), up
}

func FuzzReading(f *testing.F) {
	for _, path := range []string{
		"/", "//", "/.", "/..", "/./", "/../", "/a/.", "/a/..", "/a//..", "/a/b/../../..", "/%", "/%2", "/%2e", "/%2E%2e/x", "/%%2e", "/%252e",
		"/a%2f../b", "/a%2fb/../c", "/a/..%2fb", "//a//../b", "/...", "/.a", "/a.", "/a./b", "/%2e%2e%2e", "/.%2", "/%00", "/%ff/%c3%a9", "/.%2e/.",
		"/;", "/a;b/c", "/a;b%2fc/..;/d", "/..;a/;/b", "/%3ba/..%3B%2fb/c", "/%%3b/x", "/%3", "/a\\..\\b", "/a%5c..%5Cb\\c", "/;a\\..\\b/c", "/a;%5c../b", "/\\;/\\",
	} {
		f.Add(path[1:])
	}
	f.Fuzz(func(t *testing.T, rest string) {
		path := "/" + rest
		if len(path) > http1.MaxTarget {
			return
		}
		kept := "kept"
		is := target{}.parse([]byte(path))
		for as := range readings {
			got, up := is.read([]byte(kept), as, len(path))
			got = got[len(kept):]
			want, wantUp := slowRead(as, path)
			if string(got) != want || up != wantUp {
				t.Errorf("%05b of %q: %q, %v, not %q, %v", as, path, got, up, want, wantUp)
			}
			if isPlain([]byte(path)) && (string(got) != path || up) {
				t.Errorf("%05b of %q, which is plain: %q, %v", as, path, got, up)
			}
			if s := strings.Split(string(got), "/"); as&opaque == 0 && (slices.Contains(s, ".") || slices.Contains(s, "..")) {
				t.Errorf("%05b of %q: %q", as, path, got)
			}
			for enough := range min(len(want), 20) {
				if got, _ := is.read([]byte(kept), as, enough); len(got) <= len(kept)+enough || !strings.HasPrefix(want, string(got[len(kept):])) {
					t.Errorf("%d of %05b of %q: %q, of %q", enough, as, path, got, want)
				}
			}
		}
	})
}

// Readings that are not tried, and those for which they stand.
func FuzzWhatIsNotTried(f *testing.F) {
	for _, path := range []string{"/a/../b", "/a%2fb/../c", "/a//../b;c", "/a;b/..", `/a\\..\\b`, "/%3b/../%2e", "/a%5c..%2fb", "/;a%2fb/x", `/;a\\b/../c`} {
		f.Add(path[1:])
	}
	f.Fuzz(func(t *testing.T, rest string) {
		path := "/" + rest
		if len(path) > http1.MaxTarget {
			return
		}
		for as := range readings {
			want, _ := slowRead(as, path)
			if strings.Contains(want, "/.") {
				continue // of "/a%2f." servers may make "/a/."; no rule is about such names
			}
			p := paths{exact: map[string]*Rule{want: {}}, longest: len(want)}
			if p.find([]byte(path)) == nil {
				t.Errorf("%05b of %q, %q, is not found", as, path, want)
			}
		}
	})
}
