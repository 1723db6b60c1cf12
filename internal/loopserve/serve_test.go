//go:build linux

package loopserve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"redoubt/handlers"
	"redoubt/netloop"
	"redoubt/store"
)

const (
	users   = 50
	visited = 20_000 // visits of user 2: an answer of 1.1 MB
)

// newStore makes users 0 to 49, location 0, and visits of user 2.
func newStore(t testing.TB, visits int) *store.Store {
	t.Helper()
	s, err := store.New(store.Config{Now: 1_500_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint32(users) {
		u := &store.User{Has: store.WholeUser, ID: id, Email: fmt.Append(nil, id), FirstName: []byte("Ян"), LastName: []byte("X"), Gender: 'm'}
		if err := s.CreateUser(u); err != nil {
			t.Fatal(err)
		}
	}
	l := &store.Location{Has: store.WholeLocation, Place: []byte("P"), Country: []byte("C"), City: []byte("D")}
	if err := s.CreateLocation(l); err != nil {
		t.Fatal(err)
	}
	for id := range uint32(visits) {
		v := &store.Visit{Has: store.WholeVisit, ID: id, User: 2, VisitedAt: int32(id), Mark: 3}
		if err := s.CreateVisit(v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// start serves a store, until the test's end at the latest, and returns the
// address.
func start(t testing.TB, s *store.Store, o Options) (addr string, server *Server) {
	t.Helper()
	server, err := New(handlers.New(s), o)
	if err != nil {
		t.Fatal(err)
	}
	at, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return at.String(), server
}

// eachWay runs a test with one loop and with two, blocking and busy.
func eachWay(t *testing.T, test func(t *testing.T, o Options)) {
	for name, o := range map[string]Options{
		"1 block": {Workers: 1}, "2 block": {Workers: 2},
		"1 busy": {Workers: 1, Wait: netloop.Busy}, "2 busy": {Workers: 2, Wait: netloop.Busy},
	} {
		if testing.Short() && o.Workers == 2 && o.Wait == netloop.Busy {
			continue // two spinners on two cores only show that this is no good idea
		}
		t.Run(name, func(t *testing.T) { test(t, o) })
	}
}

// dial opens a connection on which nothing takes longer than a minute, on a busy machine.
func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func get(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n" }

func post(target, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", target, len(body), body)
}

func user(id int) string {
	return fmt.Sprintf(`200 {"id":%d,"email":"%d","first_name":"Ян","last_name":"X","gender":"m","birth_date":0}`, id, id)
}

// answer is what came for one request.
type answer struct {
	status int
	header http.Header
	body   string
	closed bool // the connection ended in order behind it
}

func (a answer) String() string { return strings.TrimSpace(fmt.Sprint(a.status, " ", a.body)) }

// readAnswer reads the answer to a request, and the connection's end if the
// answer says that it ends.
func readAnswer(r *bufio.Reader, method string) (a answer, err error) {
	response, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		return a, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return a, err
	}
	a = answer{status: response.StatusCode, header: response.Header, body: string(body), closed: response.Close}
	if a.closed {
		if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
			return a, fmt.Errorf("behind the last answer came %q, %v", rest, err)
		}
	}
	return a, nil
}

// talk sends in pieces of that size and compares the answers. The last must
// end the connection, or not.
func talk(t *testing.T, addr, send string, size int, methods, want []string, closes bool) {
	t.Helper()
	c := dial(t, addr)
	defer c.Close()
	go func() {
		for rest := send; rest != ""; {
			n := min(size, len(rest))
			if _, err := io.WriteString(c, rest[:n]); err != nil {
				return
			}
			if rest = rest[n:]; rest != "" {
				time.Sleep(200 * time.Microsecond)
			}
		}
	}()
	r := bufio.NewReader(c)
	for i, m := range methods {
		a, err := readAnswer(r, m)
		if err != nil {
			t.Fatalf("%d bytes a packet, answer %d: %v", size, i, err)
		}
		if a.String() != want[i] || a.closed != (closes && i == len(methods)-1) {
			t.Fatalf("%d bytes a packet, answer %d: got %q, closed %v; want %q", size, i, a, a.closed, want[i])
		}
	}
}

// Requests in any number of packets, and several of them in one.
func TestWire(t *testing.T) {
	addr, _ := start(t, newStore(t, 0), Options{})
	for _, c := range []struct {
		name, send string
		methods    []string
		want       []string
		closes     bool
	}{
		{"one", get("/users/1"), []string{"GET"}, []string{user(1)}, false},
		{"pipelined", get("/users/1") + get("/users/99") + "\r\n" + get("/users/1/visits"), []string{"GET", "GET", "GET"}, []string{user(1), "404", `200 {"visits":[]}`}, false},
		{"POSTs with line breaks behind", post("/users/1", "{}") + "\r\n" + post("/users/99", "{}") + "\r\n\r\n" + get("/users/1"), []string{"POST", "POST", "GET"}, []string{"200 {}", "404", user(1)}, false},
		{"close with a line break behind", strings.Replace(post("/users/1", "{}"), "Host", "Connection: close\r\nHost", 1) + "\r\n", []string{"POST"}, []string{"200 {}"}, true},
		{"HEAD", "HEAD /users/1 HTTP/1.1\r\nHost: x\r\n\r\n" + get("/users/77"), []string{"HEAD", "GET"}, []string{"200", "404"}, false},
		{"HEAD of nothing", "HEAD /users/77 HTTP/1.1\r\nHost: x\r\n\r\n" + get("/users/1"), []string{"HEAD", "GET"}, []string{"404", user(1)}, false},
		{"HTTP/1.0", "GET /users/1 HTTP/1.0\r\n\r\n", []string{"GET"}, []string{user(1)}, true},
		{"HTTP/1.0 keep-alive", "GET /users/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get("/users/1"), []string{"GET", "GET"}, []string{user(1), user(1)}, false},
		{"absolute", get("http://x/users/1?y") + get("HTTP://x:80/users/2/visits?toDate=x") + get("http://x"), []string{"GET", "GET", "GET"}, []string{user(1), "400", "404"}, false},
		{"chunked body", "POST /users/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;a=b\r\n}\r\n0\r\nT: v\r\n\r\n" + get("/users/1"), []string{"POST", "GET"}, []string{"200 {}", user(1)}, false},
		{"method and path as they are", get("/users/1/") + get("/users//1") + get("/users/./1") + get("/users/%31") + strings.Replace(get("/users/1"), "GET", "PUT", 1), []string{"GET", "GET", "GET", "GET", "PUT"}, []string{"404", "404", "404", "404", "405"}, false},
		{"8 KB of header", strings.Replace(get("/users/1"), "Host", "X: "+strings.Repeat("x", 8<<10)+"\r\nHost", 1), []string{"GET"}, []string{user(1)}, false},
		{"the longest body", post("/users/1", "{"+strings.Repeat(" ", 1<<20-2)+"}") + get("/users/1"), []string{"POST", "GET"}, []string{"200 {}", user(1)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{len(c.send), 1000, 7, 1} { // bytes a packet
				if len(c.send)/size < 2000 {
					talk(t, addr, c.send, size, c.methods, c.want, c.closes)
				}
			}
			for cut := 1; cut < len(c.send) && len(c.send) < 500 && !testing.Short(); cut += 3 {
				talk(t, addr, c.send, max(cut, len(c.send)-cut), c.methods, c.want, c.closes)
			}
		})
	}
}

// Requests that are no good get their status and a closed door; what stood
// before them is answered, what stands behind them is not.
func TestMalformed(t *testing.T) {
	addr, _ := start(t, newStore(t, 0), Options{Workers: 2})
	field := func(f string) string { return "GET /users/1 HTTP/1.1\r\nHost: x\r\n" + f + "\r\n\r\n" }
	body := func(fields, body string) string {
		return "POST /users/1 HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n\r\n" + body
	}
	for name, c := range map[string]struct {
		send   string
		status int
	}{
		"bare LF":                      {"GET /users/1 HTTP/1.1\nHost: x\n\n", 400},
		"bare LF in the fields":        {"GET /users/1 HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", 400},
		"bare CR":                      {field("X: a\rb"), 400},
		"NUL":                          {field("X: a\x00b"), 400},
		"control byte":                 {field("X: a\x01b"), 400},
		"obs-fold":                     {field("X: a\r\n b"), 400},
		"space before the colon":       {field("X : a"), 400},
		"no colon":                     {field("hello"), 400},
		"Content-Length twice":         {body("Content-Length: 2\r\nContent-Length: 2", "{}"), 400},
		"Content-Length list":          {body("Content-Length: 2, 2", "{}"), 400},
		"Content-Length signed":        {body("Content-Length: +2", "{}"), 400},
		"Content-Length empty":         {body("Content-Length:", "{}"), 400},
		"both":                         {body("Content-Length: 2\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), 400},
		"chunked is not last":          {body("Transfer-Encoding: chunked, gzip", "0\r\n\r\n"), 400},
		"chunked twice":                {body("Transfer-Encoding: chunked, chunked", "0\r\n\r\n"), 400},
		"chunked twice, two fields":    {body("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), 400},
		"another coding":               {body("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"), 501},
		"coding in 1.0":                {"POST /users/1 HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		"chunk size":                   {body("Transfer-Encoding: chunked", "x\r\n"), 400},
		"chunk size overflows":         {body("Transfer-Encoding: chunked", "ffffffffffffffffff\r\n"), 400},
		"chunk without end":            {body("Transfer-Encoding: chunked", "2\r\n{}0\r\n\r\n"), 400},
		"chunk ends in LF":             {body("Transfer-Encoding: chunked", "2\r\n{}\n0\r\n\r\n"), 400},
		"no Host":                      {"GET /users/1 HTTP/1.1\r\n\r\n", 400},
		"two Hosts":                    {field("Host: y"), 400},
		"bad Host":                     {"GET /users/1 HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
		"long Host":                    {"GET /users/1 HTTP/1.1\r\nHost: " + strings.Repeat("x", 256) + "\r\n\r\n", 400},
		"bytes in the target":          {"GET /users/\xff HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"two spaces":                   {"GET  /users/1 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"no target":                    {"GET HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"HTTP/2.0":                     {"GET /users/1 HTTP/2.0\r\nHost: x\r\n\r\n", 505},
		"HTTP/0.9":                     {"GET /users/1 HTTP/0.9\r\nHost: x\r\n\r\n", 505},
		"no version":                   {"GET /users/1\r\n\r\n", 400},
		"malformed version":            {"GET /users/1 HTTP/1.11\r\nHost: x\r\n\r\n", 400},
		"target over 8,192":            {get("/" + strings.Repeat("x", 8192)), 414},
		"head over 32 KB":              {field("X: " + strings.Repeat("x", 32<<10)), 431},
		"over 100 fields":              {field(strings.Repeat("X: y\r\n", 100) + "X: y"), 431},
		"body over 1 MB":               {body("Content-Length: 1048577", "{}"), 413},
		"body of an absurd length":     {body("Content-Length: 99999999999999999999999", "{}"), 413},
		"chunked body over 1 MB":       {body("Transfer-Encoding: chunked", "100000\r\n"+strings.Repeat(" ", 1<<20)+"\r\n2\r\n{}\r\n0\r\n\r\n"), 413},
		"unknown expectation":          {body("Expect: 200-ok\r\nContent-Length: 2", "{}"), 417},
		"the first limit decides, 414": {"GET /" + strings.Repeat("x", 9000) + "\x00 HTTP/1.1\r\n\r\n", 414},
		"the first limit decides, 400": {"GET /\x00" + strings.Repeat("x", 9000) + " HTTP/1.1\r\n\r\n", 400},
		"TLS":                          {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
		"HTTP/2 preface":               {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			methods := []string{"GET", "POST", "GET"}
			want := []string{user(1), "200 {}", fmt.Sprint(c.status)}
			for _, size := range []int{1 << 30, 4000, 11} {
				if len(c.send)/size < 1000 {
					talk(t, addr, get("/users/1")+post("/users/1", "{}")+c.send+get("/users/1"), size, methods, want, true)
				}
			}
		})
	}
}

// A request sees what those before it in the same connection have written.
func TestPipelinedFifty(t *testing.T) {
	addr, _ := start(t, newStore(t, 0), Options{Workers: 2})
	for i, size := range []int{1 << 20, 1400, 100, 13} {
		var send strings.Builder
		var methods, want []string
		ask := func(method, request, answer string) {
			send.WriteString(request + strings.Repeat("\r\n", len(want)%3))
			methods, want = append(methods, method), append(want, answer)
		}
		for k := range 10 {
			id := 10*i + k
			path := fmt.Sprint("/users/", id)
			born := strings.Replace(user(id), `"birth_date":0`, fmt.Sprintf(`"birth_date":%d`, k+1), 1)
			ask("GET", get(path), user(id))
			ask("POST", post(path, fmt.Sprintf(`{"birth_date":%d}`, k+1)), "200 {}")
			ask("GET", get(path), born)
			ask("POST", post(path, `{"gender":"x"}`), "400")
			ask("GET", get(path), born)
		}
		talk(t, addr, send.String(), size, methods, want, false)
	}
}

func TestExpectContinue(t *testing.T) {
	addr, _ := start(t, newStore(t, 0), Options{})
	for name, body := range map[string][2]string{
		"sized":   {"Content-Length: 2", "{}"},
		"chunked": {"Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n"},
	} {
		c := dial(t, addr)
		io.WriteString(c, "POST /users/1 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"+body[0]+"\r\n\r\n")
		r := bufio.NewReader(c)
		if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
			t.Fatalf("%s: %q, %v", name, line, err)
		}
		r.ReadString('\n')
		io.WriteString(c, body[1])
		if a, err := readAnswer(r, "POST"); err != nil || a.String() != "200 {}" {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
	// One that would be refused is not asked for its body.
	c := dial(t, addr)
	io.WriteString(c, "POST /users/1 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n")
	if a, err := readAnswer(bufio.NewReader(c), "POST"); err != nil || a.status != 413 || !a.closed {
		t.Errorf("%v, %v", a, err)
	}
}

func TestHeadsAndAllow(t *testing.T) {
	for _, short := range []bool{false, true} {
		addr, _ := start(t, newStore(t, 0), Options{ShortHeads: short})
		c := dial(t, addr)
		io.WriteString(c, "DELETE /users/1 HTTP/1.1\r\nHost: x\r\n\r\n")
		a, err := readAnswer(bufio.NewReader(c), "DELETE")
		if err != nil {
			t.Fatal(err)
		}
		date, err := http.ParseTime(a.header.Get("Date"))
		if short != (err != nil) || !short && time.Since(date).Abs() > 3*time.Second {
			t.Errorf("short %v: Date %q", short, a.header.Get("Date"))
		}
		a.header.Del("Date")
		want := http.Header{"Allow": {"GET, HEAD, POST"}, "Connection": {"keep-alive"}, "Content-Length": {"0"}, "Content-Type": {"application/json"}}
		if fmt.Sprint(a.header) != fmt.Sprint(want) {
			t.Errorf("short %v: %v, want %v", short, a.header, want)
		}
	}
}

// Who is too slow with a request is told so; who sends none goes without a
// word.
func TestSlowPeers(t *testing.T) {
	addr, _ := start(t, newStore(t, 0), Options{HeadTimeout: 100 * time.Millisecond, BodyTimeout: 100 * time.Millisecond, IdleTimeout: 200 * time.Millisecond})
	for send, want := range map[string]string{
		"":               "",
		"\r\n\r\n":       "",
		"GET /users/1 H": "HTTP/1.1 408 ",
		"POST /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{":              "HTTP/1.1 408 ",
		"POST /users/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{": "HTTP/1.1 408 ",
	} {
		t.Run(fmt.Sprintf("%.14q", send), func(t *testing.T) {
			t.Parallel()
			c := dial(t, addr)
			io.WriteString(c, send)
			all, err := io.ReadAll(c)
			if err != nil || !strings.HasPrefix(string(all), want) || want == "" && len(all) > 0 || bytes.Count(all, []byte("HTTP/1.1 ")) > 1 {
				t.Errorf("got %q, %v; want %q", all, err, want)
			}
		})
	}
}

// descriptors counts what this process has open.
func descriptors(t testing.TB) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// eventually waits some seconds for something to become true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("after ten seconds: %s", what)
		}
	}
}

// An address that is taken is refused, however the other listens there.
func TestListenErrors(t *testing.T) {
	addr, _ := start(t, newStore(t, 0), Options{Workers: 2})
	server, err := New(handlers.New(newStore(t, 0)), Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := server.Listen(addr); err == nil {
		t.Errorf("listens at %v a second time", at)
	}
	if err := server.Shutdown(context.Background()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
