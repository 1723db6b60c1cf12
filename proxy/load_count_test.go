//go:build linux

package proxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redoubt/proxy/config"
	"redoubt/proxy/filter"
)

// Whatever becomes of requests, the log and the counters tell the same, each
// one time.
func TestCountsAddUp(t *testing.T) {
	s := play(t, "", func(c *scriptedConn) {
		for r := c.request(); r != nil; r = c.request() {
			switch r.URL.Path {
			case "/a/cut":
				c.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
				return
			case "/a/dies":
				return
			case "/a/silent":
				c.untilClosed()
			case "/a/endless":
				c.say("HTTP/1.1 200 OK\r\n\r\n")
				io.Copy(c, io.LimitReader(zeros{}, 1<<30))
			case "/a/tunnel":
				c.say(switched)
				echo(c)
			default:
				c.say(answerOf("12345"))
			}
		}
	})
	file := filepath.Join(t.TempDir(), "access.log")
	c := settings(s.addr)
	c.Log = &config.Log{File: file, Format: "json"}
	c.Timeouts.Response = 300 * time.Millisecond
	c.Limits.Body = 100
	dead := &config.Upstream{Name: "dead", Servers: []string{nobody(t)}, Dial: time.Second}
	c.Upstreams = append(c.Upstreams, dead)
	c.Routes = []*config.Route{
		{Name: "a", Path: "/a/*", Upstream: c.Upstreams[0], Upgrade: true},
		{Name: "b", Path: "/b/*", Upstream: dead},
	}
	c.Block = &filter.Options{Methods: []string{"TRACE"}, Answer: 403}
	p, addr := run(t, c, Options{Workers: 2})
	type key struct {
		route  string
		status int
	}
	want := make(map[key]int)
	const body = "Content-Length: 5\r\n\r\nabcde"
	for range 3 {
		ask := func(route string, logged, status int, request, rest string) {
			t.Helper()
			connect(t, addr).want(t, status, request, rest)
			want[key{route, logged}]++
		}
		ask("a", 200, 200, "GET /a/x", "")
		ask("a", 200, 200, "POST /a/x", body)
		ask("a", 200, cutAnswer, "GET /a/cut", "")
		ask("a", 502, 502, "POST /a/dies", body)
		ask("a", 504, 504, "GET /a/silent", "")
		ask("b", 502, 502, "GET /b/x", "")
		ask("", 404, 404, "GET /c", "")
		ask("", 403, 403, "TRACE /a/x", "")
		ask("a", 413, 413, "POST /a/x", "Transfer-Encoding: chunked\r\n\r\nff\r\n"+strings.Repeat("x", 255)+"\r\n")

		gone, before := connect(t, addr), s.count("POST /a/silent") // before its answer
		gone.send("POST /a/silent", body)
		eventually(t, "it is under way", func() bool { return s.count("POST /a/silent") > before })
		gone.SetLinger(0)
		gone.Close()
		want[key{"a", 499}]++
		eventually(t, "it is over", func() bool { return metric(t, p, "requests_in_flight") == 0 })

		gone = connect(t, addr) // in the middle of it
		gone.send("GET /a/endless", "")
		io.CopyN(io.Discard, gone.in, 1000)
		gone.SetLinger(0)
		gone.Close()
		want[key{"a", 200}]++

		tunnel := connect(t, addr)
		tunnel.send("GET /a/tunnel", upgradeFields)
		tunnel.switched(t).echoes(t, "x")
		tunnel.Close()
		want[key{"a", 101}]++

		refused := connect(t, addr) // no request at all
		io.WriteString(refused, "GET\r\n\r\n")
		if r, _, err := refused.answer("GET"); err != nil || r.StatusCode != 400 {
			t.Fatal(r, err)
		}
	}
	all := 0
	for _, n := range want {
		all += n
	}
	eventually(t, "all are counted", func() bool { return int(metric(t, p, "requests_total")) == all })
	for k, n := range want {
		if got := metric(t, p, fmt.Sprintf(`requests_total{route="%s",code="%d"}`, k.route, k.status)); int(got) != n {
			t.Errorf("route %q, status %d: %v are counted, of %d", k.route, k.status, got, n)
		}
	}
	for _, m := range []struct {
		name string
		want int
	}{
		{"requests_in_flight", 0}, {"refused_total", 3}, {"cut_total", 3}, {"gone_total", 6}, {"shed_total", 0}, {"request_seconds_count", all},
		{"filter_refused_total", 3},
	} {
		if got := metric(t, p, m.name); int(got) != m.want {
			t.Errorf("%s is %v, want %d", m.name, got, m.want)
		}
	}
	// Those that were cut off for their bodies may never have left.
	sent, seen := int(metric(t, p, "upstream_requests_total")), len(s.seen())
	if long := want[key{"a", 413}]; sent < seen || sent > seen+long {
		t.Errorf("%d requests are counted as sent to servers, of which %d were seen and %d cut off", sent, seen, long)
	}
	lines := all + 3
	eventually(t, "all are logged", func() bool { return int(p.log.Stats().Written) == lines })
	want[key{"", 400}] = 3
	got := make(map[key]int)
	text, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	for in := bufio.NewScanner(text); in.Scan(); {
		var line struct {
			Route  string
			Status int
			Error  string
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", in.Bytes(), err)
		}
		if line.Status >= 500 && line.Error == "" {
			t.Errorf("no reason in %s", in.Bytes())
		}
		got[key{line.Route, line.Status}]++
	}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("route %q, status %d: %d lines, want %d", k.route, k.status, got[k], n)
		}
		delete(got, k)
	}
	for k, n := range got {
		t.Errorf("route %q, status %d: %d lines that nobody has asked for", k.route, k.status, n)
	}
}
