package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// proxyProcess is a running `redoubt proxy`.
type proxyProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	errs *strings.Builder // may be read once it has ended
	addr []string         // where it listens
}

// startProxy starts one that will say where it listens so many times.
func startProxy(t *testing.T, listeners int, args ...string) *proxyProcess {
	t.Helper()
	p := &proxyProcess{t: t}
	var out io.ReadCloser
	p.cmd, _, out, p.errs = redoubtProcess(t, append([]string{"proxy", "--workers", "2"}, args...)...)
	lines := bufio.NewReader(out)
	for range listeners {
		line, err := lines.ReadString('\n')
		addr, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
		if err != nil || !ok {
			p.cmd.Wait()
			t.Fatalf("it says %q, %v: %s", line, err, p.errs)
		}
		p.addr = append(p.addr, addr)
	}
	return p
}

// end tells it to, and returns what it has said.
func (p *proxyProcess) end() string {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("told to end: %v\n%s", err, p.errs)
	}
	return p.errs.String()
}

// origin is a server that says its name to all who ask. Who asks for /slow has
// to wait until it is told so.
func origin(t *testing.T, name string) (addr string, slow chan struct{}) {
	t.Helper()
	slow = make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			slow <- struct{}{}
			<-slow
		}
		io.WriteString(w, name)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), slow
}

// ask asks on a connection that stays open.
func ask(t *testing.T, c net.Conn, path string) string {
	t.Helper()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: shop.example\r\n\r\n", path)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return string(body)
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come to pass", what)
		}
	}
}

// SIGHUP puts a new file in force as a whole, or the old one stays; connections
// and requests under way live on. SIGUSR1 opens the log anew.
func TestProxyReloads(t *testing.T) {
	one, slow := origin(t, "one")
	two, _ := origin(t, "two")
	three, _ := origin(t, "three")
	dir := t.TempDir()
	name, log := filepath.Join(dir, "proxy.json"), filepath.Join(dir, "access.log")
	file := func(server, more string) {
		t.Helper()
		text := fmt.Sprintf("{\"listen\": [\"127.0.0.1:0\"], \"admin\": \"127.0.0.1:0\", \"log\": {\"file\": %q},\n \"upstreams\": {\"origin\": {\"servers\": [%q]}},\n %s}", log, server, more)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file(one, "")
	p := startProxy(t, 2, "--config", name)
	hangup := func() { p.cmd.Process.Signal(syscall.SIGHUP) }

	c := dial(t, p.addr[0])
	if got := ask(t, c, "/"); got != "one" {
		t.Fatalf("got %q", got)
	}
	waits := dial(t, p.addr[0])
	fmt.Fprintf(waits, "GET /slow HTTP/1.1\r\nHost: shop.example\r\n\r\n")
	<-slow // it is with the server

	file(two, "")
	hangup()
	eventually(t, "the new file", func() bool { return ask(t, c, "/") == "two" })
	slow <- struct{}{}
	waits.SetDeadline(time.Now().Add(10 * time.Second))
	response, err := http.ReadResponse(bufio.NewReader(waits), nil)
	if err != nil {
		t.Fatalf("what was under way: %v", err)
	}
	if body, err := io.ReadAll(response.Body); string(body) != "one" || err != nil {
		t.Errorf("what was under way: %q, %v", body, err)
	}

	// Neither a wrong file nor one that takes a restart changes anything.
	file(three, `"colour": 1`)
	hangup()
	time.Sleep(200 * time.Millisecond) // signals that wait are one
	file(three, `"limits": {"connections": 7}`)
	hangup()
	time.Sleep(200 * time.Millisecond)
	if got := ask(t, c, "/"); got != "two" {
		t.Errorf("after a wrong file: %q", got)
	}
	file(three, "")
	hangup()
	eventually(t, "the last file", func() bool { return ask(t, c, "/") == "three" })

	eventually(t, "the log", func() bool { text, _ := os.ReadFile(log); return strings.Contains(string(text), "/slow") })
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	p.cmd.Process.Signal(syscall.SIGUSR1)
	eventually(t, "a log that is opened again", func() bool {
		ask(t, c, "/again")
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), "/again")
	})

	health, err := http.Get("http://" + p.addr[1] + "/health")
	if err != nil || health.StatusCode != 200 {
		t.Errorf("health: %v, %v", health, err)
	}
	metrics, err := http.Get("http://" + p.addr[1] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(metrics.Body); !strings.Contains(string(text), `redoubt_proxy_requests_total{route="route 1",code="200"} `) {
		t.Errorf("metrics:\n%s", text)
	}
	said := p.end()
	for _, want := range []string{
		"SIGHUP: " + name + " is in force, 1 route, 1 upstream\n",
		"SIGHUP: the old configuration stays: " + name + `:3:2: a configuration has no field "colour"`,
		"SIGHUP: the old configuration stays: limits.connections has changed",
		"redoubt proxy: SIGUSR1: access log " + log + " reopened\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it says\n%s\nwithout %q", said, want)
		}
	}
}

