//go:build linux

package httpconn

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/valyala/fasthttp"

	"redoubt/netloop"
	"redoubt/netloop/http1"
)

// BenchmarkRoundTrip is one connection on which the same raw client asks a
// number of servers, all with the same answer; client and server share the
// processors. The client sleeps in the system on a thread of its own: one that
// waited in Go's scheduler would be woken sooner by servers that live there,
// and one that polled would keep those from being woken.
//
// Two shared cores of an AMD Zen 5 that others used as well, µs a request, the
// lower quartile of 15 runs:
//
//	                one at a time   16 pipelined
//	httpconn        20.1            1.4
//	httpconn-busy   31.3            1.6     no processor to spare
//	fasthttp        19.9            2.1
//	nethttp         22.5           18.2
func BenchmarkRoundTrip(b *testing.B) {
	body := []byte(strings.Repeat("x", 128))
	servers := []struct {
		name  string
		start func(*testing.B) string
	}{
		{"httpconn", func(b *testing.B) string { return startOurs(b, netloop.Block, body) }},
		{"httpconn-busy", func(b *testing.B) string { return startOurs(b, netloop.Busy, body) }},
		{"fasthttp", func(b *testing.B) string {
			l := listen(b)
			s := &fasthttp.Server{NoDefaultServerHeader: true, Handler: func(c *fasthttp.RequestCtx) { c.SetBody(body) }}
			go s.Serve(l)
			b.Cleanup(func() { s.Shutdown() })
			return l.Addr().String()
		}},
		{"nethttp", func(b *testing.B) string {
			l := listen(b)
			s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{"text/plain"}
				w.Write(body)
			})}
			go s.Serve(l)
			b.Cleanup(func() { s.Close() })
			return l.Addr().String()
		}},
	}
	for _, pipelined := range []int{1, 16} {
		for _, s := range servers {
			b.Run(fmt.Sprintf("pipelined-%d/%s", pipelined, s.name), func(b *testing.B) {
				c, err := net.Dial("tcp", s.start(b))
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				roundTrips(b, c, pipelined)
			})
		}
	}
}

// BenchmarkClient is a Client and a Session on the two ends of a connection,
// both on one loop: what a request costs them together, the system included,
// with one request at a time, with 16 pipelined.
func BenchmarkClient(b *testing.B) {
	body := []byte(strings.Repeat("x", 128))
	for _, pipelined := range []int{1, 16} {
		b.Run(fmt.Sprintf("pipelined-%d", pipelined), func(b *testing.B) {
			r := newRig(b, netloop.Options{}, ServerOptions{NoDate: true},
				handle(&funcs{request: func(s *Session, _ *http1.Request) { s.Reply(200, "", body) }}))
			a := &asker{request: bytesOf(get("/users/12345")), ended: make(chan struct{}, pipelined)}
			c := r.client(r.addr, ClientOptions{HeadTimeout: patience, IdleTimeout: patience}, a)
			<-a.ended
			b.ReportAllocs()
			b.ResetTimer()
			r.loop.Post(func() {
				a.left = max(b.N, pipelined)
				for range pipelined {
					a.ask(c)
				}
			})
			for range pipelined {
				<-a.ended
			}
			b.StopTimer()
			r.do(c.Close)
		})
	}
}

// BenchmarkClientReads is a Client's own share of an answer, without the
// system: 130 ns, 30 of them the channel's, as the least of 40 runs.
func BenchmarkClientReads(b *testing.B) {
	r := newRig(b, netloop.Options{}, ServerOptions{}, handle(&funcs{request: hello}))
	o := newOrigin(b)
	a := &asker{ended: make(chan struct{}, 1)}
	c := r.client(o.addr(), ClientOptions{HeadTimeout: patience, IdleTimeout: patience}, a)
	p := o.accept()
	<-a.ended
	answer := []byte(ok(false, strings.Repeat("x", 128)))
	r.do(func() {
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			c.asked = append(c.asked[:0], Plain)
			c.first, a.left = 0, 0
			if n := c.OnData(c.conn, answer); n != len(answer) {
				b.Errorf("%d of %d bytes", n, len(answer))
				return
			}
			<-a.ended
		}
		b.StopTimer()
		c.Close()
	})
	p.Close()
}

func listen(b *testing.B) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func startOurs(b *testing.B, wait netloop.Wait, body []byte) string {
	r := newRig(b, netloop.Options{Wait: wait}, ServerOptions{WholeBodies: true, Fields: "Content-Type: text/plain\r\n"},
		handle(&funcs{request: func(s *Session, _ *http1.Request) { s.Reply(200, "", body) }}))
	return r.addr.String()
}

// roundTrips counts answers by bytes: all have the length of the first.
func roundTrips(b *testing.B, c net.Conn, pipelined int) {
	const one = "GET /users/12345 HTTP/1.1\r\nHost: travels.com\r\nUser-Agent: tank\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
	in := make([]byte, 64<<10)
	if _, err := c.Write([]byte(one)); err != nil {
		b.Fatal(err)
	}
	size, err := c.Read(in)
	if err != nil {
		b.Fatal(err)
	}
	out := []byte(strings.Repeat(one, pipelined))
	file, err := c.(*net.TCPConn).File() // blocking
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	fd := int(file.Fd())
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	b.SetBytes(int64(len(one)))
	for n := 0; n < b.N; n += pipelined {
		if k, err := syscall.Write(fd, out); err != nil || k != len(out) {
			b.Fatal("write: ", err)
		}
		for left := size * pipelined; left > 0; {
			switch k, err := syscall.Read(fd, in[:left]); {
			case err == syscall.EINTR:
			case err != nil || k == 0:
				b.Fatal("read: ", err)
			default:
				left -= k
			}
		}
	}
}
