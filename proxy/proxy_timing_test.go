//go:build linux

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkExchange has bodies fetched through the proxy over one connection, and
// tells how many bytes are copied in user space for each byte of a body that is
// forwarded: heads that are made or kept, what is put together to be sent, and
// what a socket does not take. (The system copies each byte four times.)
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int{0, 2 << 10, 50 << 10, 500 << 10, 5 << 20} {
		for _, framing := range []string{"sized", "chunked"} {
			b.Run(fmt.Sprintf("%d-%s", size, framing), func(b *testing.B) {
				p, addr := start(b, settings(rawOrigin(b, size, framing == "chunked")), Options{})
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				in := bufio.NewReaderSize(conn, 256<<10)
				ask := []byte("GET /a/path?q=1 HTTP/1.1\r\nHost: example.com\r\nUser-Agent: a browser\r\nAccept: */*\r\nCookie: a=b\r\n\r\n")
				fetch := func() {
					if _, err := conn.Write(ask); err != nil {
						b.Fatal(err)
					}
					r, err := http.ReadResponse(in, nil)
					if err != nil {
						b.Fatal(err)
					}
					if n, err := io.Copy(io.Discard, r.Body); err != nil || n != int64(size) {
						b.Fatal(n, err)
					}
				}
				for range 10 {
					fetch()
				}
				copied := func() (n int64) {
					done := make(chan struct{})
					w := p.workers[0]
					w.loop.Post(func() { n = w.copied + w.loop.Copied(); close(done) })
					<-done
					return n
				}
				before := copied()
				b.SetBytes(int64(size))
				b.ResetTimer()
				for b.Loop() {
					fetch()
				}
				b.StopTimer()
				n := float64(copied()-before) / float64(b.N)
				b.ReportMetric(n, "copied-B/op")
				if size > 0 {
					b.ReportMetric(n/float64(size), "copied-B/B")
				}
			})
		}
	}
}

// rawOrigin answers every request with the same bytes.
func rawOrigin(t testing.TB, size int, chunked bool) string {
	body := strings.Repeat("x", size)
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nServer: raw\r\n\r\n%s", size, body)
	if chunked {
		answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nServer: raw\r\n\r\n"
		for len(body) > 0 {
			n := min(len(body), 8000)
			answer += fmt.Sprintf("%x\r\n%s\r\n", n, body[:n])
			body = body[n:]
		}
		answer += "0\r\n\r\n"
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					if _, err := http.ReadRequest(in); err != nil {
						return
					}
					if _, err := io.WriteString(conn, answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
