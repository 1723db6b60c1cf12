//go:build linux

package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"redoubt/netloop"
	"redoubt/netloop/httpconn"
	"redoubt/proxy/config"
)

// noMemory takes all blocks of a loop's memory while f runs on its thread's
// behalf. That memory is short, which turns requests away before one is needed,
// goes unseen.
func noMemory(w *worker, f func()) {
	var all [][]byte
	var looked time.Duration
	onLoop(w, func() {
		looked, w.lookedAt = w.lookedAt, w.loop.Now()+time.Hour
		for size := 1 << 20; size > 0; size /= 2 {
			for b, err := w.loop.Memory().Get(size); err == nil; b, err = w.loop.Memory().Get(size) {
				all = append(all, b)
			}
		}
	})
	f()
	onLoop(w, func() {
		w.lookedAt = looked
		for _, b := range all {
			w.loop.Memory().Put(b)
		}
	})
}

// A request whose head cannot be kept is turned away, and the connection that
// was picked for it stays idle.
func TestNoMemoryForAHead(t *testing.T) {
	for idle := range 2 {
		t.Run(fmt.Sprint(idle, " idle"), func(t *testing.T) {
			s := play(t, "", func(c *scriptedConn) { c.serve("x") })
			c := settings(s.addr)
			c.Upstreams[0].Keepalive = idle
			p, addr := run(t, c, Options{})
			w := p.workers[0]
			client := connect(t, addr)
			client.want(t, 200, "GET /1", "")
			noMemory(w, func() {
				for range 3 {
					r, _, err := client.ask("GET /2", "")
					if err != nil || r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
						t.Fatal(r, err)
					}
				}
				if n := metric(t, p, "shed_total"); n != 3 {
					t.Errorf("%v requests are counted as turned away, want 3", n)
				}
				onLoop(w, func() {
					pool := p.plan.upstreams[0].origins[0].pools[0]
					if len(pool.idle) != idle || pool.open != idle {
						t.Errorf("the pool has %d idle connections, and %d in all", len(pool.idle), pool.open)
					}
				})
				if idle > 0 { // what is not sent twice needs no copy
					client.want(t, 200, "DELETE /3", "")
				}
			})
			client.want(t, 200, "GET /4", "")
			if ever, _ := s.opened(); ever != 2-idle {
				t.Errorf("the server has seen %d connections, want %d", ever, 2-idle)
			}
			if n := s.count("GET /2"); n != 0 {
				t.Errorf("the server has seen %d requests that were turned away", n)
			}
		})
	}
}

// One long head leaves no memory behind with its connection.
func TestLongHeadsLeaveNothingBehind(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Routes[0].Upgrade = true
	c.Log = &config.Log{File: t.TempDir() + "/log", Format: "json"}
	var x *exchange
	p, addr := runWith(t, c, Options{}, func(p *Proxy) {
		w := p.workers[0]
		w.server = httpconn.NewServer(w.loop, serverOptions(w.plan, w.refused), func(s *httpconn.Session) httpconn.Handler {
			x = w.open(s).(*exchange)
			return x
		})
	})
	client := connect(t, addr)
	for _, lines := range []string{
		"Referer: " + strings.Repeat("r", 23<<10),
		"Connection: upgrade\r\nUpgrade: " + strings.Repeat("u", 23<<10),
	} {
		client.want(t, 200, "GET /"+strings.Repeat("t", 8000), lines+"\r\n")
		onLoop(p.workers[0], func() {
			if text, upgrades := cap(x.notes.text), cap(x.upgrades); text > keepText || upgrades > keepText {
				t.Errorf("%.20s...: %d bytes of notes and %d of protocols are kept", lines, text, upgrades)
			}
		})
	}
	client.want(t, 200, "GET /short", "")
	onLoop(p.workers[0], func() {
		if cap(x.notes.text) == 0 {
			t.Error("short texts are kept no memory for: each request makes garbage")
		}
	})
}

// Where the proxy has no descriptor for a connection to a server, that is not
// the server's failure.
func TestNoDescriptorForAServer(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) { c.serve("x") })
	c := settings(s.addr)
	c.Routes[0].Path = "/x"
	c.Upstreams[0].Fails = 1
	p, addr := run(t, c, Options{})
	client := connect(t, addr)
	client.want(t, 404, "GET /", "") // it has been accepted
	noDescriptors(t, func() { client.want(t, 503, "GET /x", "") })
	if n := metric(t, p, "upstream_failures_total"); n != 0 {
		t.Errorf("%v failures of the server are counted", n)
	}
	client.want(t, 200, "GET /x", "")
}

// noDescriptors runs f while the process can open nothing.
func noDescriptors(t *testing.T, f func()) {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	lowered := limit
	lowered.Cur = 256
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lowered); err != nil {
		t.Fatal(err)
	}
	var filled []int
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
		for _, fd := range filled {
			unix.Close(fd)
		}
	}()
	for {
		fd, err := unix.Dup(int(null.Fd()))
		if err == unix.EMFILE {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		filled = append(filled, fd)
	}
	f()
}

// What the proxy lacks is told from what servers do.
func TestIsOurs(t *testing.T) {
	for _, err := range []error{netloop.ErrMemory, unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.EADDRNOTAVAIL} {
		if !isOurs(err) || !isOurs(os.NewSyscallError("socket", err)) {
			t.Errorf("%v is taken for the server's", err)
		}
	}
	for _, err := range []error{nil, io.EOF, unix.ECONNREFUSED, unix.ECONNRESET, unix.ETIMEDOUT, unix.EHOSTUNREACH, unix.ENETUNREACH,
		netloop.ErrCut, httpconn.ErrTimeout, http.ErrBodyNotAllowed, errors.New("bad answer")} {
		if isOurs(err) {
			t.Errorf("%v is taken for the proxy's", err)
		}
	}
}
