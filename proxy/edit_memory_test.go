//go:build linux

package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
)

// remembering is a rewriter with the memory of what applies, and what it has counted.
type remembering struct {
	*rewriter
	asked, known int
}

func newRemembering(t *testing.T, change func(*config.Config)) *remembering {
	r := &remembering{rewriter: newRewriter(t, func(c *config.Config) {
		c.Routes[0].ResponseBody.Memory = true
		if change != nil {
			change(c)
		}
	})}
	for _, one := range []uint64{1, 2} { // while they are compiled all rules would run
		r.proxy.plan.routes[0].answers.Subset([]uint64{one}).Compile().Close()
	}
	return r
}

// of is an exchange about which the memory is asked so many times, of which it knows so
// many.
func (r *remembering) of(asked, known int, request, answer, want string) {
	r.t.Helper()
	m, _ := r.exchange(request, answer)
	if text, err := decoded(&m); err != nil || text != want {
		r.t.Errorf("%.100q: the text is %q (%v), want %q", answer, text, err, want)
	}
	r.asked, r.known = r.asked+asked, r.known+known
	if a, k := int(metric(r.t, r.proxy, "memory_asked_total")), int(metric(r.t, r.proxy, "memory_known_total")); a != r.asked || k != r.known {
		r.t.Errorf("%.100q: the memory was asked %d times and knew %d, want %d and %d", answer, a, k, r.asked, r.known)
		r.asked, r.known = a, k
	}
}

const first = `ETag: "1"`

// Of a file that was seen whole only those rules run that have won. Servers that lie
// about their ETags show it.
func TestWhatAppliesIsRemembered(t *testing.T) {
	r := newRemembering(t, nil)
	r.of(1, 0, getting, page(first, "a cat"), "a doggy")
	r.of(1, 1, getting, page(first, "a cat"), "a doggy")
	r.of(1, 1, getting, page(first, "a cat, a1z"), "a doggy, a1z") // what does not apply does not run
	r.of(1, 1, getting, inChunks(first, "a c", "at, a1z"), "a doggy, a1z")
	r.of(1, 0, getting, page(`ETag: "2"`, "a cat, a1z"), "a doggy, <a1z>")
	r.of(1, 1, getting, page(`ETag: "2"`, "a cat, a1z"), "a doggy, <a1z>")
	r.of(1, 1, getting, page(first, "a cat"), "a doggy")

	// A file is one of a host and a target, query and all.
	r.of(1, 0, line("GET /x HTTP/1.1"), page(first, "a1z cat"), "<a1z> doggy")
	r.of(1, 0, line("GET /?x HTTP/1.1"), page(first, "a1z cat"), "<a1z> doggy")
	r.of(1, 0, strings.Replace(getting, "Host: a", "Host: b", 1), page(first, "a1z cat"), "<a1z> doggy")
	r.of(1, 1, line("GET /x HTTP/1.1"), page(first, "a1z cat"), "<a1z> doggy")

	// Rules that have won nothing leave the body as it is, with all that is said of it.
	const dog = `ETag: "dog"`
	r.of(1, 0, getting, page(dog, "a dog"), "a dog")
	lines := dog + "\r\nAccept-Ranges: bytes\r\nContent-MD5: x"
	untouched := html + `ETag: "dog"|Accept-Ranges: bytes|Content-MD5: x|` + varying + "Content-Length: 5||"
	r.of(1, 1, getting, page(lines, "a cat"), "a cat")
	r.wants(getting, page(lines, "a dog"), untouched+"a dog")
	r.wants(heading, page200+lines+"\r\nContent-Length: 5\r\n\r\n", untouched)
	r.wants(getting, inChunks(dog, "a d", "og"), html+dog+"|"+varying+"Transfer-Encoding: chunked||a dog")
	if n := metric(t, r.proxy, "bodies_rewritten_total"); n != 12 {
		t.Errorf("%v bodies went through rules, of 12 that have", n)
	}
}

