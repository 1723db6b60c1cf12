//go:build linux

package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
)

// ranger is a server that knows parts of files, as the standard library does.
func ranger(t *testing.T, files map[string]string) (addr string, asked func() []http.Header) {
	changed := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := make(chan http.Header, 100)
	addr = goOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		h.Set("Method", r.Method)
		seen <- h
		name := strings.TrimPrefix(r.URL.Path, "/")
		kind := map[string]string{"html": "text/html", "css": "text/css"}[name[strings.LastIndexByte(name, '.')+1:]]
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, name, changed, strings.NewReader(files[name]))
	})
	return addr, func() (list []http.Header) {
		for len(seen) > 0 {
			list = append(list, <-seen)
		}
		return list
	}
}

// Rules cannot be applied to a part of a body: all of it is asked for.
func TestPartsOfRewrittenBodies(t *testing.T) {
	text := strings.Repeat("a cat, ", 300)
	addr, asked := ranger(t, map[string]string{"a.html": text, "a.css": text})
	_, proxy := run(t, rewriting(addr, cats...), Options{})
	want := strings.ReplaceAll(text, "cat", "doggy")
	client := connect(t, proxy)
	ask := func(request, lines string, status int, body string, requests int) *http.Response {
		t.Helper()
		r, got, err := client.ask(request, lines)
		if err != nil || r.StatusCode != status || got != body {
			t.Errorf("%s with %q: %v %.100q (%v), want %d %.100q", request, lines, r, got, err, status, body)
		}
		list := asked()
		if len(list) != requests {
			t.Errorf("%s with %q: the server is asked %d times, want %d", request, lines, len(list), requests)
		}
		for i, h := range list {
			if parts := h.Get("Range") + h.Get("If-Range"); i > 0 && parts != "" {
				t.Errorf("%s with %q: asked once more for %q", request, lines, parts)
			}
		}
		return r
	}
	const part = "Range: bytes=500-501\r\n"
	r := ask("GET /a.html", part, 200, want, 2)
	if r.Header.Get("Accept-Ranges")+r.Header.Get("Content-Range") != "" || r.Header.Get("ETag") != `W/"v1"` {
		t.Errorf("its head is %v", r.Header)
	}
	ask("GET /a.html", part+"If-Range: \"v1\"\r\n", 200, want, 2)
	ask("GET /a.html", part+"If-Range: W/\"v1\"\r\n", 200, want, 1) // no part of the file that the client has
	ask("GET /a.html", "Range: bytes=0-0,7-8\r\n", 200, want, 2)    // multipart/byteranges
	ask("GET /a.html", "Range: bytes=-1\r\n", 200, want, 2)
	ask("GET /a.html", part+"If-None-Match: W/\"v1\"\r\n", 304, "", 1)
	ask("GET /a.html", "", 200, want, 1)

	// Of a type that rules are not for the part passes.
	r = ask("GET /a.css", part, 206, text[500:502], 1)
	if r.Header.Get("Content-Range") != fmt.Sprintf("bytes 500-501/%d", len(text)) || r.Header.Get("ETag") != `"v1"` {
		t.Errorf("the part's head is %v", r.Header)
	}
	ask("GET /a.css", part+"If-Range: \"v1\"\r\n", 206, text[500:502], 1)
	// Several parts may be of anything: their type says nothing of what they are.
	ask("GET /a.css", "Range: bytes=0-0,7-8\r\n", 200, text, 2)
}

// What is asked once more is GET, and only once; a part that is then still a part, or
// that nobody may ask for again, is no answer.
func TestPartsThatStay(t *testing.T) {
	const part = "HTTP/1.1 206 Partial Content\r\nContent-Type: text/html\r\nContent-Range: bytes 0-2/9\r\nContent-Length: 3\r\n\r\ncat"
	r := newRewriter(t, nil)
	ranged := field("Range: bytes=0-2\r\nIf-Range: \"x\"\r\nX: y")
	m, asked := r.exchange(ranged, part)
	if m.status != 502 || len(asked) != 2 {
		t.Errorf("the client gets %v, the server is asked %d times", m, len(asked))
	}
	if list := asked[0].String(); list != "GET / HTTP/1.1|Host: a|Range: bytes=0-2|If-Range: \"x\"|X: y||" {
		t.Errorf("first: %s", list)
	}
	if list := asked[1].String(); list != "GET / HTTP/1.1|Host: a|X: y||" {
		t.Errorf("then: %s", list)
	}
	if m, asked = r.exchange(getting, part); m.status != 502 || len(asked) > 2 {
		t.Errorf("a part that nobody wants goes on as %v, after %d requests", m, len(asked))
	}
	// With another method nobody knows what a second one would do: all is asked for at once.
	request := post("Content-Length: 1\r\nRange: bytes=0-2\r\nIf-Range: \"x\"", "x")
	m, asked = r.exchange(request, page("", "a cat"))
	if m.body != "a doggy" || len(asked) != 1 || asked[0].get("Range") != nil || asked[0].get("If-Range") != nil {
		t.Errorf("the client gets %v, the server %v", m, asked)
	}
	if m, asked = r.exchange(request, part); m.status != 502 || len(asked) != 1 {
		t.Errorf("a part that nobody wants goes on as %v, after %d requests", m, len(asked))
	}
	// Clients that rules do not cover get parts.
	none := newRewriter(t, func(c *config.Config) { c.Routes[0].ResponseBody.Share = 0 })
	if m, asked = none.exchange(ranged, part); m.status != 206 || m.body != "cat" || len(asked) != 1 || asked[0].get("Range") == nil {
		t.Errorf("without rules the client gets %v", m)
	}
	// 416 is as it is: there is no such part.
	if m, asked = r.exchange(ranged, "HTTP/1.1 416 No\r\nContent-Range: bytes */9\r\nContent-Length: 0\r\n\r\n"); m.status != 416 || len(asked) != 1 {
		t.Errorf("416 goes on as %v", m)
	}
}

// The second request may meet a server that is another, fails or is not there.
func TestAllThatCannotBeHad(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) {
		for r := c.request(); r != nil; r = c.request() {
			if r.Header.Get("Range") == "" {
				return // closed, without a word
			}
			c.say("HTTP/1.1 206 Partial Content\r\nContent-Type: text/html\r\nContent-Range: bytes 0-2/9\r\nContent-Length: 3\r\n\r\ncat")
		}
	})
	_, addr := run(t, rewriting(s.addr, cats...), Options{})
	client := connect(t, addr)
	for range 3 {
		client.want(t, 502, "GET /x", "Range: bytes=0-2\r\n")
	}
	gone := connect(t, addr)
	gone.send("GET /x", "Range: bytes=0-2\r\n")
	gone.SetLinger(0)
	gone.Close()
}
