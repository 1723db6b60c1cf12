package body

import (
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	f := func(pattern, contentType string, want bool) {
		t.Helper()
		if got := fill(t, Options{Types: []string{pattern}}).Takes([]byte(contentType)); got != want {
			t.Errorf("%q takes %q: %v", pattern, contentType, got)
		}
	}
	f("text/html", "text/html", true)
	f("text/html", "Text/HTML; charset=utf-8", true)
	f("text/html", " text/html \t;x=y", true)
	f("text/html", "text/html;", true)
	f("TEXT/html", "text/html", true)
	f("text/html", "text/htm", false)
	f("text/html", "text/html5", false)
	f("text/html", "text/html/x", false)
	f("text/html", "text", false)
	f("text/html", "", false)
	f("text/html", "/", false)
	f("text/html", "text /html", false)
	f("text/html", "application/text/html", false)
	f("text/*", "text/css", true)
	f("text/*", "text/", true) // no good, but not ours to judge
	f("text/*", "application/json", false)
	f("text/*", "textual/css", false)
	f("text/*", "", false)
	f("application/json", "application/json", true)
	f("application/json", "application/ld+json", false)
	f("*/*", "image/png", true)
	f("*", "image/png", true)
	f("*/*", "", true) // RFC 9110, 8.3: it may be anything
	f("*", "nonsense", true)
	// In bytes from 0x80 on there is no case.
	f("text/x", "text/\xd8", false)

	several := fill(t, Options{Types: []string{"text/html", "application/*"}})
	for text, want := range map[string]bool{"text/html": true, "application/json": true, "text/css": false} {
		if several.Takes([]byte(text)) != want {
			t.Errorf("one of two patterns takes %q: %v", text, !want)
		}
	}
	if fill(t, Options{}).Takes([]byte("text/html")) {
		t.Error("no pattern takes text/html")
	}
}

func TestPatternsThatAreNone(t *testing.T) {
	for _, text := range []string{"text/html", "text/*", "*/*", "*", "a/b+c.d-e", "X/Y"} {
		if err := ParseType(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "/", "text", "text/", "/html", "*/html", "te*/html", "text/ht*", "**", "*/", "/*", "text/html;charset=utf-8", "text/html ", " text/html", "text//html", "text/html/x", "té/x", "text/html,text/css"} {
		err := ParseType(text)
		if err == nil {
			t.Errorf("%q is taken", text)
		} else if !strings.Contains(err.Error(), "/") { // it says how to write it
			t.Errorf("%q: %v", text, err)
		}
	}
}