// Coded files are others than plain ones.
func TestWhatAppliesToCodedFiles(t *testing.T) {
	r := newRemembering(t, nil)
	coded := func(text string) string {
		return page(first+"\r\nContent-Encoding: gzip", coderOf("gzip").encode(text))
	}
	taking := field("Accept-Encoding: gzip")
	r.of(1, 0, getting, page(first, "a cat"), "a doggy")
	r.of(1, 0, taking, coded("a1z cat"), "<a1z> doggy")
	r.of(1, 1, getting, page(first, "a1z cat"), "a1z doggy")
	r.of(1, 1, taking, coded("a1z cat"), "<a1z> doggy")
	r.of(1, 1, getting, coded("a1z cat"), "<a1z> doggy") // for one that takes no codings
	// Rules that have won nothing: the bytes pass where the client takes them.
	dog := "ETag: \"dog\"\r\nContent-Encoding: gzip"
	text := coderOf("gzip").encode("a dog")
	r.of(1, 0, taking, page(dog, text), "a dog")
	m, _ := r.exchange(taking, page(dog, text))
	if m.body != text || m.framing != "sized" || m.get("ETag")[0] != `"dog"` || m.get("Content-Encoding")[0] != "gzip" {
		t.Errorf("what nothing applies to goes on as %v", m)
	}
	if m, _ = r.exchange(getting, page(dog, text)); m.body != "a dog" || m.get("ETag")[0] != `W/"dog"` || m.get("Content-Encoding") != nil {
		t.Errorf("to a client that takes no codings it goes on as %v", m)
	}
}

// What may be somebody's own, or another by now, is never remembered.
func TestWhatIsNotRemembered(t *testing.T) {
	r := newRemembering(t, nil)
	const date = "Date: Tue, 01 Jan 2019 00:10:00 GMT"
	never := func(request, answer string) {
		t.Helper()
		for range 2 {
			r.of(0, 0, request, answer, "a doggy")
		}
	}
	never(getting, page("", "a cat"))
	never(getting, page(first+"\r\nSet-Cookie: a=b", "a cat"))
	never(getting, page(first+"\r\nVary: Cookie", "a cat"))
	never(getting, page(first+"\r\nVary: Accept-Encoding, User-Agent", "a cat"))
	never(getting, page(first+"\r\nVary: *", "a cat"))
	never(field("Authorization: Basic eDp5"), page(first, "a cat"))
	never(getting, page(`ETag: W/"1"`, "a cat"))
	never(getting, page(`ETag: 1`, "a cat"))
	never(getting, strings.Replace(page(first, "a cat"), "200 OK", "404 Not Found", 1))
	never(getting, strings.Replace(page(first, "a cat"), "200 OK", "203 Other", 1))
	never(post("Content-Length: 1", "x"), page(first, "a cat"))
	for _, bad := range []string{"Tue, 01 Jan 2019 00:09:01 GMT", "Tue, 01 Jan 2019 00:10:00 GMT", "Wed, 02 Jan 2019 00:00:00 GMT", "yesterday", ""} {
		never(getting, page(date+"\r\nLast-Modified: "+bad, "a cat"))
	}
	never(getting, page("Last-Modified: Tue, 01 Jan 2019 00:00:00 GMT", "a cat")) // no telling when that was

	never(field("Cookie: a=b"), page(date+"\r\nLast-Modified: Tue, 01 Jan 2019 00:09:00 GMT", "a cat")) // a time does not tell whose it is

	// For comparison.
	r.of(1, 0, getting, page(date+"\r\nLast-Modified: Tue, 01 Jan 2019 00:09:00 GMT", "a cat"), "a doggy")
	r.of(1, 1, getting, page(date+"\r\nLast-Modified: Tue, 01 Jan 2019 00:09:00 GMT", "a cat"), "a doggy")
	r.of(1, 0, getting, page(date+"\r\nETag: W/\"1\"\r\nLast-Modified: Tue, 01 Jan 2019 00:08:00 GMT", "a cat"), "a doggy")
	r.of(1, 0, getting, page(first+"\r\nVary: accept-encoding", "a cat"), "a doggy")
	r.of(1, 1, field("Cookie: a=b"), page(first, "a cat"), "a doggy")

	// Nothing is learnt of a body that is not whole, nor of none.
	r.next(script{answers: []string{page200 + "ETag: \"cut\"\r\nContent-Length: 50\r\n\r\na cat"}, end: resets})
	if answer, err := say(t, r.addr, getting); err == nil && !strings.Contains(answer, "502") {
		t.Fatalf("%q", answer)
	}
	r.asked++
	r.of(1, 0, heading, page200+"ETag: \"cut\"\r\nContent-Length: 50\r\n\r\n", "")
	r.of(1, 0, getting, page(`ETag: "cut"`, "a cat, a1z"), "a doggy, <a1z>")
	r.next(script{answers: []string{page("ETag: \"cut2\"\r\nContent-Encoding: gzip", coderOf("gzip").encode("a cat")[:26])}, end: closes})
	if answer, err := say(t, r.addr, getting); err == nil && !strings.Contains(answer, "502") {
		t.Fatalf("%q", answer)
	}
	r.asked++
	r.of(1, 0, getting, page("ETag: \"cut2\"\r\nContent-Encoding: gzip", coderOf("gzip").encode("a cat, a1z")), "a doggy, <a1z>")

	off := newRemembering(t, func(c *config.Config) { c.Routes[0].ResponseBody.Memory = false })
	for range 2 {
		off.of(0, 0, getting, page(first, "a cat"), "a doggy")
	}
}

