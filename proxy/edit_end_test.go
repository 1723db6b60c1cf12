//go:build linux

package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"redoubt/netloop"
	"redoubt/proxy/body"
	"redoubt/proxy/coding"
	"redoubt/proxy/config"
)

// leaving runs f once for each coding, and finds out whether goroutines are left when
// all that it has started has ended.
func leaving(t *testing.T, codings []string, f func(t *testing.T, coding string)) {
	t.Helper()
	for _, coding := range codings {
		before := runtime.NumGoroutine()
		t.Run("coding "+coding, func(t *testing.T) { f(t, coding) })
		eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
	}
}

var fewCodings = []string{"", "gzip", "zstd"}

// over waits until nothing of any body is left.
func over(t *testing.T, p *Proxy) {
	t.Helper()
	eventually(t, "no coded body is left", func() bool { return p.codings.Stats() == coding.Stats{} })
	eventually(t, "nothing is held back", func() bool {
		for _, r := range p.rulesInForce() {
			if r.Held() != 0 {
				return false
			}
		}
		return true
	})
}

// endlessly sends a coded text on and on, that ends in the middle of a match whenever it
// is cut, until nobody takes it.
func endlessly(w io.Writer, coding string) {
	text := mixed(rand.New(rand.NewPCG(1, 2)), 50_000) + "a cat x a" // more than gzip remembers
	if coding == "" {
		for {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	}
	c := coderOf(coding).writer(w)
	defer c.Close()
	for n := 0; ; n++ {
		if _, err := fmt.Fprint(c, n, text); err != nil || c.Flush() != nil {
			return
		}
	}
}

// head200 is the head of an answer of unknown length.
func head200(coding string) string {
	if coding == "" {
		return page200 + "\r\n"
	}
	return page200 + "Content-Encoding: " + coding + "\r\n\r\n"
}

// A client that goes away in the middle of a rewritten body ends it all: the server's
// connection, the worker, what is held back.
func TestClientLeavesAnEditedBody(t *testing.T) {
	leaving(t, fewCodings, func(t *testing.T, coding string) {
		for _, how := range []string{"end", "reset", "unread", "at once"} {
			s := play(t, "", func(c *scriptedConn) {
				c.request()
				c.say(head200(coding))
				endlessly(c, coding)
			})
			p, addr := run(t, rewriting(s.addr, cats...), Options{})
			for range 2 {
				c := connect(t, addr)
				c.send("GET /x", takesAll+"\r\n")
				switch how {
				case "end", "reset":
					io.CopyN(io.Discard, c.in, 1000)
				case "unread":
					c.in.Peek(1)
				}
				if how == "reset" {
					c.SetLinger(0)
				}
				c.Close()
			}
			eventually(t, how+": all are counted", func() bool { return metric(t, p, "gone_total") == 2 })
			eventually(t, how+": the server's connections end", func() bool { _, now := s.opened(); return now == 0 })
			over(t, p)
		}
	})
}

// Those that wait for memory leave as well.
func TestClientLeavesTheQueue(t *testing.T) {
	leaving(t, []string{"gzip"}, func(t *testing.T, coding string) {
		s := play(t, "", func(c *scriptedConn) {
			c.request()
			c.say(head200(coding))
			endlessly(c, coding)
		})
		c := rewriting(s.addr, cats...)
		c.Limits.CodedMemory = 1 // one is always let in
		p, addr := run(t, c, Options{})
		var clients []*client
		for range 6 {
			c := connect(t, addr)
			c.send("GET /x", takesAll+"\r\n")
			clients = append(clients, c)
		}
		eventually(t, "all are there", func() bool { s := p.codings.Stats(); return s.Running == 1 && s.Waiting == 5 })
		for i := len(clients) - 1; i >= 0; i-- { // from the queue's end, then the one that runs
			clients[i].SetLinger(0) // who only ends its side may still wait for the answer
			clients[i].SetLinger(0)
			clients[i].Close()
			eventually(t, "it has gone", func() bool { s := p.codings.Stats(); return s.Running+s.Waiting == i })
		}
		over(t, p)
	})
}

// A server that breaks off in the middle leaves nothing either, and the client sees it.
func TestServerBreaksAnEditedBodyOff(t *testing.T) {
	leaving(t, fewCodings, func(t *testing.T, coding string) {
		for _, reset := range []bool{true, false} {
			more := make(chan struct{}, 10)
			s := play(t, "", func(c *scriptedConn) {
				c.request()
				c.say(strings.Replace(head200(coding), "\r\n\r\n", "\r\nContent-Length: 1000000000\r\n\r\n", 1))
				first, _ := halves(coding)
				c.say(first)
				<-more
				endlessly(&limited{c, 3000}, coding) // goes on with something else
				if reset {
					c.reset()
				}
			})
			p, addr := run(t, rewriting(s.addr, cats...), Options{})
			for range 4 {
				c := begun(t, addr)
				more <- struct{}{}
				if r, _, err := c.answer("GET"); r == nil || r.StatusCode != 200 || err == nil {
					t.Errorf("the client gets %v (%v)", r, err)
				}
				c.Close()
			}
			over(t, p)
			if n := metric(t, p, "cut_total"); n != 4 {
				t.Errorf("%v are counted that were cut, of 4", n)
			}
		}
	})
}

// A body under way goes on by the rules that it has begun with.
func TestReloadInAnEditedBody(t *testing.T) {
	leaving(t, fewCodings, func(t *testing.T, coding string) {
		s, more := twoHalves(t, coding)
		p, addr := run(t, rewriting(s.addr, cats...), Options{})
		client := connect(t, addr)
		for n, rules := range []string{"doggy", "1", "2", "3"} {
			client.send("GET /x", takesAll+"\r\n")
			if _, err := client.in.Peek(1); err != nil {
				t.Fatal(err)
			}
			next := rewriting(s.addr, cats...)
			o := next.Routes[0].ResponseBody
			o.Rules = append(o.Rules[:0:0], o.Rules...)
			o.Rules[0].Put = fmt.Sprint(n + 1)
			reload(t, p, next)
			more <- struct{}{}
			if text, err := textOf(client, coding); err != nil || text != "a "+rules+" and a "+rules+", the end" {
				t.Errorf("before reload %d: %q %v", n, text, err)
			}
		}
		// Or by none, and in a route that is gone.
		client.send("GET /x", takesAll+"\r\n")
		client.in.Peek(1)
		next := settings(s.addr)
		next.Routes = []*config.Route{{Name: "other", Path: "/other", Upstream: next.Upstreams[0]}}
		reload(t, p, next)
		more <- struct{}{}
		if text, err := textOf(client, coding); err != nil || text != "a 4 and a 4, the end" {
			t.Errorf("%q %v", text, err)
		}
		over(t, p)
	})
}

// What is under way when the end begins ends whole; what takes too long is cut.
func TestShutdownInAnEditedBody(t *testing.T) {
	for _, patient := range []bool{true, false} {
		leaving(t, fewCodings, func(t *testing.T, coding string) {
			s, more := twoHalves(t, coding)
			p, addr := run(t, rewriting(s.addr, cats...), Options{Workers: 2})
			var clients []*client
			for range 4 {
				clients = append(clients, begun(t, addr))
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- p.Shutdown(ctx) }()
			eventually(t, "the end begins", func() bool { return p.group.Draining() })
			if !patient {
				cancel()
				if err := <-ended; !errors.Is(err, netloop.ErrCut) {
					t.Errorf("Shutdown: %v", err)
				}
			}
			for range clients {
				more <- struct{}{}
			}
			for _, c := range clients {
				text, err := textOf(c, coding)
				if patient && (err != nil || text != "a doggy and a doggy, the end") || !patient && err == nil {
					t.Errorf("%q %v", text, err)
				}
				c.Close()
			}
			if patient {
				if err := <-ended; err != nil {
					t.Errorf("Shutdown: %v", err)
				}
			}
			cancel()
			over(t, p)
		})
	}
}

// Requests whose bodies are rewritten end as well, whoever ends them.
func TestEndsOfEditedRequests(t *testing.T) {
	leaving(t, fewCodings, func(t *testing.T, coding string) {
		for _, who := range []string{"client", "server", "both"} {
			heard := make(chan struct{}, 10)
			s := play(t, "", func(c *scriptedConn) {
				c.head()
				c.in.Peek(1)
				heard <- struct{}{}
				if who == "client" {
					c.untilClosed()
				} else {
					c.reset()
				}
			})
			c := rewriting(s.addr, cats...)
			c.Routes[0].RequestBody = &body.Options{Name: "requests", Types: []string{"text/html"}, Rules: cats, Share: 100}
			c.Limits.Body = 1 << 40
			p, addr := run(t, c, Options{})
			for range 2 {
				client := connect(t, addr)
				lines := "Content-Type: text/html\r\nContent-Length: 100000000000\r\n"
				if coding != "" {
					lines += "Content-Encoding: " + coding + "\r\n"
				}
				client.send("POST /x", lines+"\r\n")
				if who != "server" {
					endlessly(&limited{client, 10_000}, coding)
					<-heard
					client.SetLinger(0)
				} else {
					go endlessly(client, coding)
					if r, _, err := client.answer("POST"); err == nil && r.StatusCode != 502 {
						t.Errorf("the client gets %v", r)
					}
				}
				client.Close()
			}
			eventually(t, "no request is left", func() bool { return metric(t, p, "requests_in_flight") == 0 })
			over(t, p)
		}
	})
}