// Flags in the place of a file: there is nothing to read again, and SIGHUP ends
// nothing.
func TestProxyWithoutFile(t *testing.T) {
	one, _ := origin(t, "one")
	p := startProxy(t, 1, "--listen", "127.0.0.1:0", "--to", one)
	c := dial(t, p.addr[0])
	if got := ask(t, c, "/"); got != "one" {
		t.Errorf("got %q", got)
	}
	p.cmd.Process.Signal(syscall.SIGHUP)
	time.Sleep(100 * time.Millisecond)
	if got := ask(t, c, "/"); got != "one" {
		t.Errorf("after SIGHUP: %q", got)
	}
	p.cmd.Process.Signal(syscall.SIGUSR1)
	time.Sleep(100 * time.Millisecond)
	if said := p.end(); !strings.Contains(said, "no file to read again") || !strings.Contains(said, "SIGUSR1: there is no access log") {
		t.Errorf("it says %q", said)
	}
}

// What was given by flags wins over the file, also after a reload; else the
// newest file says how long to drain.
func TestProxyDrains(t *testing.T) {
	for _, c := range []struct {
		reloaded string
		flags    []string
	}{{"1h", []string{"--drain", "100ms"}}, {"100ms", nil}} {
		one, slow := origin(t, "one")
		two, _ := origin(t, "two")
		name := filepath.Join(t.TempDir(), "proxy.json")
		file := func(server, drain string) {
			text := fmt.Sprintf(`{"listen": [":1"], "timeouts": {"drain": %q}, "upstreams": {"o": {"servers": [%q]}}}`, drain, server)
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		file(one, "1h")
		p := startProxy(t, 2, append(c.flags, "--config", name, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")...)
		fmt.Fprintf(dial(t, p.addr[0]), "GET /slow HTTP/1.1\r\nHost: shop.example\r\n\r\n")
		<-slow
		file(two, c.reloaded)
		p.cmd.Process.Signal(syscall.SIGHUP)
		client := dial(t, p.addr[0])
		eventually(t, "the new file", func() bool { return ask(t, client, "/") == "two" })
		time.Sleep(50 * time.Millisecond) // it takes note after the loops have
		if said := p.end(); !strings.Contains(said, "is in force") || !strings.Contains(said, "still busy") {
			t.Errorf("%q: it says %q", c.flags, said)
		}
		slow <- struct{}{}
	}
}

// A port that is taken, a log that cannot be opened: exit code 2, and what to do.
func TestProxyCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	log := configFile(t, `{"upstreams": {"o": {"servers": ["127.0.0.1:1"]}}, "log": {"file": "`+filepath.Join(t.TempDir(), "none", "access.log")+`"}, "listen": ["127.0.0.1:0"]}`)
	admin := configFile(t, `{"upstreams": {"o": {"servers": ["127.0.0.1:1"]}}, "admin": "`+taken.Addr().String()+`", "listen": ["127.0.0.1:0"]}`)
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"--listen", taken.Addr().String(), "--to", "127.0.0.1:1"}, []string{"address already in use", "--listen"}},
		{[]string{"--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--admin", taken.Addr().String()}, []string{"--admin " + taken.Addr().String() + ": address already in use: end what listens there, or give another port"}},
		{[]string{"--config", admin}, []string{admin + `: "admin" ` + taken.Addr().String() + ": address already in use: "}},
		{[]string{"--config", log}, []string{"access.log", "no such file"}},
	} {
		code, out, errs := command(t, append([]string{"proxy"}, c.args...)...)
		if code != exitInput || out != "" {
			t.Errorf("%q: exit code %d, output %q", c.args, code, out)
		}
		for _, want := range c.says {
			if !strings.Contains(errs, want) {
				t.Errorf("%q: says %q, which has no %q", c.args, errs, want)
			}
		}
	}
}
