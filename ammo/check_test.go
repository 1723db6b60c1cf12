package ammo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// pair is a request and what is expected back, for files written by a test.
type pair struct {
	method, target, body string
	status               int
	want                 string
	close                bool
}

func get(target string, status int, want string) pair {
	return pair{method: "GET", target: target, status: status, want: want}
}

func (p pair) request() []byte {
	connection := "keep-alive"
	if p.close {
		connection = "close"
	}
	if p.method != "POST" {
		return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: %s\r\n\r\n", p.method, p.target, connection)
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: %s\r\nContent-Length: %d\r\n\r\n%s\r\n",
		p.method, p.target, connection, len(p.body), p.body)
}

// writePhase writes the pairs' ammo and answers into a fresh folder.
func writePhase(t *testing.T, inOrder bool, pairs ...pair) Phase {
	t.Helper()
	dir := t.TempDir()
	var ammo, answers bytes.Buffer
	records, lines := NewPhantomWriter(&ammo), NewAnswersWriter(&answers)
	for _, p := range pairs {
		if err := errors.Join(records.Write("tag:"+p.target, p.request()), lines.Write(p.method, p.target, p.status, []byte(p.want))); err != nil {
			t.Fatal(err)
		}
	}
	records.Flush()
	lines.Flush()
	phase := Phase{"phase", filepath.Join(dir, "a.ammo"), filepath.Join(dir, "a.answ"), inOrder}
	write(t, phase.Ammo, ammo.String())
	write(t, phase.Answers, answers.String())
	return phase
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// scripted is a server that answers each connection's requests with the bytes
// its script gives for the target, and then does what the script says.
type scripted struct {
	addr        string
	connections atomic.Int64
	script      func(target string) (answer string, then action)

	mu   sync.Mutex
	seen []string // request line and body of each request
}

type action int

const (
	keep   action = iota // go on with the next request
	shut                 // close the connection
	reset                // close it with RST
	silent               // say nothing more, keep it open
)

func serve(t *testing.T, script func(target string) (string, action)) *scripted {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &scripted{addr: l.Addr().String(), script: script}
	var conns sync.Map
	t.Cleanup(func() {
		l.Close()
		conns.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Store(conn, nil)
			go s.talk(conn)
		}
	}()
	return s
}

func (s *scripted) talk(conn net.Conn) {
	in := bufio.NewReader(conn)
	for first := true; ; first = false {
		r, err := http.ReadRequest(in) // skips the CRLF beyond a POST's length
		if err != nil {
			conn.Close()
			return
		}
		body, _ := io.ReadAll(r.Body)
		if first {
			s.connections.Add(1)
		}
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.RequestURI+" "+string(body))
		s.mu.Unlock()
		answer, then := s.script(r.RequestURI)
		io.WriteString(conn, answer)
		switch then {
		case shut:
			conn.Close()
			return
		case reset:
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
			return
		case silent:
			io.Copy(io.Discard, conn)
			return
		}
		if r.Close {
			conn.Close()
			return
		}
	}
}

// ok is a good answer with this body.
func ok(body string) string { return answer(200, body) }

func answer(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n%s", status, len(body), body)
}

func TestCheckRight(t *testing.T) {
	s := serve(t, func(target string) (string, action) {
		switch {
		case strings.HasPrefix(target, "/missing"):
			return answer(404, ""), keep
		case target == "/chunked-error":
			return "HTTP/1.1 400 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", keep
		case target == "/interim":
			return "HTTP/1.1 100 Continue\r\n\r\n" + ok(`{}`), keep
		case target == "/head":
			return "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 50\r\n\r\n", keep
		case target == "/last": // says close, and does so
			return strings.Replace(ok(`{}`), "keep-alive", "close", 1), shut
		}
		return ok(`{"t":"` + target + `"}`), keep
	})
	var pairs []pair
	for i := range 500 {
		target := fmt.Sprintf("/%d", i)
		pairs = append(pairs, get(target, 200, `{"t": "`+target+`"}`))
	}
	pairs = append(pairs, get("/missing/1", 404, ""), get("/chunked-error", 400, ""), get("/interim", 200, "{}"),
		pair{method: "HEAD", target: "/head", status: 200}, get("/last", 200, "{}"), get("/statusonly", 200, ""))
	calls := 0
	report, err := Check(t.Context(), CheckOptions{Target: s.addr, Connections: 4,
		Phases: []Phase{writePhase(t, false, pairs...)}, Progress: func(p Progress) { calls++ }})
	if err != nil || report.Asked != len(pairs) || report.Wrong != 0 || !report.Phases[0].Complete {
		t.Errorf("got %+v, %v", report, err)
	}
	if n := s.connections.Load(); n > 5 { // four, and one more after /last
		t.Errorf("%d connections were used, want them kept", n)
	}
	if calls == 0 {
		t.Error("progress was never told")
	}
}

