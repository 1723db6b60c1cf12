//go:build linux

package proxy

import (
	"strings"
	"testing"

	"redoubt/proxy/body"
	"redoubt/proxy/config"
)

const (
	page200  = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	html     = "HTTP/1.1 200 OK|Content-Type: text/html|"
	varying  = "Vary: Accept-Encoding|"
	getting  = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	heading  = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
	getting0 = "GET / HTTP/1.0\r\nHost: a\r\n\r\n"
)

// What becomes of the heads of answers whose bodies are rewritten.
func TestEditedHeads(t *testing.T) {
	r := newRewriter(t, nil)

	// The length is the new one where all has come at once.
	r.wants(getting, page("", "a cat"), html+varying+"Content-Length: 7||a doggy")
	r.wants(getting, page("", "cat"), html+varying+"Content-Length: 5||doggy")
	r.wants(getting, page("", "no dogs"), html+varying+"Content-Length: 7||no dogs")
	r.wants(getting, page("", ""), html+varying+"Content-Length: 0||")
	r.wants(getting, inChunks("", "a c", "at"), html+varying+"Content-Length: 7||a doggy")
	r.wants(getting, inChunks(""), html+varying+"Content-Length: 0||")
	r.wants(getting0, page("", "a cat"), html+varying+"Content-Length: 7||a doggy")

	// Types: only those that rules are for, whatever their parameters.
	r.wants(getting, strings.Replace(page("", "cat"), "text/html", "Text/HTML;charset=x", 1), "HTTP/1.1 200 OK|Content-Type: Text/HTML;charset=x|"+varying+"Content-Length: 5||doggy")
	r.wants(getting, strings.Replace(page("", "cat"), "text/html", "text/plain", 1), "HTTP/1.1 200 OK|Content-Type: text/plain|Content-Length: 3||cat")
	r.wants(getting, with("Content-Length: 3", "cat"), "HTTP/1.1 200 OK|Content-Length: 3||cat")
	// Nor a part, whatever says that it is one.
	r.wants(getting, page("Content-Range: bytes 0-2/3", "cat"), html+"Content-Range: bytes 0-2/3|"+varying+"Content-Length: 3||cat")

	// Any status.
	r.wants(getting, strings.Replace(page("", "no cat"), "200 OK", "404 Not Found", 1), "HTTP/1.1 404 Not Found|Content-Type: text/html|"+varying+"Content-Length: 8||no doggy")
	r.wants(getting, strings.Replace(page("", "cats"), "200 OK", "503 Away", 1), "HTTP/1.1 503 Away|Content-Type: text/html|"+varying+"Content-Length: 5||doggy")
	r.wants(getting, strings.Replace(page("Location: /cat", "cats"), "200 OK", "302 There", 1), "HTTP/1.1 302 There|Content-Type: text/html|Location: /cat|"+varying+"Content-Length: 5||doggy")
	r.wants(post("Content-Length: 3", "cat"), page("", "cat"), html+varying+"Content-Length: 5||doggy")

	// What is true of the body that came only; Last-Modified is of the file.
	const validators = "ETag: \"1\"\r\nLast-Modified: Tue, 01 Jan 2019 00:00:00 GMT"
	const modified = "Last-Modified: Tue, 01 Jan 2019 00:00:00 GMT|"
	r.wants(getting, page(validators, "cat"), html+`ETag: W/"1"|`+modified+varying+"Content-Length: 5||doggy")
	r.wants(getting, page(`ETag: W/"1"`, "cat"), html+`ETag: W/"1"|`+varying+"Content-Length: 5||doggy")
	r.wants(getting, page("Accept-Ranges: bytes\r\nDigest: sha-256=x\r\nContent-MD5: y\r\nContent-Digest: z\r\nRepr-Digest: u\r\nX: y", "cat"), html+"X: y|"+varying+"Content-Length: 5||doggy")
	// Of a type that rules are not for all stays.
	r.wants(getting, strings.Replace(page("ETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-MD5: y", "cat"), "text/html", "text/css", 1),
		`HTTP/1.1 200 OK|Content-Type: text/css|ETag: "1"|Accept-Ranges: bytes|Content-MD5: y|Content-Length: 3||cat`)

	// Vary is there once.
	r.wants(getting, page("Vary: accept-encoding", "cat"), html+"Vary: accept-encoding|Content-Length: 5||doggy")
	r.wants(getting, page("Vary: Cookie, Accept-Encoding", "cat"), html+"Vary: Cookie, Accept-Encoding|Content-Length: 5||doggy")
	r.wants(getting, page("Vary: Cookie\r\nVary: Accept-Encoding", "cat"), html+"Vary: Cookie|Vary: Accept-Encoding|Content-Length: 5||doggy")
	r.wants(getting, page("Vary: *", "cat"), html+"Vary: *|Content-Length: 5||doggy")
	r.wants(getting, page("Vary: Cookie", "cat"), html+"Vary: Cookie|"+varying+"Content-Length: 5||doggy")

	// What says that there is no coding is no coding.
	for _, none := range []string{"none", "identity", "None", "", "identity, identity"} {
		r.wants(getting, page("Content-Encoding: "+none, "cat"), html+varying+"Content-Length: 5||doggy")
	}
}

