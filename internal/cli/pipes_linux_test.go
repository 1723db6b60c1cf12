package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe into which nobody writes, or which nobody reads, holds up nothing: not
// the start, not a signal, not the end.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("configuration at the start", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		var out, errs strings.Builder
		done := make(chan int)
		go func() { done <- run(ctx, []string{"proxy", "--check", "--config", pipe}, &out, &errs) }()
		select {
		case code := <-done:
			if code != exitFailed || !strings.Contains(errs.String(), "interrupted") {
				t.Errorf("%d: %s", code, errs.String())
			}
		case <-time.After(10 * time.Second):
			t.Error("it waits for ever")
		}
	})
	t.Run("log at the start", func(t *testing.T) {
		pipe := filepath.Join(dir, "another") // the other one has got a reader that waits
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		file := configFile(t, `{"log": {"file": "`+pipe+`"}, "upstreams": {"o": {"servers": ["127.0.0.1:1"]}}}`)
		if code, _, errs := command(t, "proxy", "--listen", "127.0.0.1:0", "--config", file); code != exitInput || !strings.Contains(errs, "access log") {
			t.Errorf("%d: %s", code, errs)
		}
	})
	t.Run("after the start", func(t *testing.T) {
		one, _ := origin(t, "one")
		log, file := filepath.Join(dir, "log"), filepath.Join(dir, "proxy.json")
		text := `{"listen": ["127.0.0.1:0"], "log": {"file": "` + log + `"}, "upstreams": {"o": {"servers": ["` + one + `"]}}}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := startProxy(t, 1, "--config", file)
		for _, name := range []string{log, file} {
			os.Remove(name)
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p.cmd.Process.Signal(syscall.SIGUSR1)
		p.cmd.Process.Signal(syscall.SIGHUP)
		c := dial(t, p.addr[0])
		if got := ask(t, c, "/"); got != "one" {
			t.Errorf("it answers %q", got)
		}
		p.end() // in time, and with 0
	})
}
