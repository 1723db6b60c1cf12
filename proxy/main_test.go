//go:build linux

package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
)

// settings are a configuration of one upstream and one route, to be changed.
func settings(servers ...string) *config.Config {
	u := &config.Upstream{
		Name: "origin", Servers: servers, Balance: config.RoundRobin, Keepalive: 8, Idle: 30 * time.Second,
		Dial: time.Second, Fails: 3, Retry: 5 * time.Second,
	}
	return &config.Config{
		Listen:    []string{"127.0.0.1:0"},
		Limits:    config.Limits{Body: 10 << 20, Memory: 64 << 20},
		Timeouts:  config.Timeouts{Head: 5 * time.Second, Body: 5 * time.Second, Response: 5 * time.Second, Idle: 5 * time.Second, Write: 5 * time.Second, Tunnel: 5 * time.Second},
		Upstreams: []*config.Upstream{u},
		Routes:    []*config.Route{{Name: "all", Upstream: u}},
	}
}

// start runs a proxy until the test's end, and returns where it listens.
func start(t testing.TB, c *config.Config, o Options) (*Proxy, string) {
	t.Helper()
	if o.Warn == nil {
		o.Warn = func(text string) { t.Log("proxy:", text) }
	}
	p, err := New(c, o)
	if err != nil {
		t.Fatal(err)
	}
	return p, serve(t, p)
}

// serve runs a new proxy until the test's end.
func serve(t testing.TB, p *Proxy) string {
	t.Helper()
	addrs, err := p.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Run() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if s := p.group.Memory().Stats(); s.Live.Blocks != 0 {
			t.Errorf("%d blocks of buffers, of %d bytes, were not given back", s.Live.Blocks, s.Live.Bytes)
		}
	})
	return addrs[0].String()
}

func goOrigin(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// talk sends bytes to an address and returns all that comes until it closes.
func talk(t testing.TB, addr, say string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(conn, say); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %q: %v", answer, err)
	}
	return string(answer)
}

// A server that net/http is, and a client that it is, meet through the proxy.
func TestStandardLibrary(t *testing.T) {
	origin := goOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %s of %s: %d bytes, %v, length %d, %s", r.Method, r.URL, r.Host, n, err, r.ContentLength, r.Header.Get("X-A"))
	})
	_, addr := start(t, settings(origin), Options{})
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	mega := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		method string
		body   io.Reader
		want   string
	}{
		{"GET", nil, "GET /a?b=c of shop.example: 0 bytes, <nil>, length 0, 1"},
		{"HEAD", nil, ""},
		{"POST", strings.NewReader(mega), "POST /a?b=c of shop.example: 1048576 bytes, <nil>, length 1048576, 1"},
		{"PUT", bufio.NewReader(strings.NewReader(mega)), "PUT /a?b=c of shop.example: 1048576 bytes, <nil>, length -1, 1"},
		{"GET", nil, "GET /a?b=c of shop.example: 0 bytes, <nil>, length 0, 1"},
	} {
		r, err := http.NewRequest(c.method, "http://"+addr+"/a?b=c", c.body)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "shop.example"
		r.Header.Set("X-A", "1")
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != 200 || string(b) != c.want || answer.Header.Get("Via") != "1.1 redoubt" {
			t.Errorf("%s: %s %v %q %v, want %q", c.method, answer.Status, answer.Header, b, err, c.want)
		}
	}
	if answer := talk(t, addr, "GET /x HTTP/1.0\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") || !strings.Contains(answer, "GET /x of "+origin) {
		t.Errorf("a client of 1.0 gets %q", answer)
	}
}
