//go:build linux

package proxy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"redoubt/proxy/config"
)

// Whatever coding a body comes in, rules see its text, and the client gets a coding
// that it takes: gzip if it can, or the server's, or none.
func TestCodedBodies(t *testing.T) {
	r := newRewriter(t, nil)
	text := "<p>cats and a cat, " + strings.Repeat("and so on ", 3000) + "cat</p>"
	for _, from := range []string{"gzip", "deflate", "br", "zstd"} {
		for _, c := range []struct{ takes, want string }{
			{takesAll, "gzip"},
			{"Accept-Encoding: gzip", "gzip"},
			{"Accept-Encoding: *", "gzip"},
			{"Accept-Encoding: " + from, from},
			{"Accept-Encoding: identity;q=0.5, sdch, " + from, from},
			{"Accept-Encoding: identity", ""},
			{"Accept-Encoding: ", ""},
			{"X: y", ""},
		} {
			for i, answer := range []string{
				page("Content-Encoding: "+from, coderOf(from).encode(text)),
				inChunks("Content-Encoding: "+from, coderOf(from).encode(text[:1], text[1:5000], text[5000:])),
				"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: " + from + "\r\n\r\n" + coderOf(from).encode(text),
			} {
				for _, version := range []string{"HTTP/1.1", "HTTP/1.0"}[:2-i%2] {
					m, _ := r.exchange(strings.Replace(field(c.takes), "HTTP/1.1", version, 1), answer)
					got, err := decoded(&m)
					if err != nil || got != offline(t, r.rules, text) {
						t.Errorf("%s to %q: the text is %q (%v)", from, c.takes, got, err)
					}
					if coding := strings.Join(m.get("Content-Encoding"), ","); coding != c.want || len(m.get("Content-Length")) > 0 && version == "HTTP/1.0" {
						t.Errorf("%s to %q goes on in %q, want %q", from, c.takes, coding, c.want)
					}
				}
			}
		}
	}
}

// The heads of coded answers: as of plain ones, and the coding stands there once.
func TestHeadsOfCodedBodies(t *testing.T) {
	r := newRewriter(t, nil)
	f := func(takes, lines, coding, want string) {
		t.Helper()
		m, _ := r.exchange(field(takes), page(lines, coderOf(coding).encode("a cat")))
		if text, err := decoded(&m); err != nil || text != "a doggy" {
			t.Errorf("%q: the text is %q (%v)", lines, text, err)
		}
		m.body = ""
		if m.String() != want {
			t.Errorf("%q: the client gets\n%v, want\n%s", lines, m, want)
		}
	}
	f(takesAll, "Content-Encoding: gzip\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-MD5: x", "gzip", html+`Content-Encoding: gzip|ETag: W/"1"|`+varying+"Transfer-Encoding: chunked||")
	f(takesAll, "Content-Encoding: br\r\nVary: Accept-Encoding", "br", html+"Content-Encoding: gzip|Vary: Accept-Encoding|Transfer-Encoding: chunked||")
	f("X: y", "Content-Encoding: GZIP", "gzip", html+varying+"Transfer-Encoding: chunked||")
	f("X: y", "Content-Encoding: x-gzip", "gzip", html+varying+"Transfer-Encoding: chunked||")
	f("X: y", "Content-Encoding: identity\r\nContent-Encoding: br", "br", html+varying+"Transfer-Encoding: chunked||")
	f("Accept-Encoding: gzip", "Content-Encoding: identity\r\nContent-Encoding: br", "br", html+"Content-Encoding: gzip|"+varying+"Transfer-Encoding: chunked||")
}

// Some servers leave out the wrapper that deflate has to have (RFC 9110, 8.4.1.2).
func TestDeflateWithoutWrapper(t *testing.T) {
	r := newRewriter(t, nil)
	m, _ := r.exchange(getting, page("Content-Encoding: deflate", noWrapper.encode("a cat")))
	if m.body != "a doggy" {
		t.Errorf("the client gets %v", m)
	}
}

// A coding that nobody knows, and several, are refused, or pass as they are.
func TestUnknownCodings(t *testing.T) {
	for _, pass := range []bool{false, true} {
		r := newRewriter(t, func(c *config.Config) { c.Routes[0].ResponseBody.Pass = pass })
		for _, coding := range []string{"compress", "sdch", "gzip, br", "br, compress", "gzip\r\nContent-Encoding: gzip", "dcz"} {
			m, _ := r.exchange(field(takesAll), page("ETag: \"1\"\r\nContent-Encoding: "+coding, "cat"))
			if pass && (m.status != 200 || m.body != "cat" || m.get("ETag")[0] != `"1"` || !strings.HasPrefix(coding, m.get("Content-Encoding")[0])) {
				t.Errorf("%q goes on as %v", coding, m)
			}
			if !pass && m.status != 502 {
				t.Errorf("%q goes on as %v", coding, m)
			}
		}
		// Of other types it is nobody's affair.
		m, _ := r.exchange(field(takesAll), strings.Replace(page("Content-Encoding: compress", "cat"), "text/html", "text/css", 1))
		if m.status != 200 || m.body != "cat" {
			t.Errorf("a type that rules are not for goes on as %v", m)
		}
	}
}

