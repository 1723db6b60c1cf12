//go:build linux

package httpconn

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// The scripts in testdata say what a client sends and what it must get,
// however its bytes are cut. Lines:
//
//	=== NAME       begins a script
//	> TEXT         is sent, with CRLF; a backslash at the end takes the place
//	               of that, and \r, \n, \xNN are those bytes
//	< TEXT         must come, written alike
//	reply STATUS keep|close TEXT
//	               must come: an answer of Reply with this body; a backslash
//	               at the end only shows where that is
//	wait           what must have come until here has, before the next is sent
//	fin            the client says that it is done
//	open           at the end: one more request is answered
//	closed, reset  at the end: so is the connection
//	silent         at the end: the server waits
type script struct {
	name  string
	steps []scriptStep
	fin   bool
	end   string
}

// scriptStep is what is sent and then must come.
type scriptStep struct{ send, want string }

func readScripts(t testing.TB, file string) (all []script) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word == "" || word[0] == '#' {
			continue
		}
		if word == "===" {
			all = append(all, script{name: rest, steps: []scriptStep{{}}})
			continue
		}
		s := &all[len(all)-1]
		step := &s.steps[len(s.steps)-1]
		switch word {
		case ">":
			step.send += unescape(t, rest)
		case "<":
			step.want += unescape(t, rest)
		case "reply":
			f := strings.SplitN(rest, " ", 3)
			status, _ := strconv.Atoi(f[0])
			body := strings.TrimSuffix(f[2], `\`) // which keeps a blank visible
			step.want += plainHead(status, len(body), f[1] == "close", "") + body
		case "wait":
			s.steps = append(s.steps, scriptStep{})
		case "fin":
			s.fin = true
		case "open", "closed", "reset", "silent":
			s.end = word
		default:
			t.Fatalf("%s:%d: %q is no line of a script", file, i+1, line)
		}
	}
	return all
}

func unescape(t testing.TB, s string) string {
	t.Helper()
	open := strings.HasSuffix(s, `\`)
	u, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.TrimSuffix(s, `\`), `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	if !open {
		u += "\r\n"
	}
	return u
}

// plainHead is the head of a Reply, without a date, rendered the simple way.
func plainHead(status, length int, close bool, fields string) string {
	h := fmt.Sprintf("HTTP/1.1 %d %s\r\n%s", status, http1.StatusText(status), fields)
	h += map[bool]string{true: "Connection: close\r\n", false: "Connection: keep-alive\r\n"}[close]
	if status != http.StatusNoContent && status != http.StatusNotModified {
		h += fmt.Sprintf("Content-Length: %d\r\n", length)
	}
	return h + "\r\n"
}

const (
	probe       = "GET /probe HTTP/1.1\r\nHost: a\r\n\r\n"
	scriptLimit = 20 // bytes of a body
)

func TestScripts(t *testing.T) {
	for _, mode := range []struct {
		file  string
		whole bool
	}{{"whole.txt", true}, {"both.txt", true}, {"both.txt", false}, {"stream.txt", false}} {
		name := strings.TrimSuffix(mode.file, ".txt") + map[bool]string{true: "/whole", false: "/stream"}[mode.whole]
		t.Run(name, func(t *testing.T) {
			exchanges := 0
			r := newRig(t, netloop.Options{}, ServerOptions{MaxBody: scriptLimit, WholeBodies: mode.whole, NoDate: true}, func(s *Session) Handler {
				return &scripted{whole: mode.whole, exchanges: &exchanges}
			})
			for _, s := range readScripts(t, mode.file) {
				t.Run(s.name, func(t *testing.T) { r.run(t, &s) })
			}
			r.until("each exchange is done", func() bool { return exchanges == 0 })
		})
	}
}

// run plays a script whole, byte by byte, and with each of its steps cut in
// two at every place.
func (r *rig) run(t *testing.T, s *script) {
	longest := 0
	for _, step := range s.steps {
		longest = max(longest, len(step.send))
	}
	const atOnce = 100
	cuts, stride := []int{1 << 30}, 1
	switch {
	case longest > 1500:
		stride = 29
	case testing.Short():
		stride = 3
	}
	for cut := 1; cut < longest; cut += stride {
		if cuts = append(cuts, cut); len(cuts) == atOnce {
			r.play(t, s, cuts)
			cuts = cuts[:0]
		}
	}
	r.play(t, s, cuts)
	if longest <= 1500 {
		r.play(t, s, []int{0})
	}
}

// play runs a script over one connection for each cut: 0 is byte by byte.
func (r *rig) play(t *testing.T, s *script, cuts []int) {
	peers := make([]*peer, len(cuts))
	for i := range peers {
		peers[i] = r.dialFor(t)
	}
	cut := -1
	defer func() {
		if t.Failed() {
			t.Logf("cut at %d", cut)
		}
	}()
	for k, step := range s.steps {
		rest := make([]string, len(cuts))
		for i, p := range peers {
			switch cut = cuts[i]; {
			case cut == 0:
				for j := range step.send {
					// A server that has refused may end the connection meanwhile.
					if _, p.failed = p.Write([]byte(step.send[j : j+1])); p.failed != nil {
						break
					}
					r.do(func() {}) // mostly enough
				}
			case cut < len(step.send):
				p.send(step.send[:cut])
				rest[i] = step.send[cut:]
			default:
				p.send(step.send)
			}
		}
		r.settled()
		for i, p := range peers {
			if rest[i] != "" {
				_, p.failed = p.Write([]byte(rest[i]))
			}
			if s.fin && k == len(s.steps)-1 {
				_ = p.CloseWrite()
			}
		}
		for i, p := range peers {
			cut = cuts[i]
			p.expect(step.want)
		}
	}
	if s.end == "silent" {
		r.settled()
	}
	for i, p := range peers {
		cut = cuts[i]
		switch s.end {
		case "open":
			p.send(probe)
			p.expect(plainHead(200, 1, false, "") + "!")
		case "closed":
			p.expectEnd()
		case "reset":
			p.expectReset()
		case "silent":
			if i == 0 || i == len(peers)-1 { // it takes a while
				p.expectSilence()
			}
		default:
			t.Fatal("no end")
		}
		p.Close()
	}
}

// scripted answers as the target says.
type scripted struct {
	whole     bool
	exchanges *int // that are not done, of all sessions

	target    string
	method    string
	collected []byte
	trailers  string
	open      bool
}

func (h *scripted) OnRequest(s *Session, r *http1.Request) {
	if h.open {
		panic("a request before the one before was done")
	}
	h.open = true
	*h.exchanges++
	h.target, h.method = string(r.Target()), string(r.Method())
	h.collected, h.trailers = append(h.collected[:0], s.WholeBody()...), ""
	kind, size := r.Framing()
	if h.whole || kind == http1.None {
		h.answer(s)
		return
	}
	switch h.target {
	case "/early", "/refuse":
		h.answer(s)
	case "/continue":
		s.Continue()
		s.Continue() // once is enough
	case "/stream":
		var head http1.Segments
		head.StatusLine(200, nil)
		s.SendHead(&head, 200, http1.Sized, size)
	}
}

func (h *scripted) OnBody(s *Session, piece []byte) {
	if !h.open {
		panic("a body outside of an exchange")
	}
	h.collected = append(h.collected, piece...)
	switch h.target {
	case "/stream":
		s.SendBody(piece)
	case "/abort":
		s.Abort()
	case "/needless":
		s.Continue() // nobody waits any more
	}
}

func (h *scripted) OnBodyEnd(s *Session, b *http1.Body) {
	h.trailers = string(b.Trailers())
	if h.target == "/stream" {
		s.EndBody(nil)
		return
	}
	h.answer(s)
}

func (h *scripted) OnDrain(*Session) {}

func (h *scripted) OnClose(*Session) {}

func (h *scripted) OnDone(_ *Session, err error) {
	if !h.open {
		panic("OnDone twice")
	}
	h.open = false
	*h.exchanges--
}

func (h *scripted) answer(s *Session) {
	path, arg, _ := strings.Cut(strings.TrimPrefix(h.target, "/"), "/")
	switch path {
	case "probe":
		s.Reply(200, "", []byte("!"))
	case "status":
		s.Reply(statusOf(arg), "", []byte("a body"))
	case "empty":
		s.Reply(200, "X-Empty: 1\r\n", nil)
	case "later":
		s.server.loop.Post(func() {
			if h.open { // or the client has gone
				h.target = "/" + arg
				h.answer(s)
			}
		})
	case "abort":
		s.Abort()
	case "interim":
		s.Interim([]byte("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"))
		s.Continue() // nobody waits for it
		s.Reply(200, "", []byte("hinted"))
	case "upgrade":
		var head http1.Segments
		head.StatusLine(101, nil)
		head.Field("Upgrade", []byte("shout"))
		head.Field("Connection", []byte("upgrade"))
		s.SendHead(&head, 101, http1.None, 0)
		s.HandOver(&shouter{})
	case "send":
		h.sendPieces(s, arg)
	default:
		s.Reply(200, "", fmt.Appendf(nil, "%s %s %s%s", h.method, h.target, h.collected, h.trailers))
	}
}

// sendPieces answers "abcdef" piece by piece. arg is STATUS-FRAMING.
func (h *scripted) sendPieces(s *Session, arg string) {
	number, framing, _ := strings.Cut(arg, "-")
	status := statusOf(number)
	var head http1.Segments
	head.StatusLine(status, nil)
	kind := map[string]http1.Framing{"none": http1.None, "sized": http1.Sized, "long": http1.Sized, "short": http1.Sized, "chunked": http1.Chunked, "close": http1.UntilClose}[framing]
	size := map[string]int64{"sized": 6, "long": 7, "short": 5}[framing]
	s.SendHead(&head, status, kind, size)
	s.Interim([]byte("too late"))
	s.Continue()
	if framing != "none" {
		s.SendBody([]byte("abc"))
		s.SendBody(nil)
		s.SendBody([]byte("def"))
	}
	s.EndBody([]byte("X-Sum: 7\r\n"))
}

// shouter is another protocol.
type shouter struct{ netloop.Handler }

func (*shouter) OnData(c *netloop.Conn, in []byte) int {
	c.Write(bytes.ToUpper(in))
	return len(in)
}
func (*shouter) OnEnd(c *netloop.Conn)        { c.Close() }
func (*shouter) OnDrain(*netloop.Conn)        {}
func (*shouter) OnTimeout(*netloop.Conn)      { panic("a deadline of the session before") }
func (*shouter) OnShutdown(c *netloop.Conn)   { c.Close() }
func (*shouter) OnClose(*netloop.Conn, error) {}

// statusOf reads the status that a request asks for; one that asks for none
// that there can be gets 404.
func statusOf(text string) int {
	if status, err := strconv.Atoi(text); err == nil && 100 <= status && status <= 999 {
		return status
	}
	return http.StatusNotFound
}
