//go:build linux

package proxy

import (
	"bytes"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"redoubt/netloop/http1"
	"redoubt/proxy/config"
	"redoubt/proxy/filter"
	"redoubt/proxy/rewrite"
)

// answering is a server that allocates nothing: each request ends with an empty
// line.
func answering(t *testing.T, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in, out := make([]byte, 16<<10), []byte(answer)
				for n := 0; ; {
					k, err := c.Read(in[n:])
					if err != nil {
						return
					}
					if n += k; bytes.HasSuffix(in[:n], []byte("\r\n\r\n")) {
						n = 0
						if _, err := c.Write(out); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestRequestsAllocateNothing counts what the whole process allocates while a
// client, the proxy and a server work.
func TestRequestsAllocateNothing(t *testing.T) {
	if instrumented {
		t.Skip("what watches allocates")
	}
	const (
		rounds = 300
		fields = "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nCookie: a=b\r\nX-Odd: 1"
		big    = "HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	)
	f := func(name, request, answer string, change func(*config.Config)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			c := settings(answering(t, answer))
			if change != nil {
				change(c)
			}
			_, addr := start(t, c, Options{})
			client := dialRaw(t, addr)
			out, in := []byte(request), make([]byte, 16<<10)
			round := func() {
				if _, err := client.Write(out); err != nil {
					t.Fatal(err)
				}
				for n := 0; !bytes.HasSuffix(in[:n], []byte("hello")) && !bytes.HasSuffix(in[:n], []byte("0\r\n\r\n")); {
					k, err := client.Read(in[n:])
					if err != nil {
						t.Fatalf("%v behind %q", err, in[:n])
					}
					n += k
				}
			}
			for range 20 {
				round()
			}
			least := ^uint64(0)
			for range 5 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range rounds {
					round()
				}
				runtime.ReadMemStats(&after)
				least = min(least, after.Mallocs-before.Mallocs)
			}
			// A few stay: what the runtime does meanwhile.
			if least > rounds/20 {
				t.Errorf("%d allocations in %d rounds", least, rounds)
			}
		})
	}
	rules := func(c *config.Config) {
		c.Routes[0].Request = compile(t, rewrite.Options{Remove: []string{"X-Debug"}, Headers: []rewrite.Rule{{Name: "X-Odd", Find: "[a-z]+", Put: "x"}},
			URL: []rewrite.Rule{{Find: "^/old/(.*)", Put: "/new/$1"}}}, rewrite.Request)
		c.Routes[0].Response = compile(t, rewrite.Options{Remove: []string{"X-Debug"}, Headers: []rewrite.Rule{{Name: "Server", Find: "[0-9]", Put: ""}}}, rewrite.Response)
	}
	changes := func(c *config.Config) {
		c.Routes[0].Request = compile(t, rewrite.Options{Remove: []string{"X-Odd"}, Set: []rewrite.Field{{Name: "X-Real-IP", Value: "$client"}, {Name: "Host", Value: "$upstream"}}}, rewrite.Request)
		c.Routes[0].Response = compile(t, rewrite.Options{Remove: []string{"Server"}, Add: []rewrite.Field{{Name: "X-By", Value: "$host$path"}}}, rewrite.Response)
	}
	block := func(c *config.Config) {
		c.Block = &filter.Options{
			Networks: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}, Methods: []string{"TRACE"}, Paths: []string{"/.git/*"},
			Headers: []filter.Header{{Name: "User-Agent", Match: regexp.MustCompile("(?i)badbot")}}, Connections: 100,
			Rate: filter.Rate{Requests: 1e6},
		}
	}
	log := func(format string) func(*config.Config) {
		return func(c *config.Config) {
			c.Log = &config.Log{File: filepath.Join(t.TempDir(), "access.log"), Format: format}
		}
	}
	trust := func(c *config.Config) { c.Trust = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	f("plain", field(fields), hello, nil)
	f("chunked", field(fields), big, nil)
	f("absolute", strings.Replace(field(fields), " /", " http://a.example/x?y", 1), hello, nil)
	f("1.0", strings.Replace(field(fields+"\r\nConnection: keep-alive"), "1.1", "1.0", 1), hello, nil)
	f("hop by hop", field(fields+"\r\nTE: trailers\r\nConnection: keep-alive, X-Odd, TE"), hello, nil)
	f("trusted", field(fields+"\r\nX-Forwarded-For: 192.0.2.1, 192.0.2.2\r\nForwarded: for=192.0.2.1"), hello, trust)
	f("filter", field(fields), hello, block)
	f("rules that do not match", field(fields), big, rules)
	f("rules", field(fields), hello, changes)
	f("log", field(fields), hello, log("json"))
	f("combined log", field(fields), hello, log("combined"))
	f("all", field(fields), big, func(c *config.Config) { rules(c); block(c); log("json")(c); trust(c) })
}

// TestNewMemoryIsForNewFieldsOnly has rules take one field away and put two in:
// what is written anew are those two, besides what the proxy adds anyway.
func TestNewMemoryIsForNewFieldsOnly(t *testing.T) {
	p, err := New(settings("127.0.0.1:1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.group.Close()
	head := []byte("GET /x HTTP/1.1\r\nHost: a\r\nX-A: " + strings.Repeat("a", 3000) + "\r\nX-Gone: 1\r\nX-B: " + strings.Repeat("b", 3000) + "\r\nConnection: keep-alive\r\n\r\n")
	measure := func(rules *rewrite.Rules) (views, fresh, segments int) {
		w := p.workers[0]
		configured := *w.plan.routes[0].Route
		configured.Request = rules
		x := &exchange{worker: w, peer: netip.MustParseAddr("127.0.0.1")}
		x.describePeer()
		x.plan, x.route = w.plan, &route{Route: &configured}
		x.pool = w.plan.upstreams[0].origins[0].pools[0]
		var r http1.Request
		if n, fault := r.Parse(head); n != len(head) {
			t.Fatal(n, fault)
		}
		x.notes.identity(x, &r)
		if !w.requestHead(x, &r) {
			t.Fatal("no head")
		}
		from := uintptr(unsafe.Pointer(unsafe.SliceData(head)))
		for _, s := range w.up.List() {
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(s))); from <= at && at < from+uintptr(len(head)) {
				views += len(s)
			} else {
				fresh += len(s)
			}
		}
		return views, fresh, len(w.up.List())
	}
	views, fresh, segments := measure(nil)
	if want := len(head) - len("Connection: keep-alive\r\n\r\n"); views != want || segments != 2 {
		t.Errorf("without rules: %d bytes stay where they are, want %d; %d segments, want 2", views, want, segments)
	}
	rules := compile(t, rewrite.Options{Remove: []string{"X-Gone"}, Add: []rewrite.Field{{Name: "X-C", Value: "1"}, {Name: "X-D", Value: "2"}}}, rewrite.Request)
	views2, fresh2, segments := measure(rules)
	if views2 != views-len("X-Gone: 1\r\n") || fresh2 != fresh+len("X-C: 1\r\nX-D: 2\r\n") || segments != 3 {
		t.Errorf("with rules: %d bytes stay, %d without; %d are new, %d without; %d segments", views2, views, fresh2, fresh, segments)
	}
}