// Answers without a body.
func TestEditedHeadsAlone(t *testing.T) {
	r := newRewriter(t, nil)
	r.wants(heading, page200+"ETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-Length: 5\r\n\r\n", html+`ETag: W/"1"|`+varying+"|")
	r.wants(heading, page200+"Transfer-Encoding: chunked\r\n\r\n", html+varying+"|")
	r.wants(heading, page200+"Content-MD5: x\r\nLast-Modified: Tue, 01 Jan 2019 00:00:00 GMT\r\n\r\n", html+"Last-Modified: Tue, 01 Jan 2019 00:00:00 GMT|"+varying+"|")
	r.wants(heading, "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nETag: \"1\"\r\nContent-Length: 5\r\n\r\n", `HTTP/1.1 200 OK|Content-Type: text/css|ETag: "1"|Content-Length: 5||`)
	r.wants(getting, "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content||")
	r.wants(getting, "HTTP/1.1 204 No Content\r\nETag: \"1\"\r\n\r\n", `HTTP/1.1 204 No Content|ETag: "1"||`)
	r.wants(getting, "HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n\r\n", "HTTP/1.1 204 No Content|Content-Type: text/html|"+varying+"|")

	// A coding that the client would not get is not told of.
	r.wants(heading, page200+"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", html+varying+"|")
	taking := strings.Replace(heading, "\r\n\r\n", "\r\n"+takesAll+"\r\n\r\n", 1)
	r.wants(taking, page200+"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", html+"Content-Encoding: gzip|"+varying+"|")
	r.wants(taking, page200+"Content-Encoding: br\r\nContent-Length: 5\r\n\r\n", html+"Content-Encoding: gzip|"+varying+"|")

	// 304 has the ETag that the client has named: weak, where it was told a weak one.
	ask := func(etag string) string { return field("If-None-Match: " + etag) }
	r.wants(ask(`W/"1"`), "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n", `HTTP/1.1 304 Not Modified|ETag: W/"1"|`+varying+"|")
	r.wants(ask(`"0", W/"1"`), "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n", `HTTP/1.1 304 Not Modified|ETag: W/"1"|`+varying+"|")
	r.wants(ask(`"1"`), "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n", `HTTP/1.1 304 Not Modified|ETag: "1"||`)
	r.wants(ask(`W/"1"`), "HTTP/1.1 304 Not Modified\r\nETag: W/\"1\"\r\n\r\n", `HTTP/1.1 304 Not Modified|ETag: W/"1"|`+varying+"|")
	r.wants(ask(`W/"1"`), "HTTP/1.1 304 Not Modified\r\nContent-Type: text/html\r\nETag: \"1\"\r\nContent-Length: 5\r\n\r\n", `HTTP/1.1 304 Not Modified|Content-Type: text/html|ETag: W/"1"|`+varying+"|")
	// The server is asked as the client has, and says when the file is another.
	m, asked := r.exchange(ask(`W/"1"`), page(`ETag: "2"`, "cat"))
	if got := strings.Join(asked[0].get("If-None-Match"), ";"); got != `W/"1"` || m.String() != html+`ETag: W/"2"|`+varying+"Content-Length: 5||doggy" {
		t.Errorf("the server is asked for another than %s; the client gets %v", got, m)
	}
}