// What says gzip and is not is refused while nothing has gone out.
func TestNotInItsCoding(t *testing.T) {
	r := newRewriter(t, nil)
	for _, coding := range []string{"gzip", "zstd"} {
		for _, text := range []string{"plain text", "x", "\x1f\x8c123", "PK\x03\x04"} {
			if m, _ := r.exchange(field(takesAll), page("Content-Encoding: "+coding, text)); m.status != 502 {
				t.Errorf("%q as %s goes on as %v", text, coding, m)
			}
		}
	}
	for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
		if m, _ := r.exchange(field(takesAll), page("Content-Encoding: "+coding, "")); m.status != 200 || m.body != "" || m.framing != "sized" {
			t.Errorf("an empty body in %s goes on as %v", coding, m)
		}
	}
	// Windows beyond the limit are as a coding that is not known.
	small := newRewriter(t, func(c *config.Config) { c.Limits.CodedWindow = 128 << 10 })
	if m, _ := small.exchange(field(takesAll), page("Content-Encoding: br", largeWindow())); m.status != 502 {
		t.Errorf("a window that is too large goes on as %v", m)
	}
	if m, _ := r.exchange(field(takesAll), page("Content-Encoding: br", largeWindow())); m.status != 200 {
		t.Errorf("a large window goes on as %v", m)
	}
}

// largeWindow is a text in br that may look back 4 MB.
func largeWindow() string {
	c := *coderOf("br")
	return c.encode(strings.Repeat("cat and dog ", 100_000))
}

// Bytes that are no match go on as they are, whatever they mean to others.
func TestBytesStay(t *testing.T) {
	r := newRewriter(t, nil)
	binary := make([]byte, 70_000)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range binary {
		binary[i] = byte(rnd.Uint32())
	}
	every := ""
	for i := range 256 {
		every += string([]byte{byte(i)})
	}
	for name, text := range map[string]string{
		"UTF-8": strings.Repeat("Grüße, 世界 ☃ \u00e9 𝄞 cat; ", 500), "broken UTF-8": "\xc3cat\xe2\x98cat\xf0\x9d\x84", "Latin-1": "d\xe9j\xe0 vu cat\xff",
		"UTF-16": "\xff\xfec\x00a\x00t\x00", "binary": string(binary), "every byte": every, "a BOM": "\xef\xbb\xbfcat", "zeros": strings.Repeat("\x00", 5000),
	} {
		want := strings.ReplaceAll(text, "cat", "doggy")
		if name == "binary" {
			want = offline(t, r.rules, text)
		}
		for _, coding := range []string{"", "gzip", "br"} {
			answer := page("", text)
			if coding != "" {
				answer = page("Content-Encoding: "+coding, coderOf(coding).encode(text))
			}
			m, _ := r.exchange(field(takesAll), answer)
			if got, err := decoded(&m); err != nil || got != want {
				t.Errorf("%s in %q: %s (%v)", name, coding, differ(got, want), err)
			}
		}
	}
}

// Of an answer that the server does not finish nobody takes what has come for all.
func TestACutBodyLooksCut(t *testing.T) {
	r := newRewriter(t, nil)
	text := "a cat " + strings.Repeat("<p>something else</p>\n", 20) + "cat"
	type one struct{ what, answer string }
	var list []one
	for _, coding := range []string{"", "gzip", "deflate", "br", "zstd"} {
		lines, sent := "", text
		if coding != "" {
			lines, sent = "Content-Encoding: "+coding, coderOf(coding).encode(text[:60], text[60:])
		}
		for _, all := range []string{page(lines, sent), inChunks(lines, sent[:7], sent[7:])} {
			head := strings.Index(all, "\r\n\r\n") + 4
			for n := head; n < len(all); n += 1 + (len(all)-head)/40 {
				list = append(list, one{coding, all[:n]})
			}
			list = append(list, one{coding, all[:len(all)-1]})
		}
		if coding != "" { // framed whole, and yet not; or told by the connection's end
			until := page200 + lines + "\r\n\r\n"
			for _, n := range []int{1, len(sent) / 2, len(sent) - 9, len(sent) - 1} {
				list = append(list, one{coding, page(lines, sent[:n])}, one{coding, until + sent[:n]})
			}
		}
	}
	list = append(list, one{"a length of 123", page200 + "Content-Length: 123\r\n\r\na cat"}, one{"a length of 123", page200 + "Content-Length: 123\r\n\r\n"})
	for _, c := range list {
		for _, request := range []string{field(takesAll), strings.Replace(field(takesAll), "HTTP/1.1", "HTTP/1.0", 1)} {
			for _, end := range []ending{closes, resets} {
				r.next(script{answers: []string{c.answer}, end: end})
				answer, err := say(t, r.addr, request)
				what := fmt.Sprintf("%s, %q (%d)", c.what, c.answer, end)
				wantCut(t, what, request, answer, err)
				wantNoWholeCoding(t, what, answer)
			}
		}
	}
}

// wantNoWholeCoding looks into a cut answer of gzip: a client that takes the
// connection's end for the body's, as with HTTP/1.0, must find no end in it either.
func wantNoWholeCoding(t *testing.T, what, answer string) {
	t.Helper()
	head, sent, _ := strings.Cut(answer, "\r\n\r\n")
	if !strings.Contains(head, "Content-Encoding: gzip") || strings.Contains(head, "502") {
		return
	}
	if strings.Contains(head, "chunked") {
		whole := ""
		for { // as far as chunks are whole
			var n int
			if _, err := fmt.Sscanf(sent, "%x\r\n", &n); err != nil || n == 0 {
				break
			}
			_, sent, _ = strings.Cut(sent, "\r\n")
			whole += sent[:min(n, len(sent))]
			sent = sent[min(n+2, len(sent)):]
		}
		sent = whole
	}
	if text, err := coderOf("gzip").decode(sent); err == nil {
		t.Errorf("%s: gzip that ends in order comes of it: %q", what, text)
	}
}