func TestCheckInOrder(t *testing.T) {
	s := serve(t, func(string) (string, action) { return ok("{}"), keep })
	var pairs []pair
	for i := range 100 {
		pairs = append(pairs, pair{"POST", fmt.Sprintf("/%d", i), `{"body":true}`, 200, "", true})
	}
	report, err := Check(t.Context(), CheckOptions{Target: s.addr, Phases: []Phase{writePhase(t, true, pairs...)}})
	if err != nil || report.Asked != 100 || report.Wrong != 0 {
		t.Fatalf("got %+v, %v", report, err)
	}
	for i, line := range s.seen {
		if want := fmt.Sprintf(`POST /%d {"body":true}`, i); line != want {
			t.Fatalf("request %d was %q, want %q", i, line, want)
		}
	}
	if n := s.connections.Load(); n != 100 {
		t.Errorf("%d connections for 100 requests that close them", n)
	}
}

// Every way to misbehave is a difference with a name of its own, and the
// requests around it are not disturbed.
func TestCheckDifferences(t *testing.T) {
	long := strings.Repeat(" ", 70_000)
	cases := []struct {
		name, answer string
		then         action
		status       int
		want         string // expected JSON
		reason       string
	}{
		{"status", answer(404, ""), keep, 200, `{}`, "got status 404, want 200"},
		{"value", ok(`{"a":"\u0430"}`), keep, 200, `{"a":"b"}`, `$.a: got "а", want "b"`},
		{"extra-key", ok(`{"a":1,"b":2}`), keep, 200, `{"a":1}`, `the key "b" is too much`},
		{"broken-json", ok(`{"a":"say "hi""}`), keep, 200, `{"a":1}`, "malformed JSON"},
		{"no-json", ok(`hello`), keep, 200, "", "malformed JSON"},
		{"no-type", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", keep, 200, `{}`, `Content-Type "", want application/json`},
		{"html", strings.Replace(ok("{}"), "application/json", "text/html", 1), keep, 200, `{}`, `Content-Type "text/html"`},
		{"no-length", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}", shut, 200, `{}`, "no Content-Length"},
		{"chunked", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", keep, 200, `{}`, "no Content-Length"},
		{"error-body", answer(404, "not found"), keep, 404, "", "status 404 with a body of 9 bytes"},
		{"too-long", ok("{}") + "surplus", keep, 200, `{}`, "7 bytes follow the end"},
		{"cut-head", "HTTP/1.1 200 OK\r\nContent-Le", shut, 200, `{}`, "closed the connection in the middle of the answer"},
		{"cut-body", ok(`{"a":1}`)[:len(ok(`{"a":1}`))-2], shut, 200, `{"a":1}`, "closed the connection in the middle of the answer"},
		{"cut-chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}", shut, 200, `{}`, "closed the connection in the middle"},
		{"short-body", strings.Replace(ok("{}"), "Length: 2", "Length: 9", 1), keep, 200, `{}`, "was not whole within"},
		{"silent", "", silent, 200, `{}`, "no answer within"},
		{"half-silent", "HTTP/1.1 2", silent, 200, `{}`, "stopped after 10 bytes"},
		{"closing", "", shut, 200, `{}`, "closed the connection without an answer"},
		{"resetting", "", reset, 200, `{}`, "connection reset"},
		{"rubbish", "220 smtp.test ready\r\n\r\n", keep, 200, `{}`, "malformed answer"},
		{"bad-length", "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n{}", keep, 200, `{}`, "malformed answer"},
		{"bad-chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", keep, 200, `{}`, "malformed answer"},
		{"huge-head", "HTTP/1.1 200 OK\r\nX: " + long, keep, 200, `{}`, "malformed answer"},
		{"huge-body", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", keep, 200, `{}`, "body is over 1000 bytes"},
	}
	answers := map[string]int{}
	var pairs []pair
	for i, c := range cases {
		answers["/"+c.name] = i
		pairs = append(pairs, get("/good", 200, `{"good":1}`), get("/"+c.name, c.status, c.want))
	}
	s := serve(t, func(target string) (string, action) {
		if i, bad := answers[target]; bad {
			return cases[i].answer, cases[i].then
		}
		return ok(`{"good":1}`), keep
	})
	for _, inOrder := range []bool{true, false} {
		report, err := Check(t.Context(), CheckOptions{Target: s.addr, Timeout: 800 * time.Millisecond, MaxBody: 1000, Show: 100,
			Phases: []Phase{writePhase(t, inOrder, pairs...)}})
		if err != nil || report.Asked != len(pairs) || report.Wrong != len(cases) || len(report.Differences) != len(cases) {
			t.Fatalf("asked %d, wrong %d (want %d), %v\n%+v", report.Asked, report.Wrong, len(cases), err, report.Differences)
		}
		for i, d := range report.Differences {
			c := cases[i]
			if d.Record != 2*i+2 || d.Tag != "tag:/"+c.name || d.Request != "GET /"+c.name+" HTTP/1.1" || d.WantStatus != c.status {
				t.Errorf("%s: reported as %+v", c.name, d)
			}
			if !strings.Contains(d.Reason, c.reason) {
				t.Errorf("%s: got reason %q, want %q", c.name, d.Reason, c.reason)
			}
		}
		if d := report.Differences[1]; d.Got != `{"a":"а"}` || d.Want != `{"a":"b"}` || d.GotStatus != 200 {
			t.Errorf("bodies are not shown decoded: %+v", d)
		}
	}
}

func TestCheckShow(t *testing.T) {
	s := serve(t, func(string) (string, action) { return answer(404, ""), keep })
	var pairs []pair
	for i := range 50 {
		pairs = append(pairs, get(fmt.Sprintf("/%d", i), 200, ""))
	}
	phases := []Phase{writePhase(t, false, pairs[:2]...), writePhase(t, false, pairs...)}
	report, err := Check(t.Context(), CheckOptions{Target: s.addr, Phases: phases, Show: 5})
	if err != nil || report.Wrong != 52 || len(report.Differences) != 5 {
		t.Fatalf("wrong %d, shown %d, %v", report.Wrong, len(report.Differences), err)
	}
	for i, record := range []int{1, 2, 1, 2, 3} {
		if got := report.Differences[i].Record; got != record {
			t.Errorf("difference %d is record %d, want %d", i, got, record)
		}
	}
	report, _ = Check(t.Context(), CheckOptions{Target: s.addr, Phases: phases, Show: -1})
	if report.Wrong != 52 || len(report.Differences) != 0 {
		t.Errorf("with none to show: wrong %d, shown %d", report.Wrong, len(report.Differences))
	}
}

// An idle connection that the server closes is no difference for a GET: it is
// asked again. A POST is not.
func TestCheckClosedWhileIdle(t *testing.T) {
	s := serve(t, func(target string) (string, action) { return ok("{}"), shut }) // says keep-alive, closes
	gets := writePhase(t, true, get("/1", 200, "{}"), get("/2", 200, "{}"), get("/3", 200, "{}"))
	report, err := Check(t.Context(), CheckOptions{Target: s.addr, Phases: []Phase{gets}})
	if err != nil || report.Wrong != 0 {
		t.Errorf("GETs: %+v, %v", report, err)
	}
	posts := writePhase(t, true, pair{"POST", "/1", "{}", 200, "{}", false}, pair{"POST", "/2", "{}", 200, "{}", false})
	report, err = Check(t.Context(), CheckOptions{Target: s.addr, Phases: []Phase{posts}})
	if err != nil || report.Wrong != 1 {
		t.Errorf("POSTs: %+v, %v", report, err)
	}
}

func TestCheckUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	opts := CheckOptions{Target: addr, Phases: []Phase{writePhase(t, false, get("/", 200, ""))}}
	report, err := Check(t.Context(), opts)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), addr) || report.Asked != 0 {
		t.Errorf("got %+v, %v", report, err)
	}

	// A server that comes up while we wait.
	go func() {
		time.Sleep(120 * time.Millisecond)
		l, err := net.Listen("tcp", addr)
		if err == nil {
			http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, "{}")
			}))
		}
	}()
	opts.Wait = 5 * time.Second
	if report, err := Check(t.Context(), opts); err != nil || report.Asked != 1 || report.Wrong != 0 {
		t.Errorf("waiting for the server: %+v, %v", report, err)
	}
}

