package accesslog

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// at is a moment with micro- and nanoseconds.
var at = time.Date(2026, 11, 30, 23, 26, 5, 123_456_789, time.UTC).UnixNano()

func usual() *Entry {
	return &Entry{
		Time: at, Client: netip.MustParseAddr("203.0.113.9"), Method: []byte("GET"), Target: []byte("/catalog/a?b=c"), Host: []byte("shop.example"),
		Minor: 1, Status: 200, In: 0, Out: 51234, Duration: 1234567 * time.Nanosecond, Filter: -1, Wait: 800 * time.Microsecond, Rewrite: -1,
		Route: "*.shop.example/catalog/*", Upstream: "origin", UserAgent: []byte("curl/8.5.0"), Referer: []byte("https://shop.example/"),
	}
}

func line(format format, e *Entry) string { return string(format(nil, new(clock), e)) }

func TestLines(t *testing.T) {
	full := usual()
	full.Client = netip.MustParseAddr("::ffff:10.0.0.1")
	full.Filter, full.Wait, full.Duration = 0, 61*time.Second+5*time.Microsecond, -5
	full.Rule, full.Error, full.Dry, full.RequestID = "block.headers[0]", "upstream: reset", true, []byte("7f")
	edited := usual()
	edited.Rewrite, edited.Matches = 54*time.Microsecond, 3
	hostile := usual()
	hostile.Client = netip.MustParseAddr("fe80::1%\"\n")
	hostile.Target = []byte("/\"\\\x00\n\r\x1b\x7f\x80\xffé\u0085\u2028\u2029\u00a0🙂\xf0\x9f")
	hostile.Route, hostile.Upstream, hostile.Referer, hostile.UserAgent, hostile.Wait = "", "", []byte("a\" \"b\nc"), nil, -1
	old := &Entry{Time: -1, Status: 400, Filter: -1, Wait: -1, Rewrite: -1}
	for _, c := range []struct {
		name   string
		format format
		e      *Entry
		want   string
	}{
		{"usual", appendJSONLine, usual(), `{"time":"2026-11-30T23:26:05.123456Z","client":"203.0.113.9","method":"GET","target":"/catalog/a?b=c","host":"shop.example","version":"1.1","status":200,"in":0,"out":51234,"duration":0.001234,"wait":0.000800,"route":"*.shop.example/catalog/*","upstream":"origin","referer":"https://shop.example/","agent":"curl/8.5.0"}`},
		{"full", appendJSONLine, full, `{"time":"2026-11-30T23:26:05.123456Z","client":"10.0.0.1","method":"GET","target":"/catalog/a?b=c","host":"shop.example","version":"1.1","status":200,"in":0,"out":51234,"duration":0.000000,"filter":0.000000,"wait":61.000005,"route":"*.shop.example/catalog/*","upstream":"origin","rule":"block.headers[0]","error":"upstream: reset","dry":true,"referer":"https://shop.example/","agent":"curl/8.5.0","id":"7f"}`},
		{"rewritten", appendJSONLine, edited, `{"time":"2026-11-30T23:26:05.123456Z","client":"203.0.113.9","method":"GET","target":"/catalog/a?b=c","host":"shop.example","version":"1.1","status":200,"in":0,"out":51234,"duration":0.001234,"wait":0.000800,"rewrite":0.000054,"matches":3,"route":"*.shop.example/catalog/*","upstream":"origin","referer":"https://shop.example/","agent":"curl/8.5.0"}`},
		{"hostile", appendJSONLine, hostile, `{"time":"2026-11-30T23:26:05.123456Z","client":"fe80::1","method":"GET","target":"/\"\\\u0000\u000a\u000d\u001b\u007f\u0080\u00ffé\u0085\u2028\u2029` + "\u00a0🙂" + `\u00f0\u009f","host":"shop.example","version":"1.1","status":200,"in":0,"out":51234,"duration":0.001234,"referer":"a\" \"b\u000ac"}`},
		{"nothing known", appendJSONLine, old, `{"time":"1969-12-31T23:59:59.999999Z","client":"","method":"","target":"","host":"","version":"1.0","status":400,"in":0,"out":0,"duration":0.000000}`},
		{"usual", appendCombinedLine, usual(), `203.0.113.9 - - [30/Nov/2026:23:26:05 +0000] "GET /catalog/a?b=c HTTP/1.1" 200 51234 "https://shop.example/" "curl/8.5.0"`},
		{"hostile", appendCombinedLine, hostile, `fe80::1 - - [30/Nov/2026:23:26:05 +0000] "GET /\x22\x5C\x00\x0A\x0D\x1B\x7F\x80\xFF\xC3\xA9\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\xC2\xA0\xF0\x9F\x99\x82\xF0\x9F HTTP/1.1" 200 51234 "a\x22 \x22b\x0Ac" "-"`},
		{"nothing known", appendCombinedLine, old, `- - - [31/Dec/1969:23:59:59 +0000] "-" 400 0 "-" "-"`},
	} {
		if got := line(c.format, c.e); got != c.want+"\n" {
			t.Errorf("%s:\ngot  %swant %s", c.name, got, c.want)
		}
	}
	if len(line(appendJSONLine, full)) > full.bound() || len(line(appendCombinedLine, old)) > old.bound() {
		t.Error("longer than its bound")
	}
}

