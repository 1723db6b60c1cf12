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

// A wrong file is found out before data is loaded.
func TestFrontRefusals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "front.json")
	for text, want := range map[string]string{
		`{"colour": 1}`:                                   `front.json:1:2: a configuration has no field "colour"`,
		`{"admin": ":0"}`:                                 `"admin" is --admin's part here`,
		`{"routes": [{"upstream": "b"}]}`:                 `no upstream has the name "b"`,
		`{"listen": ["127.0.0.1:99999"]}`:                 "99999",
		`{"upstreams": {"api": {"servers": ["no-port"]}}`: "front.json:1:",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, errs strings.Builder
		if code := run(context.Background(), []string{"serve", "--front", file, "--data", "/nonexistent"}, &out, &errs); code != exitInput {
			t.Errorf("%s: exit code %d", text, code)
		}
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%s: says %q, want %q", text, errs.String(), want)
		}
	}
}
