package http1

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// Heads as they come: two of the contest's, a browser's, and an answer's.
const (
	contestGet = "GET /users/12345/visits?toDistance=50 HTTP/1.1\r\nHost: travels.com\r\n" +
		"User-Agent: Technolab/1.0 (Docker; CentOS) Highload/1.0\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
	contestPost = "POST /visits/4321?query_id=777 HTTP/1.1\r\nHost: travels.com\r\n" +
		"User-Agent: Technolab/1.0 (Docker; CentOS) Highload/1.0\r\nAccept: */*\r\nConnection: close\r\n" +
		"Content-Type: application/json\r\nContent-Length: 27\r\n\r\n"
	browserGet = "GET /assets/app/main.4f2a9c.js?v=20240611 HTTP/1.1\r\n" +
		"Host: www.shop.example\r\n" +
		"Connection: keep-alive\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Safari/537.36\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n" +
		"Sec-Fetch-Site: same-origin\r\n" +
		"Sec-Fetch-Mode: no-cors\r\n" +
		"Sec-Fetch-Dest: script\r\n" +
		"Referer: https://www.shop.example/catalog/shoes?page=3\r\n" +
		"Accept-Encoding: gzip, deflate, br, zstd\r\n" +
		"Accept-Language: en-GB,en;q=0.9,de;q=0.8\r\n" +
		"Cookie: session=8c1f7a3b9d2e4c5f; theme=dark; consent=a1b2c3d4\r\n" +
		"If-Modified-Since: Tue, 11 Jun 2024 08:00:00 GMT\r\n\r\n"
	answerHead = "HTTP/1.1 200 OK\r\nServer: nginx/1.27.0\r\nDate: Tue, 11 Jun 2024 08:12:31 GMT\r\n" +
		"Content-Type: text/html; charset=utf-8\r\nContent-Length: 51234\r\nLast-Modified: Mon, 10 Jun 2024 17:00:00 GMT\r\n" +
		"Connection: keep-alive\r\nETag: \"66674b10-c822\"\r\nVary: Accept-Encoding\r\nAccept-Ranges: bytes\r\n\r\n"
)

func chunkedBody(chunk, size int) []byte {
	var out bytes.Buffer
	w := httputil.NewChunkedWriter(&out)
	for ; size > 0; size -= chunk {
		w.Write(bytes.Repeat([]byte("x"), min(chunk, size)))
	}
	w.Close()
	out.WriteString("\r\n")
	return out.Bytes()
}

func BenchmarkRequest(b *testing.B) {
	for _, head := range []struct{ name, text string }{{"get", contestGet}, {"post", contestPost}, {"browser", browserGet}} {
		in := []byte(head.text)
		run := func(who string, f func(b *testing.B)) {
			b.Run(head.name+"/"+who, func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				f(b)
			})
		}
		run("ours", func(b *testing.B) {
			var r Request
			for b.Loop() {
				r.Reset()
				if n, fault := r.Parse(in); n != len(in) || fault != 0 {
					b.Fatal(n, fault)
				}
			}
		})
		run("bytewise", func(b *testing.B) { // the dearest way to come
			var r Request
			for b.Loop() {
				r.Reset()
				for n := range in {
					if _, fault := r.Parse(in[:n+1]); fault != 0 {
						b.Fatal(n, fault)
					}
				}
			}
		})
		run("fasthttp", func(b *testing.B) {
			var r bytes.Reader
			var h fasthttp.RequestHeader
			buffered := bufio.NewReader(&r)
			for b.Loop() {
				r.Reset(in)
				buffered.Reset(&r)
				if err := h.Read(buffered); err != nil {
					b.Fatal(err)
				}
			}
		})
		run("nethttp", func(b *testing.B) {
			var r bytes.Reader
			buffered := bufio.NewReader(&r)
			for b.Loop() {
				r.Reset(in)
				buffered.Reset(&r)
				if _, err := http.ReadRequest(buffered); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkResponse(b *testing.B) {
	in := []byte(answerHead)
	start := func(b *testing.B) { b.SetBytes(int64(len(in))); b.ReportAllocs() }
	b.Run("ours", func(b *testing.B) {
		start(b)
		var r Response
		for b.Loop() {
			r.Reset()
			if n, fault := r.Parse(in); n != len(in) || fault != 0 {
				b.Fatal(n, fault)
			}
		}
	})
	b.Run("fasthttp", func(b *testing.B) {
		start(b)
		var r bytes.Reader
		var h fasthttp.ResponseHeader
		buffered := bufio.NewReader(&r)
		for b.Loop() {
			r.Reset(in)
			buffered.Reset(&r)
			if err := h.Read(buffered); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("nethttp", func(b *testing.B) {
		start(b)
		var r bytes.Reader
		buffered := bufio.NewReader(&r)
		for b.Loop() {
			r.Reset(in)
			buffered.Reset(&r)
			if _, err := http.ReadResponse(buffered, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkChunked(b *testing.B) {
	for _, chunk := range []int{64, 1024, 16384} {
		in := chunkedBody(chunk, 65536)
		start := func(b *testing.B) { b.SetBytes(65536); b.ReportAllocs() }
		b.Run(fmt.Sprintf("%d/ours", chunk), func(b *testing.B) {
			start(b)
			var body Body
			for b.Loop() {
				body.Reset(Chunked, 0)
				size := 0
				for rest, done := in, false; !done; {
					var data []byte
					var n int
					var fault Fault
					if data, n, done, fault = body.Next(rest); fault != 0 {
						b.Fatal(fault)
					}
					rest = rest[n:]
					size += len(data)
				}
				if size != 65536 {
					b.Fatal(size)
				}
			}
		})
		b.Run(fmt.Sprintf("%d/fasthttp", chunk), func(b *testing.B) { // copies
			start(b)
			message := append([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), in...)
			var r bytes.Reader
			var answer fasthttp.Response
			buffered := bufio.NewReaderSize(&r, 65536)
			for b.Loop() {
				r.Reset(message)
				buffered.Reset(&r)
				if err := answer.Read(buffered); err != nil || len(answer.Body()) != 65536 {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d/nethttp", chunk), func(b *testing.B) { // copies
			start(b)
			var r bytes.Reader
			for b.Loop() {
				r.Reset(in)
				if n, err := io.Copy(io.Discard, httputil.NewChunkedReader(&r)); err != nil || n != 65536 {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkSegments(b *testing.B) {
	var s Segments
	date := []byte("Tue, 11 Jun 2024 08:12:31 GMT")
	body := []byte(strings.Repeat("x", 125))
	b.ReportAllocs()
	for b.Loop() {
		s.Reset()
		s.StatusLine(200, nil)
		s.Field("Content-Type", []byte("application/json"))
		s.ContentLength(int64(len(body)))
		s.Field("Connection", []byte("keep-alive"))
		s.Field("Date", date)
		s.EndHead()
		s.Raw(body)
		if len(s.List()) != 2 {
			b.Fatal(len(s.List()))
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	in := []byte("Accept-Encoding: gzip")
	for b.Loop() {
		if lookup(in, 0, 15) != AcceptEncoding {
			b.Fatal()
		}
	}
}
