package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"redoubt/internal/machine"
	"redoubt/store"
)

// server is a running `redoubt serve`.
type server struct {
	addr string
	stop func() (code int, errs string)
}

func serve(t *testing.T, args ...string) server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	stdout, w := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), w, &stderr)
		w.Close()
		ended <- code
	}()
	stop := sync.OnceValues(func() (int, string) {
		cancel()
		select {
		case code := <-ended:
			return code, stderr.String()
		case <-time.After(20 * time.Second):
			t.Fatal("the server does not end")
			return -1, ""
		}
	})
	t.Cleanup(func() { stop() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		_, errs := stop()
		t.Fatalf("serve says %q, %v: %s", line, err, errs)
	}
	go io.Copy(io.Discard, stdout)
	return server{addr, stop}
}

func generate(t *testing.T, args ...string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "set")
	if code, out, errs := command(t, append([]string{"gen", "--out", dir}, args...)...); code != exitFine {
		t.Fatalf("gen %v: %d %s %s", args, code, out, errs)
	}
	return dir
}

// Generated sets of several seeds and shapes: not one answer is wrong.
func TestGenServeCheck(t *testing.T) {
	for name, args := range map[string][]string{
		"seed 1":      {"--users", "2000", "--locations", "1500", "--visits", "20000", "--requests", "4000"},
		"seed 2":      {"--seed", "2", "--users", "300", "--locations", "200", "--visits", "9000", "--requests", "6000"},
		"gaps, far":   {"--seed", "3", "--users", "1000", "--locations", "700", "--visits", "8000", "--gaps", "40", "--far", "200", "--requests", "5000"},
		"few records": {"--seed", "4", "--users", "1", "--locations", "1", "--visits", "3", "--requests", "1000"},
	} {
		for _, bodies := range []string{"lean", "ready"} {
			t.Run(name+" "+bodies, func(t *testing.T) {
				dir := generate(t, args...)
				s := serve(t, "--data", filepath.Join(dir, "data"), "--bodies", bodies)
				code, out, errs := command(t, "check", "--target", s.addr, "--dir", dir)
				if code != exitFine || !strings.Contains(out, "\n0 of ") {
					t.Errorf("check: %d\n%s%s", code, out, errs)
				}
				if code, errs := s.stop(); code != exitFine {
					t.Errorf("serve ends with %d: %s", code, errs)
				}
			})
		}
	}
}

// The official training set of the contest, where REDOUBT_TRAVELS names it.
func TestOfficialSet(t *testing.T) {
	dir := os.Getenv("REDOUBT_TRAVELS")
	if dir == "" {
		t.Skip("REDOUBT_TRAVELS does not name the folder of the official set")
	}
	for _, bodies := range []string{"lean", "ready"} {
		t.Run(bodies, func(t *testing.T) {
			s := serve(t, "--data", filepath.Join(dir, "data"), "--bodies", bodies, "--short-heads")
			code, out, errs := command(t, "check", "--target", s.addr, "--dir", dir)
			if code != exitFine || !strings.HasSuffix(out, "\n0 of 11,000 answers wrong\n") {
				t.Errorf("check: %d\n%s%s", code, out, errs)
			}
		})
	}
}

// Both engines, and our own with one loop and two, sleeping and not.
func TestEnginesCheck(t *testing.T) {
	ways := map[string][]string{"fasthttp": {"--engine", "fasthttp"}, "default": nil}
	if hasNetloop {
		for _, workers := range []string{"1", "2"} {
			for _, wait := range []string{"block", "busy"} {
				ways[workers+" "+wait] = []string{"--engine", "netloop", "--workers", workers, "--wait", wait}
			}
		}
	}
	dir := os.Getenv("REDOUBT_TRAVELS")
	if dir == "" {
		dir = generate(t, "--users", "1000", "--locations", "800", "--visits", "10000", "--requests", "4000")
	}
	for name, args := range ways {
		t.Run(name, func(t *testing.T) {
			s := serve(t, append([]string{"--data", filepath.Join(dir, "data")}, args...)...)
			if code, out, errs := command(t, "check", "--target", s.addr, "--dir", dir); code != exitFine {
				t.Errorf("check: %d\n%s%s", code, out, errs)
			}
			code, errs := s.stop()
			if code != exitFine || strings.Contains(errs, "warning") != (strings.HasSuffix(name, "busy") && machine.AvailableProcessors().Whole() <= int(name[0]-'0')) {
				t.Errorf("serve ends with %d: %s", code, errs)
			}
		})
	}
}