// The server may choose only from codings that both sides know.
func TestAcceptEncodingIsCut(t *testing.T) {
	r := newRewriter(t, nil)
	f := func(said, want string) {
		t.Helper()
		_, asked := r.exchange(field(said), page("", "cat"))
		if got := strings.Join(asked[0].get("Accept-Encoding"), "; "); got != want {
			t.Errorf("%q: the server is asked for %q, want %q", said, got, want)
		}
	}
	f("X: y", "")
	f("Accept-Encoding: gzip, deflate, br, zstd", "gzip, deflate, br, zstd")
	f("Accept-Encoding: sdch, gzip;q=0.5, dcb, br", "gzip;q=0.500, br")
	f("Accept-Encoding: gzip\r\nAccept-Encoding: compress, br", "gzip, br")
	f("Accept-Encoding: compress", "identity")
	f("Accept-Encoding:", "identity")
	f("Accept-Encoding: dcz, gzip;q=0", "identity")
	f("Accept-Encoding: identity;q=0, gzip", "identity;q=0, gzip")

	// Where no rules are, it is the client's affair.
	other := newRewriter(t, func(c *config.Config) { c.Routes[0].ResponseBody = nil })
	_, asked := other.exchange(field("Accept-Encoding: sdch, gzip"), page("", "cat"))
	if got := strings.Join(asked[0].get("Accept-Encoding"), "; "); got != "sdch, gzip" {
		t.Errorf("without rules the server is asked for %q", got)
	}
}

// Digests of what was sent are not of what is; other trailers stay.
func TestTrailersOfEditedBodies(t *testing.T) {
	r := newRewriter(t, nil)
	end := "0\r\nX: y\r\nDigest: sha-256=x\r\nContent-MD5: y\r\nRepr-Digest: z\r\nETag: \"1\"\r\nKeep-Alive: 1\r\n\r\n"
	plain := strings.TrimSuffix(inChunks("Trailer: X", "cat"), "0\r\n\r\n") + end
	m, _ := r.exchange(getting, plain)
	if m.String() != html+"Trailer: X|"+varying+"Transfer-Encoding: chunked||doggy|X: y" {
		t.Errorf("the client gets %v", m)
	}
	if m, _ = r.exchange(getting0, plain); m.body != "doggy" || m.trailers != nil {
		t.Errorf("a client of HTTP/1.0 gets %v", m)
	}
	coded := strings.TrimSuffix(inChunks("Content-Encoding: gzip", coderOf("gzip").encode("cat")), "0\r\n\r\n") + end
	m, _ = r.exchange(field(takesAll), coded)
	if text, err := decoded(&m); err != nil || text != "doggy" || len(m.trailers) != 1 || m.trailers[0] != [2]string{"X", "y"} {
		t.Errorf("the client gets %v: %q (%v)", m, text, err)
	}
	only := strings.TrimSuffix(inChunks("", "cat"), "0\r\n\r\n") + "0\r\nDigest: x\r\n\r\n"
	r.wants(getting, only, html+varying+"Content-Length: 5||doggy")
}

// A percentage of clients, always the same ones, gets rewritten bodies.
func TestShareOfEditedBodies(t *testing.T) {
	for _, share := range []float64{0, 50, 100} {
		r := newRewriter(t, func(c *config.Config) {
			c.Routes[0].ResponseBody.Share = share
			c.Routes[0].RequestBody = &body.Options{Name: "requests", Types: []string{"text/html"}, Rules: cats, Share: share}
			c.Trust = loopback
		})
		rules, changed := r.proxy.plan.routes[0].answers, 0
		for n := range 60 {
			client := clientNumber(n)
			for range 2 {
				said := "X-Forwarded-For: " + client.String() + "\r\nContent-Type: text/html\r\nAccept-Encoding: gzip, sdch\r\nContent-Length: 3"
				m, asked := r.exchange(post(said, "cat"), page(`ETag: "1"`, "cat"))
				want, arrives, coding := html+`ETag: "1"|Content-Length: 3||cat`, "cat", "gzip, sdch"
				if rules.Covers(client) {
					want, arrives, coding = html+`ETag: W/"1"|`+varying+"Content-Length: 5||doggy", "doggy", "gzip"
					changed++
				}
				if m.String() != want || asked[0].body != arrives || asked[0].get("Accept-Encoding")[0] != coding {
					t.Fatalf("share %v: %v gets %v, want %s; the server gets %v", share, client, m, want, asked)
				}
			}
		}
		if share == 0 && changed != 0 || share == 100 && changed != 120 || share == 50 && (changed < 30 || changed > 90) {
			t.Errorf("share %v: %d of 120 are rewritten", share, changed)
		}
	}
}
