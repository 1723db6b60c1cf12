//go:build linux

package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"redoubt/proxy/body"
	"redoubt/proxy/config"
)

// asking has the bodies of requests go through rules, and no others.
func asking(c *config.Config) {
	c.Routes[0].ResponseBody = nil
	c.Routes[0].RequestBody = &body.Options{Name: "requests", Types: []string{"text/plain", "application/x-www-form-urlencoded"}, Rules: cats, Share: 100}
}

const plainBody = "Content-Type: text/plain\r\n"

// What servers get of requests whose bodies are rewritten. strict has seen to it that
// a length never stands beside chunks.
func TestEditedRequests(t *testing.T) {
	r := newRewriter(t, asking)
	f := func(request, want string) {
		t.Helper()
		m, asked := r.exchange(request, hello)
		if m.body != "hello" || len(asked) != 1 || asked[0].String() != want {
			t.Errorf("%.200q arrives as\n%.300q, want\n%.300q; the client gets %v", request, asked, want, m)
		}
	}
	const head = "POST / HTTP/1.1|Host: a|Content-Type: text/plain|"
	f(post(plainBody+"Content-Length: 5", "a cat"), head+"Transfer-Encoding: chunked||a doggy")
	f(post(plainBody+"Content-Length: 4", "none"), head+"Transfer-Encoding: chunked||none")
	f(post(plainBody+"Transfer-Encoding: chunked", "3\r\na c\r\n2\r\nat\r\n0\r\n\r\n"), head+"Transfer-Encoding: chunked||a doggy")
	f(post(plainBody+"Transfer-Encoding: chunked", "0\r\n\r\n"), head+"Transfer-Encoding: chunked||")
	f(post(plainBody+"Content-Length: 0", ""), head+"Content-Length: 0||")
	f(strings.Replace(post(plainBody+"Content-Length: 5", "a cat"), "POST", "PATCH", 1), strings.Replace(head, "POST", "PATCH", 1)+"Transfer-Encoding: chunked||a doggy")
	f(strings.Replace(post(plainBody+"Content-Length: 5", "a cat"), "HTTP/1.1", "HTTP/1.0", 1), head+"Transfer-Encoding: chunked||a doggy")
	f("GET / HTTP/1.1\r\nHost: a\r\n"+plainBody+"Content-Length: 3\r\n\r\ncat", strings.Replace(head, "POST", "GET", 1)+"Transfer-Encoding: chunked||doggy")
	f(strings.Replace(post(plainBody+"Content-Length: 3", "cat"), "text/plain", "application/x-www-form-urlencoded ; charset=x", 1),
		"POST / HTTP/1.1|Host: a|Content-Type: application/x-www-form-urlencoded ; charset=x|Transfer-Encoding: chunked||doggy")
	// Other types, and none, pass as they are.
	f(strings.Replace(post(plainBody+"Content-Length: 3\r\nContent-MD5: x", "cat"), "text/plain", "image/png", 1), "POST / HTTP/1.1|Host: a|Content-Type: image/png|Content-MD5: x|Content-Length: 3||cat")
	f(post("Content-Length: 3", "cat"), "POST / HTTP/1.1|Host: a|Content-Length: 3||cat")
	f(line("GET / HTTP/1.1"), "GET / HTTP/1.1|Host: a||")

	// What is not true any more.
	f(post(plainBody+"Content-MD5: x\r\nDigest: y\r\nX: y\r\nContent-Digest: z\r\nRepr-Digest: z\r\nContent-Length: 3", "cat"), head+"X: y|Transfer-Encoding: chunked||doggy")
	f(post(plainBody+"Transfer-Encoding: chunked\r\nTrailer: X", "3\r\ncat\r\n0\r\nX: y\r\nDigest: z\r\n\r\n"), head+"Trailer: X|Transfer-Encoding: chunked||doggy|X: y")
	f(post(plainBody+"Content-Encoding: identity\r\nContent-Length: 3", "cat"), head+"Transfer-Encoding: chunked||doggy")

	// Coded ones go on decoded.
	text := "a cat " + strings.Repeat("and another ", 2000) + "cats"
	for _, c := range coders {
		coded := c.encode(text[:10], text[10:])
		lines := plainBody + "Content-Encoding: " + c.name + "\r\nContent-MD5: x\r\n"
		want := head + "Transfer-Encoding: chunked||" + offline(t, r.proxy.plan.config.Routes[0].RequestBody, text)
		f(post(fmt.Sprintf("%sContent-Length: %d", lines, len(coded)), coded), want)
		chunks := fmt.Sprintf("7\r\n%s\r\n%x;x=y\r\n%s\r\n0\r\n\r\n", coded[:7], len(coded)-7, coded[7:])
		f(post(lines+"Transfer-Encoding: chunked", chunks), want)
		f(post(lines+"Transfer-Encoding: chunked", strings.TrimSuffix(chunks, "\r\n")+"X: y\r\nContent-MD5: z\r\n\r\n"), want+"|X: y")
	}
}