// A server with the wrong data is found out: check can fail.
func TestCheckFindsWrongAnswers(t *testing.T) {
	sizes := []string{"--users", "100", "--locations", "100", "--visits", "1000", "--requests", "500"}
	right, other := generate(t, sizes...), generate(t, append(sizes, "--seed", "2")...)
	s := serve(t, "--data", filepath.Join(other, "data"))
	code, out, errs := command(t, "check", "--target", s.addr, "--dir", right, "--show", "2")
	if code != exitFailed || !strings.Contains(out, "expected") || !strings.Contains(errs, "answers wrong") {
		t.Errorf("check: %d\n%s%s", code, out, errs)
	}
}

// Every refusal: the exit code, and what the user is told.
func TestRefusals(t *testing.T) {
	empty := t.TempDir()
	write := func(files ...string) string { // name, content, ...
		dir := t.TempDir()
		for i := 0; i < len(files); i += 2 {
			if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	const (
		options   = "1503966608\n0\n"
		users     = `{"users":[{"id":1,"email":"a","first_name":"b","last_name":"c","gender":"m","birth_date":1}]}`
		locations = `{"locations":[{"id":1,"distance":1,"place":"a","country":"b","city":"c"}]}`
		visits    = `{"visits":[{"id":5,"user":1,"location":1,"visited_at":1,"mark":1},{"id":6,"user":1,"location":2,"visited_at":1,"mark":1}]}`
	)
	inner := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(inner, os.DirFS(write("options.txt", options, "users_1.json", users))); err != nil {
		t.Fatal(err)
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"no such command", []string{"sreve"}, exitInput, []string{"sreve", "redoubt --help"}},
		{"no such flag", []string{"serve", "--prot"}, exitInput, []string{"--prot", "redoubt serve --help"}},
		{"bad engine", []string{"serve", "--engine", "nginx"}, exitInput, []string{"--engine", "fasthttp"}},
		{"busy fasthttp", []string{"serve", "--engine", "fasthttp", "--wait", "busy", "--listen", "127.0.0.1:0", "--data", empty}, exitInput, []string{"--wait busy", "--engine netloop"}},
		{"bad wait", []string{"serve", "--wait", "long"}, exitInput, []string{"--wait", "auto", "block", "busy"}},
		{"bad bodies", []string{"serve", "--bodies", "fat"}, exitInput, []string{"--bodies", "lean"}},
		{"bad profile", []string{"demo", "--profile", "gpu"}, exitInput, []string{"gpu", "cpu"}},
		{"no data folder", []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(empty, "none")}, exitInput, []string{"none", "redoubt gen"}},
		{"data one folder down", []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Dir(inner)}, exitInput, []string{inner, "is that the folder"}},
		{"empty data folder", []string{"serve", "--listen", "127.0.0.1:0", "--data", empty}, exitInput, []string{empty, "redoubt gen"}},
		{"port taken", []string{"serve", "--listen", busy.Addr().String(), "--data", empty}, exitInput, []string{"address already in use", "--listen"}},
		{"bad address", []string{"serve", "--listen", "localhost", "--data", empty}, exitInput, []string{"--listen"}},
		{"bad options", []string{"serve", "--listen", "127.0.0.1:0", "--data", write("options.txt", "soon\n0\n", "users_1.json", users)}, exitInput, []string{"options.txt"}},
		{"broken file", []string{"serve", "--listen", "127.0.0.1:0", "--data", write("options.txt", options, "users_1.json", users[:60])}, exitInput, []string{"users_1.json", "record 1"}},
		{"twin", []string{"serve", "--listen", "127.0.0.1:0", "--data", write("options.txt", options, "users_1.json", users, "users_2.json", users)}, exitInput, []string{"users_", "record 1", "id 1", "exists"}},
		{"dangling visit", []string{"serve", "--listen", "127.0.0.1:0", "--data", write("options.txt", options, "users_1.json", users, "locations_1.json", locations, "visits_1.json", visits)}, exitInput,
			[]string{"visits_1.json", "record 2", "id 6", "location does not exist"}},
		{"no address", []string{"serve", "--listen", "", "--data", empty}, exitInput, []string{"--listen"}},
		{"negative time", []string{"serve", "--drain", "-1s", "--data", empty}, exitInput, []string{"--drain"}},
		{"negative limit", []string{"serve", "--max-conns", "-1", "--data", empty}, exitInput, []string{"--max-conns"}},
		{"too many workers", []string{"serve", "--workers", "1000000", "--data", empty}, exitInput, []string{"--workers", "1024"}},
		{"gen into no folder", []string{"gen", "--out", ""}, exitInput, []string{"empty"}},
		{"gen into a file", []string{"gen", "--out", filepath.Join(write("file", ""), "file")}, exitInput, []string{"not a folder"}},
		{"check without a port number", []string{"check", "--target", "localhost:x", "--dir", empty}, exitInput, []string{"HOST:PORT"}},
		{"gen into another's folder", []string{"gen", "--out", write("precious.txt", "x")}, exitInput, []string{"neither empty", "new folder"}},
		{"check without a port", []string{"check", "--target", "localhost", "--dir", empty}, exitInput, []string{"HOST:PORT"}},
		{"check without ammo", []string{"check", "--target", busy.Addr().String(), "--dir", empty}, exitInput, []string{"ammo", "--dir"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := command(t, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, word := range c.says {
				if !strings.Contains(errs, word) {
					t.Errorf("says %q, which does not name %q", errs, word)
				}
			}
			if out != "" {
				t.Errorf("an error, but standard output has %q", out)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"help", "serve"}, {"--help"}, {"demo", "--help"}, {"serve", "--help"}, {"gen", "--help"}, {"check", "--help"}} {
		code, out, errs := command(t, args...)
		if code != exitFine || !strings.Contains(out, "Usage: redoubt") || errs != "" {
			t.Errorf("redoubt %v: %d\n%s%s", args, code, out, errs)
		}
	}
}

// A server that is told to end does, whenever that is: while it loads, at the
// moment it listens, and with idle and half-sent connections open.
func TestServeEnds(t *testing.T) {
	dir := filepath.Join(generate(t, "--users", "2000", "--locations", "2000", "--visits", "30000", "--requests", "0"), "data")
	for i := range 30 {
		ctx, cancel := context.WithCancel(context.Background())
		var out, errs bytes.Buffer
		ended := make(chan int, 1)
		go func() { ended <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--data", dir}, &out, &errs) }()
		time.Sleep(time.Duration(i) * 4 * time.Millisecond)
		cancel()
		select {
		case code := <-ended:
			if code != exitFine {
				t.Errorf("ended after %d ms: %d, %s", i*4, code, errs.String())
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("told to end after %d ms, it does not", i*4)
		}
	}
	for range 20 {
		s := serve(t, "--data", dir)
		if code, errs := s.stop(); code != exitFine {
			t.Errorf("told to end when it listens: %d, %s", code, errs)
		}
	}
	s := serve(t, "--data", dir, "--drain", "500ms")
	for _, send := range []string{"", "GET /users/1 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /users/1 HT", "POST /users/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"} {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, send)
	}
	time.Sleep(50 * time.Millisecond)
	if code, errs := s.stop(); code != exitFine {
		t.Errorf("with connections open: %d, %s", code, errs)
	}
}

func TestVersion(t *testing.T) {
	code, out, errs := command(t, "--version")
	if code != exitFine || !strings.HasPrefix(out, "redoubt ") || errs != "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

// A report that cannot be written is no success.
func TestOutputThatFails(t *testing.T) {
	var errs bytes.Buffer
	dir := filepath.Join(t.TempDir(), "set")
	code := run(t.Context(), []string{"gen", "--out", dir, "--users", "10", "--locations", "10", "--visits", "10", "--requests", "10"}, brokenWriter{}, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "cannot write the output") {
		t.Errorf("%d, %s", code, errs.String())
	}
	for _, args := range [][]string{{"--help"}, {"--version"}, {"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data")}} {
		if code := run(t.Context(), args, brokenWriter{}, io.Discard); code != exitFailed {
			t.Errorf("redoubt %v: %d", args, code)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// Checking twice without a restart is the commonest mistake.
func TestCheckTwice(t *testing.T) {
	dir := generate(t, "--users", "300", "--locations", "300", "--visits", "3000", "--requests", "1000")
	s := serve(t, "--data", filepath.Join(dir, "data"))
	command(t, "check", "--target", s.addr, "--dir", dir)
	code, out, _ := command(t, "check", "--target", s.addr, "--dir", dir)
	if code != exitFailed || !strings.Contains(out, "restart the\nserver before each check") {
		t.Errorf("%d\n%s", code, out)
	}
	code, _, errs := command(t, "check", "--target", s.addr, "--dir", filepath.Join(dir, "data"))
	if code != exitInput || !strings.Contains(errs, "is that the folder you mean?") {
		t.Errorf("%d %s", code, errs)
	}
}

// Without options.txt ages count from the clock, and serve says so.
func TestWarnsOfTheClock(t *testing.T) {
	dir := generate(t, "--users", "10", "--locations", "10", "--visits", "10", "--requests", "0")
	os.Remove(filepath.Join(dir, "data", "options.txt"))
	os.Remove(filepath.Join(dir, "data", "data.zip")) // it holds one, too
	s := serve(t, "--data", filepath.Join(dir, "data"))
	response, err := http.Get("http://" + s.addr + "/users/1")
	if err != nil || response.StatusCode != 200 {
		t.Errorf("GET /users/1: %v, %v", response, err)
	}
	response.Body.Close()
	if _, errs := s.stop(); !strings.Contains(errs, "options.txt") {
		t.Errorf("no warning in %q", errs)
	}
}

func TestChooseBodies(t *testing.T) {
	full := store.Config{Users: 1_000_074, Locations: 761_314, Visits: 10_000_740}
	f := func(bodies bodiesFlag, available uint64, want string) {
		t.Helper()
		ready, err := chooseBodies(bodies, full, 40<<20, machine.Memory{Bytes: available, Limit: "/box/memory.max"})
		got := map[bool]string{true: "ready", false: "lean"}[ready]
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s in %d MB: %s, want %s", bodies, available>>20, got, want)
		}
	}
	f("auto", 4<<30, "ready")
	f("auto", 2<<30, "lean")
	f("ready", 2<<30, "ready")
	f("lean", 4<<30, "lean")
	f("lean", 420<<20, "loading the data needs about 4") // it does not fit with what loading takes besides
	f("lean", 1<<28, "loading the data needs about")
	f("auto", 1<<28, "loading the data needs about")
	f("ready", 1<<30, "loading the data needs about")
	if ready, err := chooseBodies("auto", full, 40<<20, machine.Memory{}); !ready || err != nil {
		t.Errorf("where memory is unknown auto is %v, %v", ready, err)
	}
	_, err := chooseBodies("ready", full, 40<<20, machine.Memory{Bytes: 1 << 30, Limit: "/box/memory.max"})
	if err == nil || !strings.Contains(err.Error(), "--bodies lean") || !strings.Contains(err.Error(), "/box/memory.max") {
		t.Errorf("no way out in: %v", err)
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s", n, got)
		}
	}
}
