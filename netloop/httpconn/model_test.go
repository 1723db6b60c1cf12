//go:build linux

package httpconn

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// Random pipelines against a handler that echoes, now or later: every answer
// must be the one that a look at the request alone foretells, in order, however
// the bytes were cut. -run TestRandomPipelines/SEED repeats a failure.
func TestRandomPipelines(t *testing.T) {
	seeds := uint64(60)
	if instrumented || testing.Short() {
		seeds = 20
	}
	for _, whole := range []bool{true, false} {
		r := newRig(t, netloop.Options{MaxInput: 2 << 20}, ServerOptions{WholeBodies: whole, MaxBody: 1 << 20, NoDate: true}, func(*Session) Handler {
			return &echo{later: rand.New(rand.NewPCG(1, 2)), whole: whole}
		})
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 0))
				send, want := randomPipeline(rnd)
				p := r.dialFor(t)
				go func() {
					for len(send) > 0 {
						n := min(len(send), 1+rnd.IntN(1+rnd.IntN(2*len(send))))
						if _, err := p.Write(send[:n]); err != nil {
							return // only line ends behind the last request were left
						}
						if send = send[n:]; rnd.IntN(4) == 0 {
							time.Sleep(100 * time.Microsecond)
						}
					}
				}()
				p.expect(want)
				p.expectEnd()
			})
		}
	}
}

// randomPipeline ends in a request that closes.
func randomPipeline(rnd *rand.Rand) (send []byte, want string) {
	var out bytes.Buffer
	var answers strings.Builder
	for left := rnd.IntN(30); left >= 0; left-- {
		size := rnd.IntN(1 + rnd.IntN(1+rnd.IntN(100_000)))
		body := pattern(size)
		target := fmt.Sprintf("/%d?%s", left, strings.Repeat("q", rnd.IntN(50)))
		method := []string{"GET", "POST", "PUT", "HEAD"}[rnd.IntN(4)]
		head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: a\r\n%s", method, target, strings.Repeat("X-Filler: something\r\n", rnd.IntN(20)))
		if left == 0 {
			head += "Connection: close\r\n"
		}
		switch rnd.IntN(3) {
		case 0:
			body = nil
			fmt.Fprintf(&out, "%s\r\n", head)
		case 1:
			fmt.Fprintf(&out, "%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
		case 2:
			fmt.Fprintf(&out, "%sTransfer-Encoding: chunked\r\n\r\n", head)
			for rest := body; len(rest) > 0; {
				n := 1 + rnd.IntN(len(rest))
				fmt.Fprintf(&out, "%x\r\n%s\r\n", n, rest[:n])
				rest = rest[n:]
			}
			out.WriteString("0\r\n\r\n")
		}
		out.WriteString(strings.Repeat("\r\n", rnd.IntN(3)))
		answer := method + " " + target + " " + string(body)
		answers.WriteString(plainHead(200, len(answer), left == 0, ""))
		if method != "HEAD" {
			answers.WriteString(answer)
		}
	}
	return out.Bytes(), answers.String()
}

// echo answers with what was asked, sometimes a while later.
type echo struct {
	later  *rand.Rand
	whole  bool
	answer []byte
	gone   bool
}

func (h *echo) OnRequest(s *Session, r *http1.Request) {
	h.answer = fmt.Appendf(h.answer[:0], "%s %s %s", r.Method(), r.Target(), s.WholeBody())
	h.gone = false
	if k, _ := r.Framing(); h.whole || k == http1.None {
		h.reply(s)
	}
}
func (h *echo) OnBody(s *Session, piece []byte) {
	h.answer = append(h.answer, piece...)
	if h.later.IntN(8) == 0 {
		s.PauseBody()
		s.server.loop.Post(func() {
			if !h.gone {
				s.ResumeBody()
			}
		})
	}
}
func (h *echo) OnBodyEnd(s *Session, _ *http1.Body) { h.reply(s) }
func (h *echo) OnDrain(*Session)                    {}
func (h *echo) OnDone(*Session, error)              { h.gone = true }
func (h *echo) OnClose(*Session)                    {}

func (h *echo) reply(s *Session) {
	if h.later.IntN(3) > 0 {
		s.Reply(200, "", h.answer)
		return
	}
	s.server.loop.Post(func() {
		if !h.gone {
			s.Reply(200, "", h.answer)
		}
	})
}
