package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
)

func FuzzRequest(f *testing.F) {
	seed(f, "requests.txt")
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 400 { // every way of feeding is quadratic
			return
		}
		var r Request
		got := everyWay(t, &r, in)
		againstOracle(t, in, &r)
		if got.n > 0 {
			againstNetHTTP(t, in[:got.n], &r)
		}
	})
}

func FuzzResponse(f *testing.F) {
	seed(f, "answers.txt")
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 400 { // every way of feeding is quadratic
			return
		}
		var r Response
		if got := everyWay(t, &r, in); got.n > 0 {
			againstNetHTTPResponse(t, in[:got.n], &r)
		}
		againstOracleResponse(t, in, &r)
	})
}

func FuzzBody(f *testing.F) {
	seed(f, "bodies.txt", uint16(5), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, cut uint16, piece uint8) {
		chunkedAgainstOracle(t, in, int(cut)+1, int(piece)+1)
	})
}

// What Segments emits is read back the same, by ourselves and by net/http.
func FuzzSegments(f *testing.F) {
	f.Add("GET", "/a?b", "X-A", "b c", "hello", uint16(200))
	f.Add("GE T", "/ ", "A\r\nB", "b\r\nC: d", "", uint16(99))
	f.Fuzz(func(t *testing.T, method, target, name, value, body string, code uint16) {
		var s Segments
		known := KnownField(name)
		plain := known == Other && !strings.EqualFold(name, "pragma")

		var request Request
		if s.RequestLine([]byte(method), []byte(target)) {
			field := plain && s.Field(name, []byte(value))
			s.Field("Host", []byte("a"))
			s.Field("Transfer-Encoding", []byte("chunked"))
			s.EndHead()
			headSize := s.Len()
			s.Chunk([]byte(body))
			s.Chunk(nil)
			s.Chunk([]byte(body))
			s.LastChunk([]byte("T: 1\r\n"))
			out := bytes.Join(s.List(), nil)
			if len(out) != s.Len() {
				t.Fatalf("%d bytes, said to be %d", len(out), s.Len())
			}
			n, fault := request.Parse(out)
			switch {
			case fault != 0 && fault != BadTarget && fault != MethodTooLong && fault != TargetTooLong && fault != HeadTooLong:
				t.Fatalf("%q: %v", out, fault) // other than what the caller gave
			case fault == 0:
				if n != headSize || string(request.Method()) != method || string(request.Target()) != target {
					t.Fatalf("%q: %d bytes of %d, %s %s", out, n, headSize, request.Method(), request.Target())
				}
				if got, ok := request.Find(name); field && (!ok || string(got) != strings.Trim(value, " \t")) {
					t.Fatalf("%q: %q is %q", out, name, got)
				}
				againstNetHTTP(t, out[:n], &request)
				var b Body
				b.Reset(request.Framing())
				if got, want := readBody(&b, out[n:], 7), "data "+body+body+"\nrest \ntrailer T: 1"; got != want {
					t.Fatalf("%q: %q", out, got)
				}
			}
		}

		s.Reset()
		if s.StatusLine(int(code), []byte(value)) {
			s.Field(name, []byte(value))
			s.EndHead()
			out := bytes.Join(s.List(), nil)
			theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(out)), nil)
			var answer Response
			n, fault := answer.Parse(out)
			if known == Other && len(out) < MaxHead && (fault != 0 || n != len(out) || answer.Status() != int(code) || err != nil || theirs.StatusCode != int(code)) {
				t.Fatalf("%q: %d bytes, %v, %v", out, n, fault, err)
			}
			if n > 0 && n != len(out) {
				t.Fatalf("%q: a head of %d bytes", out, n)
			}
		}

		s.Reset()
		s.Chunk([]byte(body))
		s.LastChunk(nil)
		got, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(bytes.Join(s.List(), nil))))
		if err != nil || string(got) != body {
			t.Fatalf("%q: %q, %v", s.List(), got, err)
		}
	})
}
