package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"redoubt/ammo"
	"redoubt/data/model"
)

// command runs a command line and returns the exit code and both outputs.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// serveModel serves the data set in dir from the model: a server that is right
// by definition. spoil may change an answer before it is sent.
func serveModel(t *testing.T, dir string, spoil func(target string, a *model.Answer)) (addr string) {
	t.Helper()
	m, err := model.LoadDir(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		a := m.Do(r.Method, r.RequestURI, body)
		length := len(a.Body)
		if r.Method == http.MethodHead && a.Status == 200 {
			length = len(m.Do("GET", r.RequestURI, nil).Body)
		}
		mu.Unlock()
		if spoil != nil {
			spoil(r.RequestURI, &a)
			length = max(len(a.Body), length)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(length))
		w.WriteHeader(a.Status)
		w.Write(a.Body)
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestGenThenCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	args := []string{"gen", "--out", dir, "--users", "300", "--locations", "200", "--visits", "2000", "--requests", "3300", "--gaps", "15", "--far", "9"}
	code, out, errs := command(t, args...)
	if code != 0 || errs != "" || !strings.HasPrefix(lastLine(out), "generated 2,500 records and 3,300 requests in ") {
		t.Fatalf("gen: exit %d\n%s%s", code, out, errs)
	}

	code, out, errs = command(t, "check", "--target", serveModel(t, dir, nil), "--dir", dir)
	if code != 0 || errs != "" || lastLine(out) != "0 of 3,300 answers wrong" {
		t.Errorf("check against the model: exit %d\n%s%s", code, out, errs)
	}

	// Every list of visits gets its marks wrong.
	spoilt := serveModel(t, dir, func(target string, a *model.Answer) {
		a.Body = bytes.ReplaceAll(a.Body, []byte(`{"mark":4,`), []byte(`{"mark":3,`))
	})
	code, out, errs = command(t, "check", "--target", spoilt, "--dir", dir, "--show", "2", "--connections", "3")
	for _, want := range []string{"(GET:/users/<entity_id>/visits)", "].mark: got 3, want 4", "  expected  200 {", "  got       200 {", "more; --show N"} {
		if !strings.Contains(out, want) {
			t.Errorf("check of a wrong server does not say %q:\n%s", want, out)
		}
	}
	if code != 1 || !strings.HasSuffix(lastLine(out), "of 3,300 answers wrong") || !strings.Contains(errs, "answers wrong") ||
		strings.Count(out, "  request ") != 2 {
		t.Errorf("check of a wrong server: exit %d\n%s%s", code, out, errs)
	}

	code, out, _ = command(t, "check", "--target", serveModel(t, dir, nil), "--dir", dir, "--json")
	var report ammo.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 || report.Asked != 3300 || report.Wrong != 0 ||
		len(report.Phases) != 3 || report.Phases[1].Name != "phase_2_post" || report.Differences == nil {
		t.Errorf("--json: exit %d, %v\n%s", code, err, out)
	}
}

func TestGenRefuses(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		code, out, errs := command(t, append([]string{"gen"}, args...)...)
		if code != 2 || !strings.Contains(errs, want) || out != "" {
			t.Errorf("gen %v: exit %d, %s%s; want 2 and %q", args, code, out, errs, want)
		}
	}
	foreign := t.TempDir()
	os.WriteFile(filepath.Join(foreign, "thesis.txt"), []byte("x"), 0o600)
	f("nor made by redoubt gen (it holds thesis.txt): name a new folder", "--out", foreign)
	f("missing flags: --out", "--users", "5")
	f("at least one user", "--out", "x", "--users", "0")
	f("percentage", "--out", "x", "--gaps", "100")
	f("expected a valid", "--out", "x", "--visits", "many")
	if _, err := os.Stat("x"); err == nil {
		t.Error("a refused command made its folder")
	}
}

func TestCheckRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	command(t, "gen", "--out", dir, "--users", "3", "--locations", "3", "--visits", "3", "--requests", "11")
	f := func(wantCode int, want string, args ...string) {
		t.Helper()
		code, _, errs := command(t, append([]string{"check"}, args...)...)
		if code != wantCode || !strings.Contains(errs, want) {
			t.Errorf("check %v: exit %d, %s; want %d and %q", args, code, errs, wantCode, want)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	f(1, "is the server running? --wait 10s", "--target", closed, "--dir", dir)
	f(1, "cannot connect to "+closed, "--target", closed, "--dir", dir, "--wait", "120ms")
	f(2, "write HOST:PORT", "--target", "localhost", "--dir", dir)
	f(2, "no such file", "--target", closed, "--dir", t.TempDir())
	f(2, "missing flags", "--target", closed)
	f(2, "at least 1", "--target", closed, "--dir", dir, "--connections", "0")

	addr := serveModel(t, dir, nil)
	os.WriteFile(filepath.Join(dir, "answers", "phase_1_get.answ"), []byte("GET\t/nothing\t404\n"), 0o600)
	f(2, "phase_1_get.answ: record 1", "--target", addr, "--dir", dir)
}
