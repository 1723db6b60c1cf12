//go:build linux

package httpconn

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"redoubt/netloop"
)

// Whatever a client sends, and however it is cut: the server does not panic,
// its answers are well-formed for net/http, and none comes after one that says
// close.
func FuzzServer(f *testing.F) {
	for _, file := range []string{"both.txt", "whole.txt", "stream.txt"} {
		for _, s := range readScripts(f, file) {
			var send strings.Builder
			for _, step := range s.steps {
				send.WriteString(step.send)
			}
			f.Add([]byte(send.String()), uint64(send.Len()))
		}
	}
	servers := map[string]*rig{}
	for _, whole := range []bool{true, false} {
		exchanges := 0
		r := newRig(f, netloop.Options{}, ServerOptions{WholeBodies: whole, MaxBody: 1000, NoDate: true}, func(*Session) Handler {
			return &scripted{whole: whole, exchanges: &exchanges}
		})
		servers[map[bool]string{true: "whole", false: "stream"}[whole]] = r
	}
	f.Fuzz(func(t *testing.T, send []byte, seed uint64) {
		if bytes.Contains(send, []byte("/abort")) || bytes.Contains(send, []byte("/upgrade")) || bytes.Contains(send, []byte("/send")) || bytes.Contains(send, []byte("/status/1")) {
			return // the answers are no well-formed ones, and shall not be
		}
		for name, r := range servers {
			p := r.dialFor(t)
			rnd := rand.New(rand.NewPCG(seed, 1))
			go func() {
				defer p.CloseWrite()
				for rest := send; len(rest) > 0; {
					n := 1 + rnd.IntN(len(rest))
					if _, err := p.Write(rest[:n]); err != nil {
						return
					}
					if rest = rest[n:]; len(rest) < 200 {
						r.settled()
					}
				}
			}()
			got, err := io.ReadAll(p)
			if name == "stream" && errors.Is(err, syscall.ECONNRESET) && bytes.Contains(send, []byte("/stream")) {
				p.Close() // an answer that sends back a body which breaks off is cut, visibly
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v behind %q", name, err, got)
			}
			p.Close()
			checkAnswers(t, name, got)
		}
	})
}

func checkAnswers(t *testing.T, name string, got []byte) {
	in := bufio.NewReader(bytes.NewReader(got))
	closed := false
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return
		}
		if closed {
			t.Fatalf("%s: an answer behind the last one: %q", name, got)
		}
		// HEAD is the one request whose answer needs to be known.
		request := &http.Request{Method: "GET"}
		if rest, _ := in.Peek(in.Buffered()); isHeadAnswer(rest) {
			request.Method = "HEAD"
		}
		answer, err := http.ReadResponse(in, request)
		if err != nil {
			t.Fatalf("%s: %v in %q", name, err, got)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Fatalf("%s: %v in %q", name, err, got)
		}
		closed = answer.Close
	}
}

// isHeadAnswer tells it by what follows the head: the other answers' bodies
// begin with another word than an answer's head does.
func isHeadAnswer(rest []byte) bool {
	head, behind, _ := bytes.Cut(rest, []byte("\r\n\r\n"))
	return !bytes.Contains(head, []byte("Content-Length: 0")) && (len(behind) == 0 || bytes.HasPrefix(behind, []byte("HTTP/1.1 ")))
}

// Whatever a server sends: the client does not panic, it hears no more answers
// than it has asked for, and the same however the bytes are cut.
func FuzzClient(f *testing.F) {
	const one = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
	for _, seed := range []string{
		"", one, one + one + one, one + one + one + one,
		"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 204 N\r\n\r\nHTTP/1.1 101 U\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n" + one,
		"HTTP/1.0 200 OK\r\n\r\nall", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n" + one,
	} {
		f.Add([]byte(seed), uint64(len(seed)))
	}
	r := newRig(f, netloop.Options{}, ServerOptions{}, handle(&funcs{request: hello}))
	o := newOrigin(f)
	f.Fuzz(func(t *testing.T, answer []byte, seed uint64) {
		begin := time.Now()
		talk := func(cuts int) string {
			d := newDiary()
			rnd := rand.New(rand.NewPCG(seed, 2))
			asks := []Ask{Ask(rnd.IntN(4)), Ask(rnd.IntN(4)), Ask(rnd.IntN(4))}[:rnd.IntN(4)]
			c := r.client(o.addr(), ClientOptions{}, d)
			p := o.acceptFor(t)
			r.do(func() {
				for _, ask := range asks {
					c.Send(ask, bytesOf("x"))
				}
			})
			rest := answer
			for ; cuts > 0 && len(rest) > 0; cuts-- {
				n := rnd.IntN(len(rest))
				_, _ = p.Write(rest[:n])
				rest = rest[n:]
				r.settled()
			}
			_, _ = p.Write(rest)
			_ = p.CloseWrite()
			<-d.closed
			p.Close()
			words := strings.Join(d.words, " ")
			if strings.Count(words, "done") > len(asks) && !bytes.Contains(answer, []byte("done")) {
				t.Fatalf("%d requests, but %s", len(asks), words)
			}
			// What comes behind the last answer is seen with it or later.
			return strings.ReplaceAll(words, "reusable "+ErrUnasked.Error(), ErrUnasked.Error())
		}
		if whole, cut := talk(0), talk(5); whole != cut && time.Since(begin) < partingTime/2 { // else it need not have waited
			t.Fatalf("%q: %s\ncut: %s", answer, whole, cut)
		}
	})
}