// The clock's text changes with the second, in both directions.
func TestClock(t *testing.T) {
	var c clock
	for _, second := range []int64{0, 0, 1, 0, -1, 1_700_000_000, 1_700_000_000} {
		text, rest := c.at(second*1e9+7, time.DateTime)
		if want := time.Unix(second, 0).UTC().Format(time.DateTime); string(text) != want || rest != 7 {
			t.Errorf("%d: %s %d, want %s", second, text, rest, want)
		}
	}
}

// A long text is cut between characters, in both formats, and the rest of the
// line is whole.
func TestLongTexts(t *testing.T) {
	for _, c := range []struct{ unit, json, combined string }{
		{"a", "a", "a"}, {"é", "é", `\xC3\xA9`}, {"\n", `\u000a`, `\x0A`}, {"\xff", `\u00ff`, `\xFF`}, {"🙂", "🙂", `\xF0\x9F\x99\x82`}, {`"`, `\"`, `\x22`},
	} {
		for shift := range 8 {
			text := strings.Repeat("x", shift) + strings.Repeat(c.unit, 2*MaxText)
			for _, f := range []struct {
				escape func(b, text []byte) ([]byte, int)
				unit   string
			}{{escapeJSON, c.json}, {escapeCombined, c.combined[:min(4, len(c.combined))]}} {
				got := string(appendText([]byte("begin"), []byte(text), 100, f.escape))
				body, dotted := strings.CutSuffix(strings.TrimPrefix(got, "begin"), "...")
				if body = strings.TrimLeft(body, "x"); !dotted || len(got) > 105 || len(got) < 105-len(f.unit) || len(body)%len(f.unit) != 0 || !utf8.ValidString(got) {
					t.Errorf("%q after %d: %q", c.unit, shift, got)
				}
			}
		}
	}
	f := func(text, want string) {
		t.Helper()
		if got := string(appendText(nil, []byte(text), 10, escapeJSON)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	f("0123456789", "0123456789")
	f("01234567890", "0123456...")
	f(`01234567"`, `01234567\"`)
	f(`012345678"`, `0123456...`)
	f(`012345"67"`, `012345...`)
	f("\n\n", `\u000a...`)
	f("\n1234", `\u000a1234`)
	f("\n12345", `\u000a1...`)
	f("12345\n", `12345...`)

	e := usual()
	e.Target = []byte(strings.Repeat("\xff", 40<<10))
	e.Method, e.Host, e.UserAgent, e.Referer, e.RequestID = e.Target, e.Target, e.Target, e.Target, e.Target
	e.Route, e.Upstream, e.Rule, e.Error = string(e.Target), string(e.Target), string(e.Target), string(e.Target)
	for name, format := range map[string]format{"json": appendJSONLine, "combined": appendCombinedLine} {
		got := line(format, e)
		if len(got) > maxLine || len(got) > e.bound() || maxLine > bufferSize || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if name == "json" && !json.Valid([]byte(got)) {
			t.Errorf("no JSON: %.300s", got)
		}
	}
	e = usual()
	e.Target = []byte("/" + strings.Repeat("a", 8191)) // the longest that is taken
	if !strings.Contains(line(appendJSONLine, e), string(e.Target)) {
		t.Error("the longest target is cut")
	}
}

// plainUntil agrees with plain at every place and byte.
func TestPlainUntil(t *testing.T) {
	for c := range 256 {
		for n := range 20 {
			text := []byte(strings.Repeat("a ~}", 8))
			text[n] = byte(c)
			want := n
			if plain(byte(c)) {
				want = len(text)
			}
			if got := plainUntil(text); got != want {
				t.Fatalf("%#x at %d: %d", c, n, got)
			}
		}
	}
}
