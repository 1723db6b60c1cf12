package filter

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"redoubt/netloop/http1"
)

// parse reads a request of a start line and field lines.
func parse(t testing.TB, lines ...string) *http1.Request {
	t.Helper()
	r := new(http1.Request)
	text := strings.Join(append(lines, "Host: shop.example"), "\r\n") + "\r\n\r\n"
	if n, fault := r.Parse([]byte(text)); n != len(text) {
		t.Fatalf("%q: %d, %v", text, n, fault)
	}
	return r
}

func build(t testing.TB, o Options) *Filter {
	t.Helper()
	f, err := New(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// name is the name of the rule of a verdict.
func name(v Verdict) string {
	if v.Rule == nil {
		return ""
	}
	return v.Rule.Name()
}

// isRefused tells whether a request is not to be let in.
func isRefused(v Verdict) bool { return v.Rule != nil && !v.Dry }

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, s := range texts {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

var someone = netip.MustParseAddr("203.0.113.9")

func TestNetworks(t *testing.T) {
	f := build(t, Options{Networks: prefixes("198.51.100.0/24", "198.51.100.64/26", "192.0.2.7/32", "2001:db8:1::/48",
		"::ffff:203.0.113.128/121", "10.1.2.3/8")})
	for client, want := range map[string]string{
		"198.51.100.1":               "network 198.51.100.0/24",
		"198.51.100.65":              "network 198.51.100.64/26", // the longest counts
		"198.51.101.1":               "",
		"192.0.2.7":                  "network 192.0.2.7/32",
		"192.0.2.8":                  "",
		"::ffff:192.0.2.7":           "network 192.0.2.7/32", // as a socket of both families says it
		"::ffff:192.0.2.7%eth0":      "network 192.0.2.7/32",
		"2001:db8:1:ffff::1":         "network 2001:db8:1::/48",
		"2001:db8:1::5%eth0":         "network 2001:db8:1::/48",
		"2001:db8:2::1":              "",
		"203.0.113.129":              "network 203.0.113.128/25", // IPv4 written as IPv6
		"203.0.113.127":              "",
		"10.255.0.1":                 "network 10.0.0.0/8", // bits behind the mask say nothing
		"::198.51.100.1":             "",
		"2002:c633:6401::c633:64":    "",
		"fe80::198.51.100.1%nothing": "",
	} {
		if got := name(f.Check(netip.MustParseAddr(client), 1, parse(t, "GET / HTTP/1.1"), 0)); got != want {
			t.Errorf("%s: %q, not %q", client, got, want)
		}
	}
	if v := f.Check(netip.Addr{}, 1, parse(t, "GET / HTTP/1.1"), 0); v.Rule != nil {
		t.Errorf("no address: %v", name(v))
	}
	all := build(t, Options{Networks: prefixes("::/0")})
	if v := all.Check(someone, 1, parse(t, "GET / HTTP/1.1"), 0); v.Rule != nil {
		t.Error("IPv6 altogether is not IPv4")
	}
}

func TestMethods(t *testing.T) {
	f := build(t, Options{Methods: []string{"TRACE", "M-SEARCH"}})
	for method, want := range map[string]string{
		"TRACE": "method TRACE", "M-SEARCH": "method M-SEARCH", "trace": "", "TRACES": "", "TRAC": "", "GET": "",
	} {
		if got := name(f.Check(someone, 1, parse(t, method+" / HTTP/1.1"), 0)); got != want {
			t.Errorf("%s: %q, not %q", method, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	f := build(t, Options{Headers: []Header{
		{"User-Agent", regexp.MustCompile("(?i)badbot")},
		{"x-scanner", regexp.MustCompile("")},
		{"Referer", regexp.MustCompile("^$")},
		{"user-agent", regexp.MustCompile("^curl/")},
	}})
	test := func(want string, lines ...string) {
		t.Helper()
		if got := name(f.Check(someone, 1, parse(t, append([]string{"GET / HTTP/1.1"}, lines...)...), 0)); got != want {
			t.Errorf("%q: %q, not %q", lines, got, want)
		}
	}
	test("")
	test("header User-Agent: (?i)badbot", "User-Agent: a BadBot/2")
	test("header User-Agent: (?i)badbot", "User-Agent: good", "uSER-aGENT: badbot") // any line of the name
	test("header user-agent: ^curl/", "User-Agent: good", "User-Agent: curl/8")
	test("", "User-Agent: good")
	test("", "User-Agent: good", "Referer: badbot")
	test("", "X-Agent: badbot", "User-Agents: badbot", "User-Agen: badbot")
	test("header x-scanner: ", "X-Scanner: yes")
	test("header x-scanner: ", "X-SCANNER:")
	test("", "X-Scanners: yes")
	test("header Referer: ^$", "Referer:  ")
	test("", "Referer: x")
}

func TestConnections(t *testing.T) {
	f := build(t, Options{Connections: 2})
	for conns, want := range map[int]string{0: "", 1: "", 2: "", 3: "connections"} {
		v := f.Check(someone, conns, parse(t, "GET / HTTP/1.1"), 0)
		if name(v) != want || isRefused(v) && (v.Status != 429 || v.RetryAfter != 0) {
			t.Errorf("%d: %+v", conns, v)
		}
	}
}

// What is refused for several reasons is refused for the first.
func TestPrecedence(t *testing.T) {
	o := Options{
		Connections: 1,
		Networks:    prefixes("203.0.113.0/24"),
		Rate:        Rate{Requests: 1, Burst: 1},
		Methods:     []string{"TRACE"},
		Paths:       []string{"/a/*"},
		Headers:     []Header{{"User-Agent", regexp.MustCompile("bad")}},
	}
	r := parse(t, "TRACE /a/b HTTP/1.1", "User-Agent: bad")
	names := []string{"connections", "network 203.0.113.0/24", "rate", "method TRACE", "path /a/*", "header User-Agent: bad"}
	var listed []string
	for _, rule := range build(t, o).Rules() {
		listed = append(listed, rule.Name())
		if kind, _, _ := strings.Cut(rule.Name(), " "); rule.Kind() != kind {
			t.Errorf("%s is a %s", rule.Name(), rule.Kind())
		}
	}
	if diff := cmp.Diff(names, listed); diff != "" {
		t.Error(diff)
	}
	for _, want := range names {
		f := build(t, o)
		if want == "rate" {
			f.Check(someone, 1, r, 0)
		}
		if got := name(f.Check(someone, 2, r, 0)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
		switch want { // and without that option it is the next
		case "connections":
			o.Connections = 0
		case "rate":
			o.Rate = Rate{}
		case "method TRACE":
			o.Methods = nil
		case "path /a/*":
			o.Paths = nil
		default:
			o.Networks = nil
		}
	}
}

// Who is refused by network or connections has not asked; who is refused by
// what comes behind the rate has.
func TestWhatCountsAsAsked(t *testing.T) {
	f := build(t, Options{Connections: 1, Networks: prefixes("192.0.2.0/24"), Rate: Rate{Requests: 1, Burst: 1}, Methods: []string{"TRACE"}})
	get, trace := parse(t, "GET / HTTP/1.1"), parse(t, "TRACE / HTTP/1.1")
	listed := netip.MustParseAddr("192.0.2.1")
	for range 3 {
		if got := name(f.Check(listed, 1, get, 0)); got != "network 192.0.2.0/24" {
			t.Error(got)
		}
		if got := name(f.Check(someone, 2, get, 0)); got != "connections" {
			t.Error(got)
		}
	}
	key := keyOf(listed)
	if s := f.limiter.set(key); slices.Contains(s.keys[:], key) {
		t.Error("a network's client has a place among the rates")
	}
	if got := name(f.Check(someone, 1, trace, 0)); got != "method TRACE" {
		t.Error(got)
	}
	if got := name(f.Check(someone, 1, get, 0)); got != "rate" {
		t.Error(got)
	}
}

func TestAnswer(t *testing.T) {
	r := parse(t, "TRACE / HTTP/1.1")
	for answer, want := range map[int][3]int{0: {403, 429, 429}, 404: {404, 429, 429}, 503: {503, 429, 429}, CloseSilently: {-1, -1, -1}} {
		f := build(t, Options{Methods: []string{"TRACE"}, Rate: Rate{Requests: 0.5, Burst: 1}, Connections: 1, Answer: answer})
		method := f.Check(someone, 1, r, 0)
		rate := f.Check(someone, 1, r, time.Second/2)
		connections := f.Check(someone, 2, r, 0)
		if got := [3]int{method.Status, rate.Status, connections.Status}; got != want {
			t.Errorf("%d: %v, not %v", answer, got, want)
		}
		if method.RetryAfter != 0 || rate.RetryAfter != 3*time.Second/2 {
			t.Errorf("%d: %v, %v", answer, method.RetryAfter, rate.RetryAfter)
		}
	}
}

func TestDryRun(t *testing.T) {
	o := Options{Methods: []string{"TRACE"}, Rate: Rate{Requests: 1, Burst: 2}, DryRun: true}
	f := build(t, o)
	r := parse(t, "TRACE / HTTP/1.1")
	var got []string
	for range 5 { // the rate is not charged for what it would have refused
		v := f.Check(someone, 1, r, 0)
		if isRefused(v) || !v.Dry {
			t.Errorf("%+v", v)
		}
		got = append(got, name(v))
	}
	if diff := cmp.Diff([]string{"method TRACE", "method TRACE", "rate", "rate", "rate"}, got); diff != "" {
		t.Error(diff)
	}
	if v := f.Check(someone, 1, r, time.Second); name(v) != "method TRACE" || v.Status != 403 {
		t.Errorf("%+v", v)
	}
	if rate, method := f.Rules()[0], f.Rules()[1]; rate.DryHits() != 3 || method.DryHits() != 6 || rate.Hits() != 0 || method.Hits() != 0 {
		t.Errorf("rate %d, method %d", rate.DryHits(), method.DryHits())
	}
	if v := f.Check(someone, 1, parse(t, "GET / HTTP/1.1"), time.Hour); v != (Verdict{}) {
		t.Errorf("%+v", v)
	}
}

// In a dry run each rule counts what it would refuse, were it alone; the first
// is named.
func TestDryRunAsksAll(t *testing.T) {
	o := Options{
		Connections: 1, Networks: prefixes("203.0.113.0/24"), Rate: Rate{Requests: 1, Burst: 1}, Methods: []string{"PUT"}, Paths: []string{"/a", "/a*"},
		Headers: []Header{{"User-Agent", regexp.MustCompile("bot")}, {"User-Agent", regexp.MustCompile("bad")}, {"User-Agent", regexp.MustCompile("bot")}, {"Via", regexp.MustCompile("x")}},
		DryRun:  true,
	}
	f := build(t, o)
	f.Check(someone, 1, parse(t, "GET / HTTP/1.1"), 0) // by the network alone; it takes the rate's burst
	r := parse(t, "PUT /a HTTP/1.1", "User-Agent: badbot")
	if v := f.Check(someone, 2, r, 0); name(v) != "connections" || v.Status != 429 || v.RetryAfter != 0 || !v.Dry {
		t.Errorf("%+v", v)
	}
	var got []string
	for _, r := range f.Rules() {
		got = append(got, fmt.Sprintf("%s %d", r.Name(), r.DryHits()))
	}
	want := []string{"connections 1", "network 203.0.113.0/24 2", "rate 1", "method PUT 1", "path /a 1", "path /a* 0",
		"header User-Agent: bot 1", "header User-Agent: bad 1", "header Via: x 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	o.DryRun = false
	f = build(t, o)
	f.Check(someone, 2, r, 0)
	for i, r := range f.Rules() {
		if hits := r.Hits(); hits > 0 != (i == 0) || r.DryHits() > 0 {
			t.Errorf("in earnest %s has %d", r.Name(), hits)
		}
	}
}

func TestReload(t *testing.T) {
	o := Options{Methods: []string{"TRACE", "PUT"}, Rate: Rate{Requests: 1, Burst: 1}}
	trace, get := parse(t, "TRACE / HTTP/1.1"), parse(t, "GET / HTTP/1.1")
	first := build(t, o)
	first.Check(someone, 1, trace, 0)

	o.Methods = []string{"DELETE", "TRACE"}
	second, err := New(o, first)
	if err != nil {
		t.Fatal(err)
	}
	if got := name(second.Check(someone, 1, get, 0)); got != "rate" {
		t.Errorf("the client's rate is forgotten: %q", got)
	}
	var hits []string
	for _, r := range second.Rules() {
		hits = append(hits, r.Name()+strings.Repeat("!", int(r.Hits())))
	}
	if diff := cmp.Diff([]string{"rate!", "method DELETE", "method TRACE!"}, hits); diff != "" {
		t.Error(diff)
	}

	for _, rate := range []Rate{{Requests: 2, Burst: 2}, {Requests: 2, Burst: 1}} { // also one of as long a burst
		o.Rate = rate
		third, err := New(o, second)
		if err != nil {
			t.Fatal(err)
		}
		if got := name(third.Check(someone, 1, get, 0)); got != "" {
			t.Errorf("another rate starts with %q", got)
		}
		second = third
	}
}

func TestSaidTwiceIsOneRule(t *testing.T) {
	f := build(t, Options{
		Networks: prefixes("10.0.0.0/8", "10.9.9.9/8"),
		Methods:  []string{"PUT", "PUT"},
		Paths:    []string{"/a", "/a", "/b/*", "/b/*"},
		Headers:  []Header{{"Via", regexp.MustCompile("x")}, {"Via", regexp.MustCompile("x")}},
	})
	var got []string
	for _, r := range f.Rules() {
		got = append(got, r.Name())
	}
	if diff := cmp.Diff([]string{"network 10.0.0.0/8", "method PUT", "path /a", "path /b/*", "header Via: x"}, got); diff != "" {
		t.Error(diff)
	}
}