func TestCheckGivesUp(t *testing.T) {
	s := serve(t, func(string) (string, action) { return "", shut })
	var pairs []pair
	for range 100 {
		pairs = append(pairs, get("/", 200, ""))
	}
	report, err := Check(t.Context(), CheckOptions{Target: s.addr, GiveUp: 7, Phases: []Phase{writePhase(t, true, pairs...)}})
	if !errors.Is(err, ErrGaveUp) || report.Asked < 7 || report.Asked > 8 || report.Phases[0].Complete {
		t.Errorf("got %+v, %v", report, err)
	}
	report, err = Check(t.Context(), CheckOptions{Target: s.addr, GiveUp: -1, Phases: []Phase{writePhase(t, false, pairs...)}})
	if err != nil || report.Wrong != 100 {
		t.Errorf("told never to give up: %d wrong, %v", report.Wrong, err)
	}
}

func TestCheckCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(target string) (string, action) {
		if target == "/stop" {
			cancel()
			return "", silent
		}
		return ok("{}"), keep
	})
	phase := writePhase(t, true, get("/1", 200, "{}"), get("/stop", 200, "{}"), get("/2", 200, "{}"))
	start := time.Now()
	report, err := Check(ctx, CheckOptions{Target: s.addr, Timeout: 20 * time.Second, Phases: []Phase{phase, phase}})
	if !errors.Is(err, context.Canceled) || report.Asked != 1 || report.Wrong != 0 || len(report.Phases) != 1 || report.Phases[0].Complete {
		t.Errorf("got %+v, %v", report, err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v to notice", took)
	}
}