// What cannot be rewritten is refused, or passes where that is wanted.
func TestRequestsThatCannotBeEdited(t *testing.T) {
	for _, pass := range []bool{false, true} {
		r := newRewriter(t, func(c *config.Config) { asking(c); c.Routes[0].RequestBody.Pass = pass })
		for _, coding := range []string{"compress", "gzip, br", "exi"} {
			r.next(says(hello))
			request := post(plainBody+"Content-Encoding: "+coding+"\r\nContent-Length: 3", "cat")
			answer, err := say(t, r.addr, request)
			list, rest, bad := answers(answer, []message{{method: "POST", minor: 1}}, err == nil)
			if err != nil || bad != nil || rest != "" || len(list) != 1 {
				t.Fatalf("%q: %q (%v, %v)", coding, answer, err, bad)
			}
			asked := r.got(t, true)
			if pass && (list[0].status != 200 || len(asked) != 1 || asked[0].body != "cat" || asked[0].get("Content-Encoding")[0] != coding || asked[0].framing != "sized") {
				t.Errorf("%q: the client gets %v, the server %v", coding, list[0], asked)
			}
			if !pass && (list[0].status != 415 || strings.Join(list[0].get("Accept-Encoding"), "") != "gzip, deflate, br, zstd" || len(asked) != 0) {
				t.Errorf("%q: the client gets %v, the server %v", coding, list[0], asked)
			}
		}
	}
	r := newRewriter(t, asking)
	// A part of a body is none that rules can be applied to; two types are as good as one.
	f := func(fields string, status, asked int) {
		t.Helper()
		r.next(says(hello))
		answer, err := say(t, r.addr, post(fields+"Content-Length: 3", "cat"))
		list, _, bad := answers(answer, []message{{method: "POST", minor: 1}}, err == nil)
		heard := r.got(t, true)
		if bad != nil || len(list) != 1 || list[0].status != status || len(heard) != asked || asked > 0 && heard[0].body != "doggy" {
			t.Errorf("%q: the client gets %q (%v), the server %v", fields, answer, bad, heard)
		}
	}
	f(plainBody+"Content-Range: bytes 0-2/9\r\n", 400, 0)
	f("Content-Type: image/png\r\n"+plainBody, 200, 1)
	f("Content-Type: image/png, text/plain\r\n", 200, 1)
	// What is no gzip, or not whole, is a bad request, and never arrives whole.
	coded := coderOf("gzip").encode("a cat " + strings.Repeat("and so on ", 100))
	for _, bad := range []string{"plain text", coded[:1], coded[:len(coded)/2], coded[:len(coded)-1], coded[:30] + "\x00\xff\x00\xff" + coded[34:]} {
		r.next(says(hello))
		answer, err := say(t, r.addr, post(fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d", plainBody, len(bad)), bad))
		list, rest, fault := answers(answer, []message{{method: "POST", minor: 1}}, err == nil)
		if err != nil || fault != nil || rest != "" || len(list) != 1 || list[0].status != 400 {
			t.Errorf("%q: %q (%v, %v)", bad, answer, err, fault)
		}
		for _, heard := range r.all() {
			if whole, _, err := requests(heard, false); len(whole) > 0 || err != nil {
				t.Errorf("%q arrives as %q (%v)", bad, heard, err)
			}
		}
	}
}

// A server of HTTP/1.0 knows no chunks, and how long a body will be nobody knows.
func TestEditedRequestsForAnOldServer(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) {
		for c.request() != nil {
			c.say("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
			return
		}
	})
	c := rewriting(s.addr)
	asking(c)
	_, addr := run(t, c, Options{})
	connect(t, addr).want(t, 200, "GET /", "")
	connect(t, addr).want(t, 411, "POST /", plainBody+"Content-Length: 3\r\n\r\ncat")
	connect(t, addr).want(t, 200, "POST /", "Content-Type: image/png\r\nContent-Length: 3\r\n\r\ncat")
	if n := s.count("POST"); n != 1 {
		t.Errorf("the server has seen %d requests with a body, of 1", n)
	}
}

// A body larger than any buffer, in both framings, plain and coded, arrives whole while
// the server reads slowly; the client is told to wait, and to go on.
func TestLargeEditedRequests(t *testing.T) {
	text := strings.Repeat("a cat, and more of it, ", 100_000)
	var got atomic.Value
	addr := goOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		got.Store(fmt.Sprintf("%d %v %s", r.ContentLength, err, b))
	})
	c := rewriting(addr)
	asking(c)
	p, proxy := run(t, c, Options{Workers: 2})
	want := "-1 <nil> " + strings.ReplaceAll(text, "cat", "doggy")
	for _, coding := range []string{"", "gzip", "br", "zstd", "deflate"} {
		for _, sized := range []bool{true, false} {
			sent := text
			if coding != "" {
				sent = coderOf(coding).encode(text)
			}
			r, _ := http.NewRequest("POST", "http://"+proxy+"/x", struct{ io.Reader }{strings.NewReader(sent)})
			if sized {
				r.ContentLength = int64(len(sent))
			}
			r.Header.Set("Content-Type", "text/plain")
			r.Header.Set("Expect", "100-continue")
			if coding != "" {
				r.Header.Set("Content-Encoding", coding)
			}
			transport := new(http.Transport)
			answer, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			transport.CloseIdleConnections()
			if text := got.Load().(string); text != want || answer.StatusCode != 200 {
				t.Errorf("%s: %d; %s", coding, answer.StatusCode, differ(text, want))
			}
		}
	}
	if n := p.plan.routes[0].asked.Counts(0).Matches; n != 10*100_000 {
		t.Errorf("%d matches are counted", n)
	}
}
