//go:build linux

package proxy

import (
	"net/netip"
	"strings"
	"testing"

	"redoubt/proxy/rewrite"
)

// FuzzProxy has a client and a server say anything. Whatever leaves the proxy is
// judged by strict, and nothing may hang or panic.
func FuzzProxy(f *testing.F) {
	for i, c := range passed {
		f.Add(c.request, goodAnswers[i%len(goodAnswers)].answer)
	}
	for i, c := range goodAnswers {
		f.Add(c.request, c.answer)
		f.Add(passed[i%len(passed)].request+passed[(i+1)%len(passed)].request, c.answer)
	}
	for i, c := range refused {
		f.Add(c.request, noAnswers[i%len(noAnswers)])
		f.Add(passed[i%len(passed)].request+c.request, hello)
	}
	for i, c := range noAnswers {
		f.Add(passed[i%len(passed)].request, c)
	}
	for _, c := range spoilt {
		if len(c) < 10<<10 {
			f.Add(c, hello)
		}
	}
	for _, d := range dramas {
		for _, answer := range d.server {
			f.Add(d.client, answer)
		}
	}
	s := newStage(f)
	c := settings(s.addr)
	c.Upstreams[0].Keepalive = 0
	c.Limits.Body = 100 << 10
	c.Trust = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	r := c.Routes[0]
	r.Upgrade = true
	r.Request = compile(f, rewrite.Options{Remove: []string{"X-A"}, Set: []rewrite.Field{{Name: "Host", Value: "$path"}, {Name: "X-B", Value: "$host $path"}},
		Headers: []rewrite.Rule{{Name: "X", Find: "(.)(.)", Put: "$2$1", Flags: "g"}}, URL: []rewrite.Rule{{Find: "^/(.)(.)", Put: "/$2$1"}}}, rewrite.Request)
	r.Response = compile(f, rewrite.Options{Add: []rewrite.Field{{Name: "X-C", Value: "$path"}}, Headers: []rewrite.Rule{{Name: "X", Find: ".", Put: ""}}}, rewrite.Response)
	_, addr := start(f, c, Options{Warn: func(string) {}})
	f.Fuzz(func(t *testing.T, client, server string) {
		s.next(script{answers: []string{server}, end: closes})
		answer, end := say(t, addr, client)
		asked, _, _ := requests(client, true)
		list, rest, err := answers(answer, asked, end == nil)
		if err != nil || end == nil && rest != "" && !tunnelled(list) {
			t.Errorf("the client gets %q: %v", answer, err)
		}
		if n := len(list); finals(list) > len(asked) && (list[n-1].status < 400 || strings.Join(list[n-1].get("Connection"), "") != "close") {
			t.Errorf("what is no request is answered: %q", answer)
		}
		got := 0
		for _, heard := range s.all() {
			some, _, err := requests(heard, false)
			if n := len(some); err != nil && (n == 0 || some[n-1].get("Upgrade") == nil) {
				t.Errorf("the server gets %q: %v", heard, err)
			}
			got += len(some)
		}
		if got > len(asked) && !tunnelled(list) {
			t.Errorf("%d requests arrive, %d were sent", got, len(asked))
		}
	})
}

// tunnelled tells whether the last of these answers has made a tunnel.
func tunnelled(list []message) bool { return len(list) > 0 && list[len(list)-1].status == 101 }
