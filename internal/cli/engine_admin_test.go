package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveWatched runs serve with --admin, and returns both addresses.
func serveWatched(t *testing.T, args ...string) (addr, admin string, stop func() (code int, stderr string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stdout, w := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", ":0"}, args...), w, &stderr)
		w.Close()
		ended <- code
	}()
	stop = func() (int, string) {
		cancel()
		select {
		case code := <-ended:
			ended <- code
			return code, stderr.String()
		case <-time.After(20 * time.Second):
			t.Fatal("the server does not end")
			return -1, ""
		}
	}
	t.Cleanup(func() { stop() })
	var addrs [2]string
	lines := bufio.NewReader(stdout)
	for i := range addrs {
		line, err := lines.ReadString('\n')
		var ok bool
		if addrs[i], ok = strings.CutPrefix(strings.TrimSpace(line), "listening on "); !ok || err != nil {
			_, errs := stop()
			t.Fatalf("serve says %q, %v: %s", line, err, errs)
		}
	}
	go io.Copy(io.Discard, lines)
	return addrs[0], addrs[1], stop
}

func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// The main listener's line comes first, the admin's tells what the main one
// has done.
func TestServeAdmin(t *testing.T) {
	dir := generate(t, "--users", "20", "--locations", "10", "--visits", "100", "--requests", "0")
	for _, engine := range []string{"netloop", "fasthttp"} {
		if engine == "netloop" && !hasNetloop {
			continue
		}
		t.Run(engine, func(t *testing.T) {
			addr, admin, stop := serveWatched(t, "--engine", engine, "--workers", "2", "--data", filepath.Join(dir, "data"))
			if host, _, _ := net.SplitHostPort(admin); host != "127.0.0.1" {
				t.Errorf("admin listens on %s", admin)
			}
			for _, target := range []string{"/users/1", "/users/1", "/users/2/visits", "/users/999", "/locations/1/avg?gender=x", "/nothing"} {
				fetch(t, "http://"+addr+target)
			}
			if status, body := fetch(t, "http://"+admin+"/health"); status != 200 || body != "ok\n" {
				t.Errorf("health: %d %q", status, body)
			}
			want := []string{
				`redoubt_store_records{kind="users"} 20`, `redoubt_store_records{kind="visits"} 100`, `redoubt_store_block_bytes{use="taken"} `,
				"process_resident_memory_bytes ", "go_goroutines ",
			}
			if engine == "netloop" {
				want = append(want,
					`redoubt_api_requests_total{route="users",method="GET",code="200"} 2`, `redoubt_api_requests_total{route="users",method="GET",code="404"} 1`,
					`redoubt_api_requests_total{route="users/visits",method="GET",code="200"} 1`, `redoubt_api_requests_total{route="locations/avg",method="GET",code="400"} 1`,
					`redoubt_api_requests_total{route="other",method="GET",code="404"} 1`, `redoubt_api_seconds_count{kind="read"} 6`, `redoubt_api_seconds_count{kind="write"} 0`,
					"redoubt_connections ", `redoubt_loop_busy_seconds_total{loop="1"} `, `redoubt_loop_seconds_total{loop="0"} `, `redoubt_slab_bytes{use="live"} `)
			}
			missing := func() (line, body string) {
				_, body = fetch(t, "http://"+admin+"/metrics")
				for _, line := range want {
					if !strings.Contains("\n"+body, "\n"+line) {
						return line, body
					}
				}
				return "", body
			}
			// An answer may be here before it is counted.
			line, body := missing()
			for begin := time.Now(); line != "" && time.Since(begin) < 10*time.Second; line, body = missing() {
				time.Sleep(time.Millisecond)
			}
			if line != "" {
				t.Errorf("no %s in\n%.4000s", line, body)
			}
			http.DefaultClient.CloseIdleConnections()
			if code, errs := stop(); code != exitFine || strings.Contains(errs, "admin") {
				t.Errorf("serve ends with %d: %s", code, errs)
			}
			if c, err := net.Dial("tcp", admin); err == nil {
				c.Close()
				t.Error("the admin listener is still there")
			}
		})
	}
}

// While requests are waited for at the end, health says so, and a profile that
// would take an hour holds nothing up.
func TestServeAdminDrains(t *testing.T) {
	dir := generate(t, "--users", "20", "--locations", "10", "--visits", "100", "--requests", "0")
	addr, admin, stop := serveWatched(t, "--drain", "1s", "--data", filepath.Join(dir, "data"))
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "POST /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
	go http.Get("http://" + admin + "/debug/pprof/trace?seconds=3600")
	time.Sleep(100 * time.Millisecond)
	ended := make(chan int, 1)
	go func() {
		code, _ := stop()
		ended <- code
	}()
	said := ""
	for begin := time.Now(); said != "shutting down\n" && time.Since(begin) < 20*time.Second; time.Sleep(5 * time.Millisecond) {
		if response, err := http.Get("http://" + admin + "/health"); err == nil {
			text, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if said = string(text); response.StatusCode == 503 && said != "shutting down\n" {
				t.Errorf("health: %q", said)
			}
		}
	}
	if said != "shutting down\n" {
		t.Errorf("health says %q", said)
	}
	http.DefaultClient.CloseIdleConnections()
	if code := <-ended; code != exitFine {
		t.Errorf("ends with %d", code)
	}
}

func TestAdminStates(t *testing.T) {
	var none *adminListener
	none.tell(nil, nil)
	none.drain()
	if err := none.stop(); err != nil {
		t.Error(err)
	}
	a, err := startAdmin("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if status, body := fetch(t, "http://"+a.addr.String()+"/health"); status != 503 || body != "loading the data\n" {
		t.Errorf("%d %q", status, body)
	}
	if status, _ := fetch(t, "http://"+a.addr.String()+"/metrics"); status != 200 {
		t.Errorf("metrics while loading: %d", status)
	}
	http.DefaultClient.CloseIdleConnections()
	for range 2 {
		if err := a.stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestAdminRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, addr := range []string{"localhost", "127.0.0.1:99999", taken.Addr().String()} {
		code, out, errs := command(t, "serve", "--listen", "127.0.0.1:0", "--admin", addr, "--data", t.TempDir())
		if code != exitInput || out != "" || !strings.Contains(errs, "--admin "+addr) {
			t.Errorf("--admin %s: %d %s%s", addr, code, out, errs)
		}
	}
}
