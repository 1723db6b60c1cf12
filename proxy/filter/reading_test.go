package filter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redoubt/netloop/http1"
)

var (
	escape  = regexp.MustCompile("%[0-9a-fA-F]{2}")
	slashes = regexp.MustCompile("/+")
)

func slowDecode(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		const digits = "0123456789abcdef"
		e = strings.ToLower(e)
		return string([]byte{byte(strings.IndexByte(digits, e[1])*16 + strings.IndexByte(digits, e[2]))})
	})
}

// slowRead is reading.read in the words of its description.
func slowRead(as reading, path string) (read string, up bool) {
	if !as.opaque {
		path = slowDecode(path)
	}
	if !as.empty {
		path = slashes.ReplaceAllString(path, "/")
	}
	var have []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		meant := s
		if as.opaque {
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
	if as.opaque {
		path = slowDecode(path)
	}
	return slashes.ReplaceAllString(path, "/"), up
}

func FuzzReading(f *testing.F) {
	for _, path := range []string{
		"/", "//", "/.", "/..", "/./", "/../", "/a/.", "/a/..", "/a//..", "/a/b/../../..", "/%", "/%2", "/%2e", "/%2E%2e/x", "/%%2e", "/%252e",
		"/a%2f../b", "/a%2fb/../c", "/a/..%2fb", "//a//../b", "/...", "/.a", "/a.", "/a./b", "/%2e%2e%2e", "/.%2", "/%00", "/%ff/%c3%a9", "/.%2e/.",
	} {
		f.Add(path[1:])
	}
	f.Fuzz(func(t *testing.T, rest string) {
		path := "/" + rest
		if len(path) > http1.MaxTarget {
			return
		}
		kept := "kept"
		for _, as := range readings {
			got, up := as.read([]byte(kept)[:len(kept):len(kept)], []byte(path))
			want, wantUp := slowRead(as, path)
			if string(got) != want || up != wantUp {
				t.Errorf("%+v of %q: %q, %v, not %q, %v", as, path, got, up, want, wantUp)
			}
			if len(got) > len(path) || got[0] != '/' || bytes.Contains(got, []byte("//")) {
				t.Errorf("%+v of %q: %q", as, path, got)
			}
			if isPlain([]byte(path)) && (string(got) != path || up) {
				t.Errorf("%+v of %q, which is plain: %q, %v", as, path, got, up)
			}
			if s := strings.Split(string(got), "/"); !as.opaque && (slices.Contains(s, ".") || slices.Contains(s, "..")) {
				t.Errorf("%+v of %q: %q", as, path, got)
			}
		}
	})
}
