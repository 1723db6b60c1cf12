package ammo

import (
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	r := Record{Bytes: []byte("POST /a?b c HTTP/1.1\r\nHost: x\r\nconnection: upgrade, Close\r\n\r\n{}\r\n")}
	method, target := r.MethodTarget()
	if string(method) != "POST" || string(target) != "/a?b c" || string(r.Body()) != "{}\r\n" || !r.Closes() {
		t.Errorf("got %s, %s, %q, %v", method, target, r.Body(), r.Closes())
	}
	for _, text := range []string{"", "GET", "GET /", " / HTTP/1.1", "GET  HTTP/1.1", "\r\n"} {
		if method, _ := (Record{Bytes: []byte(text)}).MethodTarget(); method != nil {
			t.Errorf("%q has the method %q", text, method)
		}
	}
}

func TestRecordCloses(t *testing.T) {
	f := func(want bool, version string, fields ...string) {
		t.Helper()
		for _, end := range []string{"\r\n", "\n"} {
			lines := append([]string{"GET /a HTTP/" + version}, fields...)
			text := strings.Join(lines, end) + end + end
			if got := (Record{Bytes: []byte(text)}).Closes(); got != want {
				t.Errorf("%q closes: %v, want %v", text, got, want)
			}
		}
	}
	f(false, "1.1")
	f(false, "1.1", "Host: x", "Connection: keep-alive")
	f(true, "1.1", "Host: x", "Connection: close", "Accept: */*")
	f(true, "1.1", "Connection:close")
	f(true, "1.1", "CONNECTION: \t CLOSE \t")
	f(true, "1.1", "Connection: upgrade,, close")
	f(true, "1.1", "Connection: keep-alive, close") // close wins (RFC 9112, 9.3)
	f(true, "1.1", "Connection: keep-alive", "Connection: close")
	f(false, "1.1", "X-Connection: close")
	f(false, "1.1", "Connection: closed, not-close, clos")
	f(false, "1.1", "Connection-Hint: close", "Connection", "Connection:")
	f(false, "1.1", "X: Connection: close")
	f(false, "1.1", "", "Connection: close") // a body
	f(true, "1.0")
	f(true, "1.0", "Connection: upgrade")
	f(false, "1.0", "Connection: Keep-Alive")
	f(false, "1.0", "Connection: upgrade, keep-alive")
	f(false, "1.0", "Connection: keep-alive, upgrade")
	f(false, "1.0", "Connection: upgrade", "Connection: keep-alive")
	f(true, "1.0", "Connection: keep-alive, close")
	f(true, "1.0", "", "Connection: keep-alive")

	for text, want := range map[string]bool{
		"":                                    false,
		"GET / HTTP/1.0":                      true, // no line end at all
		"GET /?HTTP/1.0":                      false,
		"GET / HTTP/1.1\r\nConnection: close": true,
	} {
		if got := (Record{Bytes: []byte(text)}).Closes(); got != want {
			t.Errorf("%q closes: %v, want %v", text, got, want)
		}
	}
}

// A gun asks both of each record.
func TestRecordAllocates(t *testing.T) {
	r := Record{Bytes: []byte("GET /users/1/visits?toDate=1 HTTP/1.1\r\nHost: x\r\nCookie: y\r\nConnection: a, b, keep-alive\r\n\r\n")}
	if n := testing.AllocsPerRun(100, func() { r.MethodTarget(); r.Closes() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
