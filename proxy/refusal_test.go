//go:build linux

package proxy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redoubt/netloop/http1"
	"redoubt/proxy/config"
)

// A request that breaks HTTP, or comes too late, has a line in the log with what
// there is of it, and with the rule that it breaks.
func TestRefusedIsLogged(t *testing.T) {
	c := settings("127.0.0.1:1")
	file := filepath.Join(t.TempDir(), "access.log")
	c.Log = &config.Log{File: file, Format: "json"}
	c.Timeouts.Head = 100 * time.Millisecond
	c.Limits.Body = 10
	_, addr := start(t, c, Options{})
	for i, c := range []struct{ say, want string }{
		{"GET /a?b HTTP/1.1\r\n\r\n", `400 "GET" "/a?b" 1.1 "bad request: Host missing"`},
		{"POST /a HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", `400 "POST" "/a" 1.0 "bad request: malformed or repeated Content-Length"`},
		{"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", `413 "POST" "/a" 1.1 "bad request: body too long"`},
		{"POST /a HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n", `417 "POST" "/a" 1.1 "bad request: unsupported expectation"`},
		{"GET /a\"\xff\x00 HTTP/1.1\r\n", `400 "GET" "/a\"ÿ\x00" 1.1 "bad request: malformed request target"`},
		{"GET /slow", `408 "GET" "/slow" 1.1 "the request was not whole in time"`},
		{"GE", `408 "" "" 1.1 "the request was not whole in time"`},
		{"\x16\x03\x01 \x00", `400 "" "" 1.1 "bad request: malformed method"`},
		{"GET /" + strings.Repeat("x", http1.MaxTarget) + " HTTP/1.1\r\n", fmt.Sprintf(`414 "GET" %q 1.1 "bad request: request target too long"`, "/"+strings.Repeat("x", http1.MaxTarget))},
		{"GET /many HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 100) + "\r\n", `431 "GET" "/many" 1.1 "bad request: too many fields"`},
		{strings.Repeat("M", 65) + " / HTTP/1.1\r\n", fmt.Sprintf(`501 %q "/" 1.1 "bad request: method too long"`, strings.Repeat("M", 65))},
	} {
		talk(t, addr, c.say)
		var lines []string
		eventually(t, "a line in the log", func() bool {
			text, _ := os.ReadFile(file)
			lines = strings.SplitAfter(string(text), "\n")
			return len(lines) == i+2
		})
		var line struct {
			Status                         int
			Method, Target, Version, Error string
		}
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatalf("%.100q: %s: %v", c.say, lines[i], err)
		}
		version := strings.TrimPrefix(line.Version, "HTTP/")
		if got := fmt.Sprintf("%d %q %q %s %q", line.Status, line.Method, line.Target, version, line.Error); got != c.want {
			t.Errorf("%.100q is logged as\n%s, want\n%s", c.say, got, c.want)
		}
	}
}
