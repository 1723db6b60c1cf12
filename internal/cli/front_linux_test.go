package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redoubt/ammo"
)

// The API behind the proxy, in one process: every answer is right, what the
// file says is done, and the metrics tell of both.
func TestFront(t *testing.T) {
	dir := generate(t, "--users", "100", "--locations", "50", "--visits", "1000", "--requests", "1100")
	file := filepath.Join(t.TempDir(), "front.json")
	text := `{"response": {"set": {"X-Front": "yes"}}, "block": {"paths": ["/secret/*"]},
		"routes": [{"match": {"path": "/nowhere"}, "upstream": "none"}, {"upstream": "api"}],
		"upstreams": {"none": {"servers": ["127.0.0.1:1"]}}}`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, engine := range []string{"netloop", "fasthttp"} {
		t.Run(engine, func(t *testing.T) {
			addr, admin, stop := serveWatched(t, "--engine", engine, "--front", file, "--data", filepath.Join(dir, "data"))
			report, err := ammo.Check(context.Background(), ammo.CheckOptions{Target: addr, Phases: ammo.TravelsPhases(dir), Connections: 4})
			if err != nil || report.Asked == 0 || report.Wrong != 0 {
				t.Errorf("%d asked, %d wrong, %v", report.Asked, report.Wrong, err)
			}
			for path, want := range map[string]int{"/users/1": 200, "/secret/1": 403, "/nowhere": 502} {
				if status, body := fetch(t, "http://"+addr+path); status != want {
					t.Errorf("%s: %d %s, want %d", path, status, body, want)
				}
			}
			_, metrics := fetch(t, "http://"+admin+"/metrics")
			families := make(map[string]bool)
			for line := range strings.Lines(metrics) {
				if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
					name, _, _ = strings.Cut(name, " ")
					if families[name] {
						t.Errorf("%s stands twice", name)
					}
					families[name] = true
				}
			}
			if !families["redoubt_proxy_requests_total"] || !families["redoubt_store_records"] {
				t.Errorf("metrics:\n%s", metrics)
			}
			if code, said := stop(); code != 0 {
				t.Errorf("it ends with %d: %s", code, said)
			}
		})
	}
}

// A wrong file is found out before data is loaded, and by --check alone.
func TestFrontRefusals(t *testing.T) {
	for text, want := range map[string]string{
		`{"colour": 1}`:                                  `:1:2: a configuration has no field "colour"`,
		`{"admin": ":0"}`:                                `:1:11: "admin" is --admin's part here`,
		`{"routes": [{"upstream": "b"}]}`:                `no upstream has the name "b"`,
		`{"listen": ["127.0.0.1:99999"]}`:                "99999",
		`{"upstreams": {"api": {"servers": ["h:1"]}}}`:   `:1:35: the upstream "api" is the API in this process`,
		`{"upstreams": {"api": {"connections": 1}}}`:     ":1:39: connections 1: that is fewer than the 2 event loops",
		`{"upstreams": {"api": {"servers": ["no-port"]}`: ":1:",
		"": ":1:1: there is nothing in it; the least is {}",
	} {
		file := configFile(t, text)
		for _, args := range [][]string{{"--data", "/nonexistent"}, {"--check"}} {
			code, out, errs := command(t, append([]string{"serve", "--workers", "2", "--front", file}, args...)...)
			if code != exitInput || out != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "redoubt serve: "+file) {
				t.Errorf("%s %s: %d %q, says %q, want %q", text, args, code, out, errs, want)
			}
		}
	}
	if code, _, errs := command(t, "serve", "--check"); code != exitInput || !strings.Contains(errs, "--front FILE") {
		t.Errorf("without a file: %d %s", code, errs)
	}
}

func TestFrontCheck(t *testing.T) {
	file := configFile(t, `{"listen": [":8080", ":8081"], "upstreams": {"o": {"servers": ["h:1"]}},
 "routes": [{"match": {"path": "/o"}, "upstream": "o"}, {"upstream": "api"}], "block": {"methods": ["trace"]}}`)
	code, out, errs := command(t, "serve", "--front", file, "--check")
	if code != exitFine || out != file+": fine, 2 routes, 2 upstreams; it listens on :8080 and :8081; routes to the API: 1\n" {
		t.Errorf("%d %q", code, out)
	}
	if want := "redoubt serve: warning: " + file + `:2:101: "trace" refuses nobody`; !strings.HasPrefix(errs, want) {
		t.Errorf("says %q, want %q", errs, want)
	}
	code, out, errs = command(t, "serve", "--front", configFile(t, "{}"), "--listen", ":9999", "--check")
	if code != exitFine || errs != "" || !strings.HasSuffix(out, ": fine, 1 route, 1 upstream; it listens on :9999; routes to the API: 1\n") {
		t.Errorf("%d %q %s", code, out, errs)
	}
}
