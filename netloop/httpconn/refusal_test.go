//go:build linux

package httpconn

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// Whoever keeps a log hears of requests that no handler hears of: the status,
// which rule was broken, and what there is of the request line.
func TestRefusedIsTold(t *testing.T) {
	var told []string
	refused := func(s *Session, status int) {
		told = append(told, fmt.Sprintf("%d %s %q", status, faultText(s.Fault()), s.RequestLine()))
	}
	h := &funcs{request: func(s *Session, r *http1.Request) {
		if k, _ := r.Framing(); k == http1.None || s.server.options.WholeBodies {
			hello(s, r)
		}
	}, body: func(*Session, []byte) {}, bodyEnd: func(*Session) {}, done: func(s *Session, err error) {
		if err != nil {
			told = append(told, fmt.Sprintf("%v: %s", err, faultText(s.Fault())))
		}
	}}
	for _, whole := range []bool{false, true} {
		r := newRig(t, netloop.Options{}, ServerOptions{
			MaxBody: 10, HeadTimeout: 50 * time.Millisecond, BodyTimeout: 50 * time.Millisecond, WholeBodies: whole, Refused: refused,
		}, handle(h))
		f := func(want string, pieces ...string) {
			t.Helper()
			r.do(func() { told = nil })
			p := r.dial()
			for i, piece := range pieces {
				if i > 0 {
					r.settled()
				}
				p.send(piece)
			}
			io.ReadAll(p)
			r.do(func() {
				if got := strings.Join(told, ", "); got != want {
					t.Errorf("whole bodies %t: %q: told of %s, want %s", whole, pieces, got, want)
				}
			})
		}
		f(`400 Host missing "GET /a HTTP/1.1"`, "GET /a HTTP/1.1\r\n\r\n")
		f(`400 Host missing "GET /a HTTP/1.1"`, "\r", "\n\r\nGET /", "a HTTP/1.1\r\nX: y", "\r\n\r\n")
		f(`400 malformed method "no{} request"`, get("/")+"no{} request\r\n\r\n")
		f(`400 malformed request target "GET /a\x00b HTTP/1.1"`, "GET /a\x00b HTTP/1.1\r\n")
		f(`400 a line that does not end in CRLF "GET / HTTP/1.1"`, "GET / HTTP/1.1\nHost: a\n\n")
		long := "GET /" + strings.Repeat("x", 3*http1.MaxTarget)
		f(fmt.Sprintf(`414 request target too long %q`, long[:longestLine]), long)
		f(`408 none "GET /slow HTTP/1.1"`, "GET /slow HTTP/1.1\r\nHo")
		f(`408 none "GE"`, "GE")
		f(`413 body too long "POST / HTTP/1.1"`, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
		f("", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")

		const chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
		const sized = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"
		if whole {
			f(`400 malformed chunk size "POST / HTTP/1.1"`, chunked, "x\r\n")
			f(`413 body too long "POST / HTTP/1.1"`, chunked+"b\r\nabcdefghijk\r\n")
			f(`408 none "POST / HTTP/1.1"`, sized)
			f(`408 none "POST / HTTP/1.1"`, chunked, "2\r\nab")
			continue
		}
		// Here a handler has heard of the request, and hears of its end.
		f("refused with 400: malformed chunk size", chunked, "x\r\n")
		f("refused with 408: none", sized)
	}
}

func faultText(f http1.Fault) string {
	if f == 0 {
		return "none"
	}
	return f.Error()
}
