//go:build linux

package proxy

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"redoubt/proxy/config"
	"redoubt/proxy/subst"
)

func withRules(rules ...subst.Rule) func(*config.Config) {
	return func(c *config.Config) { c.Routes[0].ResponseBody.Rules = rules }
}

// Bodies so small that counting goes wrong easily.
func TestSmallBodies(t *testing.T) {
	f := func(rule, text, want string) {
		t.Helper()
		one, err := subst.ParseReplace(rule)
		if err != nil {
			t.Fatal(err)
		}
		r := newRewriter(t, withRules(one))
		m, _ := r.exchange(getting, page("", text))
		if length := m.get("Content-Length"); m.body != want || m.framing != "sized" || len(length) != 1 {
			t.Errorf("%s on %q: %v, want %q", rule, text, m, want)
		}
		for _, answer := range []string{inChunks("", strings.Split(text, "")...), page("Content-Encoding: gzip", coderOf("gzip").encode(text)), page200 + "\r\n" + text} {
			if m, _ = r.exchange(field(takesAll), answer); text != "" {
				if got, err := decoded(&m); err != nil || got != want {
					t.Errorf("%s on %q: %q (%v), want %q", rule, answer, got, err, want)
				}
			}
		}
	}
	f("s/a/bb/g", "a\n", "bb\n")
	f("s/a/bb/g", "a", "bb")
	f("s/a//g", "a", "")
	f("s/a//g", "aaaa", "")
	f("s/$/!/", "a", "a!")
	f("s/^/!/", "a", "!a")
	f("s/x*/-/g", "abc", "-a-b-c-")
	f("s/(?s).*/all/", "a\nb", "all")
	f("s/(?s)./xx/g", "é", "xxxx")
	f("s/\\n\\z//", "a\n", "a")
}

// Both of two rules act on what stands side by side, in every body anew.
func TestRulesSideBySide(t *testing.T) {
	r := newRewriter(t, withRules(subst.Rule{Find: "<div>", Put: "<main>", Flags: "gl"}, subst.Rule{Find: "<p>", Put: "<P>"}))
	for range 3 {
		r.wants(getting, page("", "<div><p><div><p>"), html+varying+"Content-Length: 18||<main><P><main><p>")
	}
	client := connect(t, r.addr) // of one connection, too
	r.next(script{answers: []string{page("", "<p><div>")}})
	for range 3 {
		if _, text, err := client.ask("GET /", ""); err != nil || text != "<P><main>" {
			t.Errorf("%q %v", text, err)
		}
	}
	client.Close()
}

// Rules that make much of little: what comes of them is right, and is not all in memory
// before the client takes it.
func TestMuchOfLittle(t *testing.T) {
	letters, long := 100_000, strings.Repeat("0123456789abcdef", 64)
	if testing.Short() || instrumented {
		letters = 10_000
	}
	s := play(t, "", func(c *scriptedConn) {
		sent := page("", strings.Repeat("x", letters))
		for r := c.request(); r != nil; r = c.request() {
			if r.Header.Get("Accept-Encoding") != "" {
				sent = page("Content-Encoding: gzip", coderOf("gzip").encode(strings.Repeat("x", letters)))
			}
			c.say(sent)
		}
	})
	for _, takes := range []string{"", "Accept-Encoding: gzip\r\n"} {
		t.Run(takes, func(t *testing.T) {
			p, addr := run(t, rewriting(s.addr, subst.Rule{Find: "x", Put: long, Flags: "g"}), Options{})
			before := heap()
			client := connect(t, addr)
			client.SetReadBuffer(16 << 10)
			client.send("GET /x", takes)
			if _, err := client.in.Peek(1); err != nil {
				t.Fatal(err)
			}
			// A kilobyte may have become a megabyte before it is noticed.
			if n, more := live(p), heap()-before; n > 4*weKeep || more > 8<<20 {
				t.Errorf("%d bytes of buffers, and %d more in the heap, while nobody reads", n, more)
			}
			r, err := http.ReadResponse(client.in, nil)
			if err != nil {
				t.Fatal(err)
			}
			in := io.Reader(r.Body)
			if takes != "" {
				if in, err = coderOf("gzip").reader(in); err != nil {
					t.Fatal(err)
				}
			}
			in, piece := bufio.NewReaderSize(in, 1<<20), make([]byte, len(long))
			for n := range letters {
				if _, err := io.ReadFull(in, piece); err != nil || string(piece) != long {
					t.Fatalf("letter %d becomes %.20q (%v)", n, piece, err)
				}
			}
			if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
				t.Errorf("behind it %.20q comes (%v)", rest, err)
			}
			client.Close()
			gone := connect(t, addr) // in the middle
			gone.send("GET /x", takes)
			if _, err := gone.in.Peek(1); err != nil {
				t.Fatal(err)
			}
			gone.SetLinger(0)
			gone.Close()
			eventually(t, "nothing is left of it", func() bool { return metric(t, p, "requests_in_flight") == 0 })
			over(t, p)
		})
	}
}