func TestCheckBadFiles(t *testing.T) {
	s := serve(t, func(string) (string, action) { return ok("{}"), keep })
	f := func(ammo, answers, want string) {
		t.Helper()
		phase := writePhase(t, false, get("/1", 200, "{}"), get("/2", 200, "{}"))
		if ammo != "" {
			write(t, phase.Ammo, ammo)
		}
		if answers != "" {
			write(t, phase.Answers, answers)
		}
		_, err := Check(t.Context(), CheckOptions{Target: s.addr, Phases: []Phase{phase}})
		var bad *SyntaxError
		if !errors.As(err, &bad) || !strings.Contains(bad.Error(), want) {
			t.Errorf("%q, %q: got %v, want %q", ammo, answers, err, want)
		}
	}
	f("x", "", "a.ammo: record 1, byte 0")
	f("", "GET\t/1\t200\n", "got the end of the file")
	f("", "GET\t/1\t200\nGET\t/2\t200\nGET\t/3\t200\n", "one more answer")
	f("", "GET\t/1\t200\nGET\t/3\t200\n", "that to GET \"/3\"")
	f("", "GET\t/1\t200\nPOST\t/2\t200\n", "that to POST \"/2\"")
	f("", "GET\t/1\t2000\n", "a.answ: record 1")

	phase := writePhase(t, false)
	os.Remove(phase.Answers)
	if _, err := Check(t.Context(), CheckOptions{Target: s.addr, Phases: []Phase{phase}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without answers: %v", err)
	}
}

// Ammo may be gzip under its plain name; broken gzip is a broken file.
func TestCheckGzip(t *testing.T) {
	s := serve(t, func(string) (string, action) { return ok("{}"), keep })
	var pairs []pair
	for i := range 200 {
		pairs = append(pairs, get(fmt.Sprintf("/%d", i), 200, "{}"))
	}
	phase := writePhase(t, true, pairs...)
	text, err := os.ReadFile(phase.Ammo)
	if err != nil {
		t.Fatal(err)
	}
	packed := zip(t, 6, string(text))
	write(t, phase.Ammo, packed+zip(t, 6, "0\n"+string(text)))
	var last Progress
	opts := CheckOptions{Target: s.addr, Phases: []Phase{phase}, Progress: func(p Progress) { last = p }}
	report, err := Check(t.Context(), opts)
	if err != nil || report.Asked != len(pairs) || report.Wrong != 0 || last.Done != 1 {
		t.Errorf("got %+v, %v; %+v", report, err, last)
	}
	write(t, phase.Ammo, packed[:len(packed)-1])
	_, err = Check(t.Context(), opts)
	if _, bad := errors.AsType[*SyntaxError](err); !bad || !strings.Contains(err.Error(), "record 201") || last.Done < 0.9 {
		t.Errorf("cut: %v; %+v", err, last)
	}
}

func TestTravelsPhases(t *testing.T) {
	phases := TravelsPhases("d")
	if len(phases) != 3 || phases[1].Ammo != filepath.Join("d", "ammo", "phase_2_post.ammo") ||
		phases[2].Answers != filepath.Join("d", "answers", "phase_3_get.answ") || phases[0].InOrder || !phases[1].InOrder {
		t.Errorf("got %+v", phases)
	}
}

// TestOfficialFiles reads the contest's own files to the end.
func TestOfficialFiles(t *testing.T) {
	dir := os.Getenv("REDOUBT_TRAVELS")
	if dir == "" {
		t.Skip("REDOUBT_TRAVELS is unset: set it to the folder of the official training set (data, ammo, answers)")
	}
	for i, phase := range TravelsPhases(dir) {
		run := phaseRun{phase: phase}
		free, todo := make(chan *shot, 1), make(chan *shot)
		free <- new(shot)
		n := 0
		go func() {
			defer close(todo)
			if err := run.read(t.Context(), free, todo); err != nil {
				t.Error(err)
			}
		}()
		for s := range todo {
			if n++; s.record.Closes() != phase.InOrder {
				t.Errorf("%s, record %d: closes is %v", phase.Name, n, s.record.Closes())
			}
			free <- s
		}
		if want := []int{3000, 3000, 5000}[i]; n != want {
			t.Errorf("%s: read %d records, want %d", phase.Name, n, want)
		}
	}
}
