//go:build linux

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"redoubt/ammo/gun"
)

// target is a server that answers with what the path says: /404 with 404.
func target(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/")); err == nil {
			w.WriteHeader(status)
		}
		io.WriteString(w, "hello")
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// ammoFile writes a file of requests for paths.
func ammoFile(t *testing.T, paths ...string) string {
	t.Helper()
	var text bytes.Buffer
	for _, path := range paths {
		request := "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"
		text.WriteString(strconv.Itoa(len(request)) + " get\n" + request + "\n")
	}
	return write(t, text.String())
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFire(t *testing.T) {
	addr, file := target(t), ammoFile(t, "/", "/404")
	code, out, errs := command(t, "fire", "--target", addr, "--ammo", file, "--load", "const(200,200ms)")
	if code != exitFine {
		t.Errorf("%d: %s", code, errs)
	}
	for _, word := range []string{"const(200,200ms) at " + addr, "planned             40\n", "answered            40 ", "200: 20 ", "404: 20", "from planned", "from sent"} {
		if !strings.Contains(out, word) {
			t.Errorf("there is no %q in\n%s", word, out)
		}
	}
	code, out, errs = command(t, "fire", "--target", addr, "--ammo", file, "--load", "flood(3,200ms)", "--pipeline", "2", "--workers", "2", "--limit", "500")
	if code != exitFine || !strings.Contains(out, "answered           500 ") || strings.Contains(out, "from planned") {
		t.Errorf("%d: %s\n%s", code, errs, out)
	}
}

// The folder of --out holds what --json prints, a line for each shot, and the
// distribution. It is not written over.
func TestFireWrites(t *testing.T) {
	addr, file := target(t), ammoFile(t, "/", "/503", "/")
	dir := filepath.Join(t.TempDir(), "new", "run")
	args := []string{"fire", "--target", addr, "--ammo", file, "--load", "const(300,1s)", "--loop", "10", "--enum-ammo", "--json", "--out", dir, "--pid", strconv.Itoa(os.Getpid())}
	code, out, errs := command(t, args...)
	if code != exitFine {
		t.Fatalf("%d: %s", code, errs)
	}
	var s gun.Summary
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if s.Shots.Answered != 30 || s.Statuses["503"] != 10 || s.Ammo != file || s.Target != addr || s.Server == nil || s.Server.RSS < 1<<20 || s.Server.PID != os.Getpid() {
		t.Errorf("%+v, %v, %+v", s.Shots, s.Statuses, s.Server)
	}
	if text := read(t, dir, "summary.json"); text != out {
		t.Errorf("summary.json is not what --json has printed: %s", text)
	}
	phout := read(t, dir, "phout.txt")
	if n := strings.Count(phout, "\n"); n != 30 {
		t.Errorf("%d lines in phout.txt", n)
	}
	for n := range 30 {
		if !strings.Contains(phout, "\tget#"+strconv.Itoa(n)+"\t") {
			t.Errorf("phout.txt has no shot %d", n)
		}
	}
	if text := read(t, dir, "hdr.txt"); !strings.Contains(text, "Percentile") {
		t.Errorf("hdr.txt: %.300s", text)
	}

	code, out, errs = command(t, args...)
	if code != exitInput || !strings.Contains(errs, dir) || !strings.Contains(errs, "another folder") || out != "" {
		t.Errorf("a second run into the folder: %d, %s", code, errs)
	}
	if read(t, dir, "phout.txt") != phout {
		t.Error("the first run's phout.txt is another")
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// A broken limit fails the run, a kept one does not, and each is told of.
func TestFireLimits(t *testing.T) {
	addr, file := target(t), ammoFile(t, "/", "/500", "/", "/")
	f := func(code int, says []string, limits ...string) {
		t.Helper()
		args := []string{"fire", "--target", addr, "--ammo", file, "--load", "const(1000,1s)", "--limit", "40"}
		for _, limit := range limits {
			args = append(args, "--fail", limit)
		}
		got, out, errs := command(t, args...)
		if got != code || !strings.Contains(out, "answered            40 ") {
			t.Errorf("%v: %d, want %d\n%s", limits, got, code, out)
		}
		for _, word := range says {
			if !strings.Contains(errs, word) {
				t.Errorf("%v: says %q, which does not name %q", limits, errs, word)
			}
		}
	}
	f(exitFine, []string{"--fail p99>10s: not so"}, "p99>10s")
	f(exitFailed, []string{"--fail 5xx>20%: FAILS, it was 25%", "1 of 1 limits broken"}, "5xx>20%")
	f(exitFailed, []string{"--fail errors>0: not so, it was 0", "--fail p50<10s: FAILS", "1 of 2 limits broken"}, "errors > 0", "p50<10s")
}

// A server that answers nothing is no success, and one that is not there is
// told of before anything is fired.
func TestFireInVain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	file := ammoFile(t, "/")
	code, out, errs := command(t, "fire", "--target", l.Addr().String(), "--ammo", file, "--load", "const(100,100ms)")
	if code != exitFailed || !strings.Contains(errs, "not one shot was answered") || !strings.Contains(out, "error               ") {
		t.Errorf("%d: %s\n%s", code, errs, out)
	}
	l.Close()
	code, out, errs = command(t, "fire", "--target", l.Addr().String(), "--ammo", file, "--load", "const(100,100ms)")
	if code != exitFailed || !strings.Contains(errs, "refused") || !strings.Contains(errs, "--wait") || out != "" {
		t.Errorf("%d: %s\n%s", code, errs, out)
	}
	begin := time.Now()
	code, _, errs = command(t, "fire", "--target", l.Addr().String(), "--ammo", file, "--load", "const(100,100ms)", "--wait", "300ms")
	if code != exitFailed || !strings.Contains(errs, "refused") || time.Since(begin) < 200*time.Millisecond {
		t.Errorf("after %v %d: %s", time.Since(begin), code, errs)
	}
}

// --wait waits for a server that is starting.
func TestFireWaits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	s.Listener.Close()
	ready := make(chan error, 1)
	time.AfterFunc(200*time.Millisecond, func() {
		l, err := net.Listen("tcp", addr)
		if err == nil {
			s.Listener = l
			s.Start()
		}
		ready <- err
	})
	code, out, errs := command(t, "fire", "--target", addr, "--ammo", ammoFile(t, "/"), "--load", "const(100,100ms)", "--wait", "20s")
	if err := <-ready; err != nil {
		t.Skipf("the port is another's now: %v", err)
	}
	defer s.Close()
	if code != exitFine || !strings.Contains(out, "answered            10 ") {
		t.Errorf("%d: %s\n%s", code, errs, out)
	}
}

// A run that is interrupted exits with 1, and shows and writes what it has
// found so far.
func TestFireInterrupted(t *testing.T) {
	var served atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if served.Add(1) == 20 {
			cancel()
		}
		io.WriteString(w, "hello")
	}))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "run")
	var out, errs bytes.Buffer
	code := run(ctx, []string{"fire", "--target", s.Listener.Addr().String(), "--ammo", ammoFile(t, "/"), "--load", "const(200,60s)", "--out", dir}, &out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "redoubt fire: interrupted") || !strings.Contains(out.String(), ", interrupted\n") {
		t.Errorf("%d: %s\n%s", code, errs.String(), out.String())
	}
	if text := read(t, dir, "summary.json"); !strings.Contains(text, `"interrupted": true`) {
		t.Errorf("summary.json: %s", text)
	}
	if n := strings.Count(read(t, dir, "phout.txt"), "\n"); int64(n) != served.Load() {
		t.Errorf("%d lines in phout.txt, and %d requests were served", n, served.Load())
	}

	// Before the first shot there is nothing to show, and nothing is left.
	dir = filepath.Join(t.TempDir(), "run")
	out.Reset()
	code = run(ctx, []string{"fire", "--target", s.Listener.Addr().String(), "--ammo", ammoFile(t, "/"), "--load", "const(200,60s)", "--out", dir}, &out, &errs)
	if _, err := os.Stat(filepath.Join(dir, "phout.txt")); code != exitFailed || out.Len() > 0 || err == nil {
		t.Errorf("%d: %s, phout.txt: %v", code, out.String(), err)
	}
}

