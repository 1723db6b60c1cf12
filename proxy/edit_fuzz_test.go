//go:build linux

package proxy

import (
	"crypto/sha256"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"redoubt/proxy/body"
	"redoubt/proxy/config"
	"redoubt/proxy/subst"
)

// fuzzSets are the rules that FuzzEdit chooses from, by route.
var fuzzSets = []body.Options{
	{Rules: cats},
	{Rules: domains(5)},
	{Rules: []subst.Rule{{Find: "a[^z]*z", Put: "$&$&", Flags: "g"}, {Find: "b+", Put: "", Flags: "g"}}, Hold: 3},
	{Rules: []subst.Rule{{Find: "(?:)", Put: "-", Flags: "g"}, {Find: "ab?|b", Put: "[$&]"}}, Match: subst.First, Memory: true},
	{Rules: []subst.Rule{{Find: "<div>", Put: "<DIV>", Flags: "g"}, {Find: "<p>", Put: "<P>", Flags: "g"}, {Find: `(?s)<(.*?)>`, Put: "{$1}", Flags: "g"}}},
	{Rules: []subst.Rule{{Find: `\bx\b`, Put: strings.Repeat("long ", 100), Flags: "gi"}, {Find: `(?m)^`, Put: "> ", Flags: "g"}, {Find: `$`, Put: "END"}}},
}

// FuzzEdit has a text come in a form, cut at places, and the client must have what the
// rules make of it where it is all there.
func FuzzEdit(f *testing.F) {
	for i, text := range []string{"", "a\n", "a cat, a1z cats", "<div><p>x X</p></div>\nabab", "https://www.site03.example //SITE4.example", "abazbbabbz", "é☃\xff\x00 x", strings.Repeat("cats ab ", 300)} {
		for way := range uint8(22) {
			f.Add(text, way*3+uint8(i%3), []byte{byte(i), way, 90, 1, 200})
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close() })
	c := settings(l.Addr().String())
	c.Upstreams[0].Keepalive, c.Limits.Rules = 0, 64<<20
	c.Routes = nil
	oracles := make([]func(string) string, len(fuzzSets))
	for i := range fuzzSets {
		o := fuzzSets[i]
		o.Name, o.Types, o.Share = fmt.Sprint("set ", i), []string{"text/html"}, 100
		c.Routes = append(c.Routes, &config.Route{Name: o.Name, Path: fmt.Sprint("/", i), Upstream: c.Upstreams[0], ResponseBody: &o})
		oracles[i] = replacer(f, &o)
	}
	p, addr := start(f, c, Options{})
	names := []string{"chunked ", "chunked br", "chunked deflate", "chunked gzip", "chunked zstd", "sized ", "sized br", "sized deflate", "sized gzip", "sized zstd", "until close"}
	f.Fuzz(func(t *testing.T, text string, way uint8, places []byte) {
		if len(text) > 20_000 || len(places) > 20 {
			return
		}
		set, form := int(way)%len(fuzzSets), names[int(way)/len(fuzzSets)%len(names)]
		version := fmt.Sprintf("%sETag: \"%x\"\r\n", page200, sha256.Sum256([]byte(text)))
		answer := version + "\r\n"
		if text != "" {
			answer = strings.Replace(forms(text)[form], page200, version, 1)
		}
		var cuts []int
		for i, b := range places { // some near the head's end, some anywhere
			if i%2 == 0 {
				cuts = append(cuts, min(strings.Index(answer, "\r\n\r\n")+int(b), len(answer)))
			} else {
				cuts = append(cuts, len(answer)*int(b)/256)
			}
		}
		slices.Sort(cuts)
		cutter := &bodyCutter{cutter{t: t, proxy: p, addr: addr, stage: l.(*net.TCPListener)}}
		_, m := cutter.perform(fmt.Sprintf("GET /%d HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", set, takesAll), nil, answer, cuts)
		got, err := decoded(&m)
		if want := oracles[set](text); err != nil || got != want {
			t.Errorf("set %d, %s, cuts %v, %q: %s (%v)", set, form, cuts, text, differ(got, want), err)
		}
	})
}
