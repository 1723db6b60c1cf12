package fastserve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/handlers"
	"redoubt/store"
)

// start serves a small store and returns the address.
func start(t *testing.T, o Options) (addr string, server *Server) {
	t.Helper()
	s, err := store.New(store.Config{Now: 1_500_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint32(3) {
		u := &store.User{Has: store.WholeUser, ID: id, Email: fmt.Append(nil, id), FirstName: []byte("Ян"), LastName: []byte("X"), Gender: 'm'}
		l := &store.Location{Has: store.WholeLocation, ID: id, Place: []byte("P"), Country: []byte("C"), City: []byte("D")}
		if err := errors.Join(s.CreateUser(u), s.CreateLocation(l)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = New(handlers.New(s), o)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return l.Addr().String(), server
}

// dial opens a connection on which nothing takes longer than some seconds.
func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(8 * time.Second))
	t.Cleanup(func() { c.Close() })
	return c
}

const user1 = `{"id":1,"email":"1","first_name":"Ян","last_name":"X","gender":"m","birth_date":0}`

// answers reads answers to the methods until as many came or the connection
// ended, and returns "status body" for each.
func answers(t *testing.T, c net.Conn, methods ...string) (got []string, closed bool) {
	t.Helper()
	r := bufio.NewReader(c)
	for _, m := range methods {
		response, err := http.ReadResponse(r, &http.Request{Method: m})
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		h := response.Header
		if h.Get("Content-Type") != "application/json" || h.Get("Content-Length") == "" || h.Get("Connection") == "" && !response.Close {
			t.Errorf("%d with header %v", response.StatusCode, h)
		}
		got = append(got, strings.TrimSpace(fmt.Sprint(response.StatusCode, " ", string(body))))
		if response.Close {
			if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
				t.Errorf("after the last answer came %q, %v", rest, err)
			}
			return got, true
		}
	}
	return got, false
}

func TestWire(t *testing.T) {
	addr, _ := start(t, Options{})
	get := func(target string) string { return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n" }
	post := func(target, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", target, len(body), body)
	}
	for _, c := range []struct {
		name, send string
		methods    []string
		want       []string
		closes     bool
	}{
		{"one", get("/users/1"), []string{"GET"}, []string{"200 " + user1}, false},
		{"pipelined", get("/users/1") + get("/users/9") + "\r\n" + get("/users/1/visits"), []string{"GET", "GET", "GET"}, []string{"200 " + user1, "404", `200 {"visits":[]}`}, false},
		{"POSTs with line breaks behind", post("/users/1", "{}") + "\r\n" + post("/users/9", "{}") + "\r\n\r\n" + get("/users/1"), []string{"POST", "POST", "GET"}, []string{"200 {}", "404", "200 " + user1}, false},
		{"close with a line break behind", strings.Replace(post("/users/1", "{}"), "Host", "Connection: close\r\nHost", 1) + "\r\n", []string{"POST"}, []string{"200 {}"}, true},
		{"HEAD", "HEAD /users/1 HTTP/1.1\r\nHost: x\r\n\r\n" + get("/users/7"), []string{"HEAD", "GET"}, []string{"200", "404"}, false},
		{"HEAD of nothing", "HEAD /users/77 HTTP/1.1\r\nHost: x\r\n\r\n" + get("/users/1"), []string{"HEAD", "GET"}, []string{"404", "200 " + user1}, false},
		{"HTTP/1.0", "GET /users/1 HTTP/1.0\r\n\r\n", []string{"GET"}, []string{"200 " + user1}, true},
		{"HTTP/1.0 keep-alive", "GET /users/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + get("/users/1"), []string{"GET", "GET"}, []string{"200 " + user1, "200 " + user1}, false},
		{"absolute", get("http://x/users/1?y") + get("HTTP://x:80/users/2/visits?toDate=x") + get("http://x"), []string{"GET", "GET", "GET"}, []string{"200 " + user1, "400", "404"}, false},
		{"chunked body", "POST /users/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + get("/users/1"), []string{"POST", "GET"}, []string{"200 {}", "200 " + user1}, false},
		{"method and path as they are", get("/users/1/") + get("/users//1") + get("/users/./1") + get("/users/%31") + strings.Replace(get("/users/1"), "GET", "PUT", 1), []string{"GET", "GET", "GET", "GET", "PUT"}, []string{"404", "404", "404", "404", "405"}, false},
		{"8 KB of header", strings.Replace(get("/users/1"), "Host", "X: "+strings.Repeat("x", 8<<10)+"\r\nHost", 1), []string{"GET"}, []string{"200 " + user1}, false},
		{"head too long", "GET /users/1 HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", []string{"GET"}, []string{"431"}, true},
		{"target too long", get("/users/1?" + strings.Repeat("x", 9000)), []string{"GET"}, []string{"414"}, true},
		{"body too long", "POST /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n{}", []string{"POST"}, []string{"413"}, true},
		{"nonsense", "hello\r\n\r\n", []string{"GET"}, []string{"400"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{len(c.send), 1000, 7} { // bytes a packet
				if size < 1000 && len(c.send) > 500 {
					continue
				}
				conn := dial(t, addr)
				go func() {
					for rest := c.send; rest != ""; {
						n := min(size, len(rest))
						if _, err := io.WriteString(conn, rest[:n]); err != nil {
							return
						}
						rest = rest[n:]
						time.Sleep(time.Millisecond)
					}
				}()
				got, closed := answers(t, conn, c.methods...)
				if fmt.Sprint(got) != fmt.Sprint(c.want) || closed != c.closes {
					t.Errorf("%d bytes a packet: got %q, closed %v; want %q, %v", size, got, closed, c.want, c.closes)
				}
				conn.Close()
			}
		})
	}
}

func TestExpectContinue(t *testing.T) {
	addr, _ := start(t, Options{})
	c := dial(t, addr)
	io.WriteString(c, "POST /users/1 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	r := bufio.NewReader(c)
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	r.ReadString('\n')
	io.WriteString(c, "{}")
	response, err := http.ReadResponse(r, nil)
	if err != nil || response.StatusCode != 200 {
		t.Errorf("%v, %v", response, err)
	}
}

func TestHeadsAndAllow(t *testing.T) {
	for _, short := range []bool{false, true} {
		addr, _ := start(t, Options{ShortHeads: short})
		c := dial(t, addr)
		io.WriteString(c, "DELETE /users/1 HTTP/1.1\r\nHost: x\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		h := response.Header
		if h.Get("Allow") != "GET, HEAD, POST" || (h.Get("Date") == "") != short || h.Get("Server") != "" || h.Get("Connection") != "keep-alive" {
			t.Errorf("short %v: %v", short, h)
		}
	}
}

// A slow head is answered 408 or simply closed, but never kept.
func TestSlowPeers(t *testing.T) {
	addr, _ := start(t, Options{HeadTimeout: 200 * time.Millisecond, BodyTimeout: 200 * time.Millisecond, IdleTimeout: 200 * time.Millisecond})
	for _, send := range []string{"", "GET /users/1 HT", "POST /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{"} {
		c := dial(t, addr)
		io.WriteString(c, send)
		all, err := io.ReadAll(c)
		if err != nil || strings.Contains(string(all), " 200 ") {
			t.Errorf("%q: %q, %v", send, all, err)
		}
	}
}

// Shutdown under load: every request that was begun is answered whole.
func TestShutdownUnderLoad(t *testing.T) {
	addr, server := start(t, Options{})
	var wg sync.WaitGroup
	var asked, torn atomic.Int64
	for range 8 {
		wg.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			defer c.Close()
			r := bufio.NewReader(c)
			for {
				if _, err := io.WriteString(c, "GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					return
				}
				response, err := http.ReadResponse(r, nil)
				if err != nil {
					return // closed between two requests
				}
				asked.Add(1)
				if body, err := io.ReadAll(response.Body); err != nil || string(body) != user1 {
					torn.Add(1)
				}
				if response.Close {
					return
				}
			}
		})
	}
	for asked.Load() < 500 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if torn.Load() > 0 {
		t.Errorf("%d of %d answers were torn", torn.Load(), asked.Load())
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("the listener is still open")
	}
}