// A reload may have brought other rules, or other routes: all is forgotten. What is
// under way then is not learnt.
func TestReloadForgetsWhatApplies(t *testing.T) {
	r := newRemembering(t, nil)
	r.of(1, 0, getting, page(first, "a cat"), "a doggy")
	r.of(1, 1, getting, page(first, "a cat"), "a doggy")
	reload(t, r.proxy, r.proxy.plan.config)
	r.of(1, 0, getting, page(first, "a cat"), "a doggy")
	r.of(1, 1, getting, page(first, "a cat"), "a doggy")
	next := *r.proxy.plan.config
	route := *next.Routes[0]
	route.ResponseBody = new(*route.ResponseBody)
	route.ResponseBody.Rules = cats[1:]
	next.Routes = []*config.Route{&route}
	reload(t, r.proxy, &next)
	r.of(1, 0, getting, page(first, "a1z cat"), "<a1z> cat")
	r.of(1, 1, getting, page(first, "a1z cat"), "<a1z> cat")

	s := play(t, "", func(c *scriptedConn) {
		for n := 0; c.request() != nil; n++ {
			c.say(page200 + first + "\r\nContent-Length: 11\r\n\r\na c")
			if n == 0 {
				reload(t, r.proxy, r.proxy.plan.config)
			}
			c.say("at, a1z.")
		}
	})
	over := rewriting(s.addr, cats...)
	over.Routes[0].ResponseBody.Memory = true
	p, addr := run(t, over, Options{})
	r.proxy = p
	client := connect(t, addr)
	for n, known := range []float64{0, 0, 1} {
		if _, text, err := client.ask("GET /x", ""); err != nil || text != "a doggy, <a1z>." {
			t.Errorf("%q %v", text, err)
		}
		if got := metric(t, p, "memory_known_total"); got != known {
			t.Errorf("after %d exchanges the memory has known %v, want %v", n+1, got, known)
		}
	}
}

// Many files, of which each has rules of its own that apply: all answers are right
// while subsets are compiled and more are wanted than there may be.
func TestManySubsets(t *testing.T) {
	s := play(t, "", func(conn *scriptedConn) {
		for r := conn.request(); r != nil; r = conn.request() {
			var n int
			fmt.Sscanf(r.URL.Path, "/%d", &n)
			conn.say(page(fmt.Sprintf("ETag: \"%d\"", n), fileOf(n)))
		}
	})
	c := rewriting(s.addr, domains(12)...)
	c.Routes[0].ResponseBody.Memory = true
	p, addr := run(t, c, Options{})
	client, replace := connect(t, addr), replacer(t, c.Routes[0].ResponseBody)
	for round := range 3 {
		for n := range 200 {
			want := replace(fileOf(n))
			if _, text, err := client.ask(fmt.Sprintf("GET /%d", n), ""); err != nil || text != want {
				t.Fatalf("round %d, file %d: %q %v, want %q", round, n, text, err, want)
			}
		}
		time.Sleep(20 * time.Millisecond) // some are compiled meanwhile
	}
	if n := metric(t, p, "memory_known_total"); n < 100 {
		t.Errorf("the memory has known %v of 400", n)
	}
}

// fileOf is a text in which those of twelve rules match that have a bit in n.
func fileOf(n int) string {
	var b strings.Builder
	for i := range 12 {
		if n*37>>i&1 != 0 {
			fmt.Fprintf(&b, "<a href=\"https://www.site%02d.example/%d\">here</a>\n", i, n)
		}
	}
	return b.String() + "the end"
}
