package admin

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"redoubt/internal/metrics"
)

// start serves until the test's end.
func start(t *testing.T, o Options) (base string, s *Server) {
	t.Helper()
	s = New(o)
	addr, err := s.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	if !addr.Addr().IsLoopback() {
		t.Errorf("listens on %v", addr)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return "http://" + addr.String(), s
}

func ask(t *testing.T, method, url string) (status int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

func TestAnswers(t *testing.T) {
	var ill error
	base, _ := start(t, Options{
		Name: "redoubt <serve>", Health: func() error { return ill },
		Metrics: func(w *metrics.Writer) {
			w.Family("redoubt_things_total", metrics.KindCounter, "things")
			w.Sample(7, "kind", "x")
		},
	})
	f := func(method, path string, status int, says ...string) {
		t.Helper()
		got, header, body := ask(t, method, base+path)
		if got != status {
			t.Errorf("%s %s: %d %s, want %d", method, path, got, body, status)
		}
		for _, word := range says {
			if !strings.Contains(body, word) {
				t.Errorf("%s %s does not say %q: %.300s", method, path, word, body)
			}
		}
		if allow := header.Get("Allow"); (allow == "GET, HEAD") != (status == 405) {
			t.Errorf("%s %s: Allow: %s", method, path, allow)
		}
		if method == "HEAD" && body != "" {
			t.Errorf("HEAD %s has a body: %q", path, body)
		}
	}
	f("GET", "/", 200, "redoubt &lt;serve&gt;", `href="/metrics"`, `href="/health"`, `href="/debug/pprof/"`)
	f("GET", "/health", 200, "ok\n")
	f("HEAD", "/health", 200)
	ill = errors.New("no upstream is up")
	f("GET", "/health", 503, "no upstream is up")
	ill = nil
	f("GET", "/metrics", 200, `redoubt_things_total{kind="x"} 7`, "go_goroutines ", "process_resident_memory_bytes ")
	f("HEAD", "/metrics", 200)
	f("GET", "/debug/pprof", 200, "Types of profiles available") // by way of a redirection
	f("GET", "/debug/pprof/", 200, "Types of profiles available")
	f("GET", "/debug/pprof/goroutine?debug=1", 200, "goroutine profile: total")
	f("GET", "/debug/pprof/cmdline", 200, "admin.test")
	f("GET", "/debug/pprof/nothing", 404)
	f("GET", "/nothing", 404)
	f("GET", "/metrics/", 404)
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		f(method, "/health", 405)
		f(method, "/debug/pprof/symbol", 405)
	}
	for _, path := range []string{"heap", "allocs", "profile?seconds=1", "trace?seconds=1"} {
		_, header, body := ask(t, "GET", base+"/debug/pprof/"+path)
		kind := "\x1f\x8b" // gzip
		if strings.HasPrefix(path, "trace") {
			kind = "go 1."
		}
		if !strings.HasPrefix(body, kind) || header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: %s, %.20q", path, header.Get("Content-Type"), body)
		}
	}
}

// Without any options all is well, and the metrics are the process's.
func TestNothingGiven(t *testing.T) {
	base, _ := start(t, Options{})
	if status, _, body := ask(t, "GET", base+"/health"); status != 200 || body != "ok\n" {
		t.Errorf("%d %q", status, body)
	}
	status, header, body := ask(t, "GET", base+"/metrics")
	if status != 200 || header.Get("Content-Type") != metrics.ContentType {
		t.Errorf("%d %s", status, header.Get("Content-Type"))
	}
	sample := regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*"(?:, ?)?)+\})?) \S+$`)
	seen := map[string]bool{}
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		m := sample.FindStringSubmatch(lines.Text())
		if m == nil || seen[m[1]] {
			t.Errorf("no sample, or a second one: %q", lines.Text())
			continue
		}
		seen[m[1]] = true
	}
	if len(seen) < 30 {
		t.Errorf("%d samples", len(seen))
	}
}

// A profile takes as long as it was asked for; Shutdown does not wait for it.
func TestShutdownDuringProfile(t *testing.T) {
	base, s := start(t, Options{})
	asked := make(chan error, 1)
	go func() {
		response, err := http.Get(base + "/debug/pprof/trace?seconds=3600")
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		asked <- err
	}()
	time.Sleep(100 * time.Millisecond)
	select {
	case err := <-asked:
		t.Fatalf("the profile ended at once: %v", err)
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	<-asked
	if c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://")); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

func TestOrder(t *testing.T) {
	s := New(Options{})
	if err := s.Serve(); err == nil {
		t.Error("Serve before Listen")
	}
	for _, addr := range []string{"", "localhost", "127.0.0.1:99999", "127.0.0.1:x", "192.0.2.1:0"} {
		if at, err := s.Listen(addr); err == nil {
			t.Errorf("%q is %v", addr, at)
		}
	}
	if _, err := s.Listen("[::1]:0"); err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Serve(); err != nil {
		t.Errorf("Serve after Shutdown: %v", err)
	}
}