// Every refusal: exit code 2, and the word that says what is wrong.
func TestFireRefusals(t *testing.T) {
	addr, file := target(t), ammoFile(t, "/")
	const load = "const(100,100ms)"
	for name, c := range map[string]struct {
		args []string // besides a good --target, --ammo and --load, if they are not among them
		says []string
	}{
		"no such load":          {[]string{"--load", "sin(1,2)"}, []string{"--load", "sin"}},
		"a load without a rate": {[]string{"--load", "const(100)"}, []string{"--load"}},
		"an empty load":         {[]string{"--load", ""}, []string{"--load"}},
		"two floods":            {[]string{"--load", "flood(1,1s) flood(1,1s)"}, []string{"--load", "flood"}},
		"no port":               {[]string{"--target", "localhost"}, []string{"--target", "HOST:PORT"}},
		"a bad port":            {[]string{"--target", "localhost:x"}, []string{"--target", "no port"}},
		"a URL":                 {[]string{"--target", "http://localhost:80/"}, []string{"--target"}},
		"no ammo file":          {[]string{"--ammo", "/nowhere/at/all"}, []string{"/nowhere/at/all"}},
		"a folder":              {[]string{"--ammo", filepath.Dir(file)}, []string{filepath.Dir(file)}},
		"empty ammo":            {[]string{"--ammo", write(t, "")}, []string{"no record"}},
		"broken ammo":           {[]string{"--ammo", write(t, "hello\n")}, []string{"record 1"}},
		"cut ammo":              {[]string{"--ammo", write(t, "100 x\nGET / HTTP/1.1\r\n")}, []string{"record 1"}},
		"a bad limit":           {[]string{"--fail", "p99=1s"}, []string{"--fail", "p99=1s"}},
		"an unknown metric":     {[]string{"--fail", "speed>1"}, []string{"--fail", "speed"}},
		"no instances":          {[]string{"--instances", "-1"}, []string{"--instances"}},
		"a flood's instances":   {[]string{"--load", "flood(2,1s)", "--instances", "3"}, []string{"--instances 3", "flood(2,1s)"}},
		"no workers":            {[]string{"--workers", "0"}, []string{"--workers"}},
		"a pipeline of none":    {[]string{"--pipeline", "0"}, []string{"--pipeline"}},
		"a pipeline":            {[]string{"--pipeline", "2"}, []string{"--pipeline", "flood"}},
		"a negative limit":      {[]string{"--limit", "-1"}, []string{"--limit"}},
		"no time":               {[]string{"--timeout", "0s"}, []string{"--timeout", "1ms"}},
		"too much time":         {[]string{"--timeout", "2h"}, []string{"--timeout", "1h"}},
		"no such process":       {[]string{"--pid", "4194305"}, []string{"--pid", "4194305"}},
		"a negative process":    {[]string{"--pid", "-1"}, []string{"--pid"}},
		"a file as a folder":    {[]string{"--out", file}, []string{"--out"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := []string{"fire"}
			for flag, value := range map[string]string{"--target": addr, "--ammo": file, "--load": load} {
				if c.args[0] != flag {
					args = append(args, flag, value)
				}
			}
			code, out, errs := command(t, append(args, c.args...)...)
			if code != exitInput || out != "" {
				t.Errorf("exit code %d, want %d\n%s", code, exitInput, out)
			}
			for _, word := range c.says {
				if !strings.Contains(errs, word) {
					t.Errorf("says %q, which does not name %q", errs, word)
				}
			}
		})
	}
	code, _, errs := command(t, "fire")
	for _, flag := range []string{"--target", "--ammo", "--load"} {
		if code != exitInput || !strings.Contains(errs, flag) {
			t.Errorf("without %s: %d, %s", flag, code, errs)
		}
	}
}

// With --answers every answer is compared, and one that is wrong fails the run.
func TestFireAnswers(t *testing.T) {
	dir := generate(t, "--users", "100", "--locations", "100", "--visits", "1000", "--requests", "300")
	other := generate(t, "--users", "100", "--locations", "100", "--visits", "1000", "--requests", "300", "--seed", "2")
	for data, want := range map[string]int{dir: exitFine, other: exitFailed} {
		s := serve(t, "--data", filepath.Join(data, "data"))
		code, out, errs := command(t, "fire", "--target", s.addr, "--load", "const(2000,60s)", "--loop", "1", "--json",
			"--ammo", filepath.Join(dir, "ammo", "phase_1_get.ammo"), "--answers", filepath.Join(dir, "answers", "phase_1_get.answ"))
		var summary gun.Summary
		if err := json.Unmarshal([]byte(out), &summary); err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		if n := summary.Shots; code != want || n.Answered != n.Planned || n.Answered < 50 || n.Wrong > 0 != (want == exitFailed) || len(summary.Differences) > 0 != (n.Wrong > 0) {
			t.Errorf("%d, want %d: %+v, %s", code, want, n, errs)
		}
	}
}
