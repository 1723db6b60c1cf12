package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"redoubt/proxy/config"
)

// configFile is a file that holds a configuration.
func configFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "proxy.json")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestProxySchema(t *testing.T) {
	code, schema, errs := command(t, "proxy", "--schema")
	if code != exitFine || errs != "" || !strings.Contains(schema, `"keepalive": 64,`) {
		t.Fatalf("%d %s %s", code, schema, errs)
	}
	name := configFile(t, schema)
	code, out, errs := command(t, "proxy", "--config", name, "--check")
	if want := name + ": fine, 1 route, 1 upstream\n"; code != exitFine || out != want || errs != "" {
		t.Errorf("%d %q %q, want %q", code, out, errs, want)
	}
}

func TestProxyCheck(t *testing.T) {
	name := configFile(t, `{"upstreams": {"a": {"servers": ["h:1"]}, "b": {"servers": ["h:2"]}}, "routes": [{"match": {"path": "/a"}, "upstream": "a"}, {"match": {"path": "/b"}, "upstream": "b"}, {"upstream": "a"}]}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--config", name}, name + ": fine, 3 routes, 2 upstreams\n"},
		{[]string{"--config", name, "--listen", ":0", "--admin", "", "--max-conns", "5", "--drain", "0s", "--wait", "busy"}, name + ": fine, 3 routes, 2 upstreams\n"},
		{[]string{"--listen", ":8080", "--to", "http://h"}, ":8080 to http://h: fine, 1 route, 1 upstream\n"},
	} {
		code, out, errs := command(t, append([]string{"proxy", "--check"}, c.args...)...)
		if code != exitFine || out != c.want || errs != "" {
			t.Errorf("%q: %d %q %q", c.args, code, out, errs)
		}
	}
}

// What is hardly meant is told of, and is fine.
func TestProxyWarns(t *testing.T) {
	name := configFile(t, `{"upstreams": {"a": {"servers": ["h:1"]}}, "trust": ["10.0.0.1/8"]}`)
	code, out, errs := command(t, "proxy", "--check", "--config", name)
	want := "redoubt proxy: warning: " + name + `:1:54: "10.0.0.1/8" means 10.0.0.0/8: bits beyond the first 8 do not count` + "\n"
	if code != exitFine || out != name+": fine, 1 route, 1 upstream\n" || errs != want {
		t.Errorf("%d %q %q, want %q", code, out, errs, want)
	}
}

// Every refusal: exit code 2, nothing on standard output, what to do.
func TestProxyRefusals(t *testing.T) {
	good := configFile(t, `{"upstreams": {"o": {"servers": ["127.0.0.1:1"]}}, "listen": ["127.0.0.1:0"]}`)
	bad := configFile(t, "{\"upstreams\": {\"o\": {\"servers\": [\"127.0.0.1:1\"]}},\n  \"listn\": []}")
	few := configFile(t, `{"upstreams": {"o": {"servers": ["127.0.0.1:1"], "connections": 3}}, "listen": ["127.0.0.1:0"]}`)
	empty := configFile(t, "")
	none := filepath.Join(t.TempDir(), "none.json")
	for _, c := range []struct {
		args string
		says []string
	}{
		{"", []string{"--config FILE", "--listen ADDR --to ADDR", "--schema"}},
		{"--listen :0", []string{"--to is missing"}},
		{"--to h:1", []string{"--listen is missing"}},
		{"--config GOOD --to h:1", []string{"--config and --to"}},
		{"--config NONE", []string{"--config", "none.json", "no such file"}},
		{"--config BAD", []string{bad + `:2:3: a configuration has no field "listn"; `, `did you mean "listen"?`}},
		{"--config BAD --check", []string{bad + ":2:3: "}},
		{"--config FEW --check --workers 4", []string{few + ":1:65: connections 3: that is fewer than the 4 event loops", "--workers"}},
		{"--config FEW --workers 4", []string{few + ":1:65: "}},
		{"--config EMPTY", []string{empty + ":1:1: there is nothing in it; the least is {"}},
		{"--listen 80 --to h:1", []string{`--listen "80": no port`}},
		{"--listen :0 --to https://h:1", []string{"--to", "TLS"}},
		{"--config GOOD --listen 80", []string{`--listen "80": no port`}},
		{"--config GOOD --admin localhost", []string{`--admin "localhost": no port`}},
		{"--config GOOD --max-conns -1", []string{"--max-conns"}},
		{"--config GOOD --head-timeout -1s", []string{"--head-timeout"}},
		{"--config GOOD --drain -1s", []string{"--drain"}},
		{"--config GOOD --workers 1000000", []string{"--workers", "1024"}},
		{"--config GOOD --wait long", []string{"--wait", "busy"}},
	} {
		args := strings.Fields(strings.NewReplacer("GOOD", good, "BAD", bad, "FEW", few, "EMPTY", empty, "NONE", none).Replace(c.args))
		code, out, errs := command(t, append([]string{"proxy"}, args...)...)
		if code != exitInput || out != "" {
			t.Errorf("%s: exit code %d, output %q", c.args, code, out)
		}
		for _, want := range c.says {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: says %q, which has no %q", c.args, errs, want)
			}
		}
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a file was made")
	}
}

func TestProxyHelp(t *testing.T) {
	code, out, errs := command(t, "proxy", "--help")
	for _, word := range []string{"Usage: redoubt proxy", "--listen :8080 --to 127.0.0.1:9000", "--schema > proxy.json", "--config proxy.json --check", "--admin 127.0.0.1:9180", "SIGHUP", "Exits with 2"} {
		if code != exitFine || errs != "" || !strings.Contains(out, word) {
			t.Errorf("%d %q, help without %q:\n%s", code, errs, word, out)
		}
	}
}

// What the manual shows is fine, and no key is missing there.
func TestProxyManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/proxy.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(text)
	examples := strings.Split(manual, "```json\n")[1:]
	for _, e := range examples {
		e, _, _ = strings.Cut(e, "```")
		if !strings.Contains(e, `"upstreams"`) { // for --front
			if _, err := config.Parse("front.json", []byte(e), config.Options{API: "127.0.0.1:1"}); err != nil {
				t.Errorf("%v\n%s", err, e)
			}
		} else if code, _, errs := command(t, "proxy", "--check", "--config", configFile(t, e)); code != exitFine {
			t.Errorf("%s\n%s", errs, e)
		}
	}
	if len(examples) != 8 {
		t.Errorf("%d examples", len(examples))
	}
	_, schema, _ := command(t, "proxy", "--schema")
	for line := range strings.Lines(schema) {
		_, key, ok := strings.Cut(line, `"`)
		key, _, isKey := strings.Cut(key, `":`)
		if ok && isKey && key != "origin" && !strings.Contains(manual, key+"`") && !strings.Contains(manual, `"`+key+`"`) && !strings.Contains(manual, "."+key) && !strings.Contains(manual, "`"+key+".") {
			t.Errorf("docs/proxy.md does not know %q", key)
		}
	}
}
