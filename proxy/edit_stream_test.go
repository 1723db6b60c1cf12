//go:build linux

package proxy

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
	"redoubt/proxy/subst"
)

// liveAnswer is an answer that is read while it is written.
type liveAnswer struct {
	t      *testing.T
	server *raw
	coded  bytes.Buffer
	coder  flushWriter // nil: no coding
	chunks bool
	client *http.Response
	text   io.Reader
}

// goLive asks, and has the server begin its answer: with the head alone. The client has
// its head then if it is one of events, else with what comes first.
func goLive(t *testing.T, addr string, accept func() *raw, kind, coding string, chunks bool) *liveAnswer {
	t.Helper()
	a := &liveAnswer{t: t, chunks: chunks}
	client := dialRaw(t, addr)
	lines, takes := "", "X: y"
	if coding != "" {
		a.coder = coderOf(coding).writer(&a.coded)
		lines, takes = "Content-Encoding: "+coding+"\r\n", "Accept-Encoding: "+coding
	}
	client.say(field(takes))
	a.server = accept()
	a.server.head()
	if chunks {
		lines += "Transfer-Encoding: chunked\r\n"
	}
	a.server.say("HTTP/1.1 200 OK\r\nContent-Type: " + kind + "\r\n" + lines + "\r\n")
	if kind != "text/event-stream" {
		a.text = &waiting{func() io.Reader { return a.begin(client, coding) }, nil}
		return a
	}
	a.readHead(client)
	a.text = &waiting{func() io.Reader { return a.decoder(coding) }, nil}
	return a
}

func (a *liveAnswer) begin(client *raw, coding string) io.Reader {
	a.readHead(client)
	return a.decoder(coding)
}

func (a *liveAnswer) readHead(client *raw) {
	a.t.Helper()
	r, err := http.ReadResponse(client.in, nil)
	if err != nil {
		a.t.Fatalf("no head comes: %v", err)
	}
	a.client = r
}

func (a *liveAnswer) decoder(coding string) io.Reader {
	if got := a.client.Header.Get("Content-Encoding"); got != coding {
		a.t.Fatalf("it comes in %q", got)
	}
	if coding == "" {
		return a.client.Body
	}
	r, err := coderOf(coding).reader(a.client.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

// waiting makes its reader when it is first read: some decoders read at once.
type waiting struct {
	make func() io.Reader
	r    io.Reader
}

func (w *waiting) Read(p []byte) (int, error) {
	if w.r == nil {
		w.r = w.make()
	}
	return w.r.Read(p)
}

// say has the server say more, and the client must have want of it before it says on.
func (a *liveAnswer) say(text, want string) {
	a.t.Helper()
	if a.coder != nil {
		io.WriteString(a.coder, text)
		a.coder.Flush()
		text = a.coded.String()
		a.coded.Reset()
	}
	if a.chunks {
		text = fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
	}
	a.server.say(text)
	got := make([]byte, len(want))
	if n, err := io.ReadFull(a.text, got); err != nil || string(got) != want {
		a.t.Fatalf("%.100q: the client has %.200q, want %.200q (%v)", text, got[:n], want, err)
	}
}

// end ends it; want must still come.
func (a *liveAnswer) end(want string) {
	a.t.Helper()
	if a.coder != nil {
		a.coder.Close()
	}
	text := a.coded.String()
	switch {
	case a.chunks && text != "":
		a.server.say(fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(text), text))
	case a.chunks:
		a.server.say("0\r\n\r\n")
	default:
		a.server.say(text)
	}
	a.server.CloseWrite()
	if got, err := io.ReadAll(a.text); err != nil || string(got) != want {
		a.t.Fatalf("in the end the client has %.200q, want %.200q (%v)", got, want, err)
	}
}

// ways has f tried with bodies in all codings and framings.
func ways(t *testing.T, addr string, accept func() *raw, kind string, f func(a *liveAnswer)) {
	for _, coding := range []string{"", "gzip", "deflate", "br", "zstd"} {
		for _, chunks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %v", coding, chunks), func(t *testing.T) { f(goLive(t, addr, accept, kind, coding, chunks)) })
		}
	}
}

func backstageOf(t *testing.T, rules ...subst.Rule) (string, func() *raw) {
	return backstage(t, func(c *config.Config) {
		*c = *rewriting(c.Upstreams[0].Servers[0], rules...)
		c.Upstreams[0].Keepalive = 0
	})
}

// The head of a stream of events goes on long before the first of them, and each of
// them as it comes.
func TestEvents(t *testing.T) {
	addr, accept := backstageOf(t, cats...)
	ways(t, addr, accept, "text/event-stream", func(a *liveAnswer) {
		a.say("data: cat\n\n", "data: doggy\n\n")
		a.say("data: 2\n\n", "data: 2\n\n")
		a.say(": \n", ": \n")
		a.say("data: a12z\n\n", "data: <a12z>\n\n")
		a.say("event: c", "event: ")
		a.say("at", "") // it might be cats
		a.say("\n\n", "doggy\n\n")
		a.end("")
	})
	ways(t, addr, accept, "text/event-stream", func(a *liveAnswer) { a.end("") })
}

// Only what a match may still be part of is held back, also of a page.
func TestPagesLeaveAtOnce(t *testing.T) {
	addr, accept := backstageOf(t, thirty(t)...)
	ways(t, addr, accept, "text/html", func(a *liveAnswer) {
		a.say("<html>\n", "<html>\n")
		a.say("see https://www.origin.example\n", "see https://shop.example\n")
		a.say("h", "")
		a.say("ttp:/", "")
		a.say(" no\n", "http:/ no\n")
		a.say("x=1.2.3.", "x=")
		a.say("4\n", "0.0.0.0\n")
		a.say("1.2.3.4", "")
		a.end("0.0.0.0")
	})
}

// Thirty rules never delay a chunk that cannot match.
func TestThirtyRulesDelayNothing(t *testing.T) {
	addr, accept := backstageOf(t, thirty(t)...)
	rnd := rand.New(rand.NewPCG(1, 2))
	ways(t, addr, accept, "text/html", func(a *liveAnswer) {
		for range 30 {
			n := 1 + rnd.IntN(1<<(1+rnd.IntN(16)))
			text := strings.Repeat("<p>and so on, é and so forth</p>\n", n/33+1)
			text = text[len(text)-n:]
			a.say(text, text)
		}
		a.end("")
	})
}

// A server that is slow to begin keeps nobody from a whole answer.
func TestHeadThatComesAlone(t *testing.T) {
	addr, accept := backstageOf(t, cats...)
	for _, sized := range []string{"Content-Length: 5\r\n", ""} {
		client := dialRaw(t, addr)
		client.say(getting)
		server := accept()
		server.head()
		server.say(page200 + sized + "\r\n")
		time.Sleep(20 * time.Millisecond) // a turn ends meanwhile
		server.say("a cat")
		server.CloseWrite()
		r, err := http.ReadResponse(client.in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r.Body); err != nil || string(text) != "a doggy" {
			t.Errorf("%q %v", text, err)
		}
	}
}
