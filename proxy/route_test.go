//go:build linux

package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"redoubt/netloop/http1"
	"redoubt/proxy/config"
)

// slowMatch is the contract in words: the first route whose host and path match.
func slowMatch(routes []*config.Route, host, path string) int {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for i, r := range routes {
		suffix, wild := strings.CutPrefix(r.Host, "*")
		switch {
		case r.Host == "", r.Host == host:
		case wild && len(host) > len(suffix) && strings.HasSuffix(host, suffix):
		default:
			continue
		}
		start, prefix := strings.CutSuffix(r.Path, "*")
		if r.Path == "" || r.Path == path || prefix && strings.HasPrefix(path, start) {
			return i
		}
	}
	return -1
}

// Routes that are looked up by host are those that a look at all would find.
func TestRoutesAgainstAllOfThem(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	u := &config.Upstream{Name: "u", Servers: []string{"127.0.0.1:1"}}
	for range 300 {
		c := &config.Config{Upstreams: []*config.Upstream{u}}
		for i := range random.IntN(12) {
			c.Routes = append(c.Routes, &config.Route{
				Name: fmt.Sprint(i), Upstream: u,
				Host: pick("", "", "a.b", "x.a.b", "*.a.b", "*.b", "*.x.a.b", "b"),
				Path: pick("", "/", "/p", "/p*", "/p/*", "/q*"),
			})
		}
		p, err := newPlan(c, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			host := pick("a.b", "A.b", "a.b.", "x.a.b", "y.x.A.B", "b", "c", ".a.b", "a.b:80", "[::1]:80", "xa.b", "..b", "")
			path := pick("/", "/p", "/p/", "/p/x", "/pp", "/q", "/r")
			var r http1.Request
			head := "GET " + path + "?q HTTP/1.1\r\nHost: " + host + "\r\n\r\n"
			if n, fault := r.Parse([]byte(head)); n == 0 || fault != 0 {
				t.Fatal(head, fault)
			}
			got := -1
			if match := p.match(&r); match != nil {
				got = match.number
			}
			name, _, _ := strings.Cut(host, ":")
			if strings.HasPrefix(host, "[") {
				name = "[::1]"
			}
			if want := slowMatch(c.Routes, name, path); got != want {
				for i, r := range c.Routes {
					t.Logf("%d: %q %q", i, r.Host, r.Path)
				}
				t.Fatalf("%s %s: route %d, want %d", host, path, got, want)
			}
		}
	}
}

// The lookup takes no memory, and the index grows with the routes and not with
// their square.
func TestRouteIndex(t *testing.T) {
	u := &config.Upstream{Name: "u", Servers: []string{"127.0.0.1:1"}}
	c := &config.Config{Upstreams: []*config.Upstream{u}}
	for i := range 2000 {
		c.Routes = append(c.Routes, &config.Route{Name: fmt.Sprint("h", i), Host: fmt.Sprintf("h%d.example", i), Upstream: u},
			&config.Route{Name: fmt.Sprint("w", i), Host: fmt.Sprintf("*.w%d.example", i), Upstream: u},
			&config.Route{Name: fmt.Sprint("a", i), Path: fmt.Sprintf("/%d/*", i), Upstream: u})
	}
	p, err := newPlan(c, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	entries := len(p.any)
	for _, list := range p.hosts {
		entries += len(list)
	}
	for _, list := range p.suffixes {
		entries += len(list)
	}
	if entries != len(c.Routes) {
		t.Errorf("%d entries for %d routes", entries, len(c.Routes))
	}
	var r http1.Request
	r.Parse([]byte("GET /x HTTP/1.1\r\nHost: A.B.W1999.Example\r\n\r\n"))
	if n := testing.AllocsPerRun(100, func() {
		if match := p.match(&r); match == nil || match.Name != "w1999" {
			t.Fatal(match)
		}
	}); n != 0 && !instrumented {
		t.Errorf("%v allocations", n)
	}
}

// An exchange under way goes on with its plan, also where that takes a new
// connection to a server which the plan in force does not have.
func TestReloadLeavesTheRepetition(t *testing.T) {
	arrived, goOn := make(chan bool), make(chan bool)
	old := play(t, "", func(c *scriptedConn) {
		switch c.n {
		case 0: // the second request, over a connection that was idle, gets no answer
			c.request()
			c.say(answerOf("first"))
			c.request()
			arrived <- true
			<-goOn
		default:
			c.request()
			c.say(answerOf("repeated"))
		}
	})
	other := play(t, "", func(c *scriptedConn) { c.serve("other") })
	p, addr := run(t, settings(old.addr), Options{})
	c := connect(t, addr)
	c.want(t, 200, "GET /1", "")
	if err := c.send("GET /2", ""); err != nil {
		t.Fatal(err)
	}
	<-arrived
	reload(t, p, settings(other.addr))
	goOn <- true
	if _, body, err := c.answer("GET"); err != nil || body != "repeated" {
		t.Errorf("%q, %v", body, err)
	}
	if _, body, err := c.ask("GET /3", ""); err != nil || body != "other" {
		t.Errorf("%q, %v", body, err)
	}
}
