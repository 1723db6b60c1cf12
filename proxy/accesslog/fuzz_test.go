package accesslog

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzLine wants of any texts one line of JSON that gives them back where they
// were UTF-8, each stray byte as the character of its number, and one line of
// the combined format with as many quotes as there should be.
func FuzzLine(f *testing.F) {
	f.Add([]byte("/a"), []byte("x"), "rule", int64(5), int64(7))
	f.Add([]byte("\"\\\n\x00\xff\xc3"), []byte("\u2028é\u0085"), "\xf0\x9f\x99\x82", int64(-1), int64(1<<62))
	f.Fuzz(func(t *testing.T, target, agent []byte, rule string, d, at int64) {
		if max(len(target), len(agent), len(rule)) > MaxText/6 {
			return // cut
		}
		e := &Entry{
			Time: at % (200 * 365 * 86400e9), Client: netip.AddrFrom4([4]byte{byte(d), byte(at)}), Method: agent, Target: target, Host: agent,
			Minor: 1, Status: int(uint16(d)), In: d, Out: at, Duration: time.Duration(d), Filter: time.Duration(at), Wait: -1,
			Route: rule, Upstream: rule, Rule: rule, Error: rule, Dry: d%2 == 0, Referer: agent, UserAgent: agent, RequestID: target,
		}
		b := appendJSONLine(nil, new(clock), e)
		if len(b) > e.bound() || len(b) > maxLine || bytes.IndexByte(b, '\n') != len(b)-1 || !utf8.Valid(b) {
			t.Fatalf("%d bytes, bound %d: %q", len(b), e.bound(), b)
		}
		var got struct {
			Time                                                                           time.Time
			Client, Method, Target, Host, Route, Upstream, Rule, Error, Referer, Agent, ID string
			Status                                                                         int
			In, Out                                                                        int64
			Duration, Filter                                                               json.Number
			Dry                                                                            bool
		}
		decoder := json.NewDecoder(bytes.NewReader(b))
		decoder.UseNumber()
		if err := decoder.Decode(&got); err != nil {
			t.Fatalf("%v in %q", err, b)
		}
		for _, c := range [...]struct{ got, was string }{
			{got.Method, string(agent)}, {got.Target, string(target)}, {got.Host, string(agent)}, {got.Route, rule}, {got.Upstream, rule},
			{got.Rule, rule}, {got.Error, rule}, {got.Referer, string(agent)}, {got.Agent, string(agent)}, {got.ID, string(target)},
		} {
			if want := asRead(c.was); c.got != want {
				t.Fatalf("%q is read as %q, want %q", c.was, c.got, want)
			}
		}
		if got.In != d || got.Out != at || got.Client != e.Client.String() || got.Dry != e.Dry || got.Time.UnixMicro() != floor(e.Time, 1000) {
			t.Fatalf("%+v of %+v: %s", got, e, b)
		}
		c := appendCombinedLine(nil, new(clock), e)
		if len(c) > e.bound() || bytes.IndexByte(c, '\n') != len(c)-1 || bytes.Count(c, []byte{'"'}) != 6 || strings.ContainsFunc(string(c[:len(c)-1]), func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q", c)
		}
	})
}

// asRead is a text in which each byte that is not UTF-8 is the character of
// its number.
func asRead(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			r = rune(text[0])
		}
		b.WriteRune(r)
		text = text[size:]
	}
	return b.String()
}

func floor(n, by int64) int64 {
	if n < 0 {
		return -((-n + by - 1) / by)
	}
	return n / by
}
