//go:build unix

package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAsRedoubt is no test: the process of redoubtProcess.
func TestAsRedoubt(t *testing.T) {
	if os.Getenv("REDOUBT_TEST_AS") == "" {
		t.Skip("for redoubtProcess")
	}
	args := os.Args
	for len(args) > 0 && args[0] != "--" {
		args = args[1:]
	}
	os.Exit(Main(args[1:], os.Stdout, os.Stderr))
}

// redoubtProcess is this test binary run as redoubt.
func redoubtProcess(t *testing.T, args ...string) (c *exec.Cmd, in io.WriteCloser, out io.ReadCloser, errs *strings.Builder) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c = exec.Command(exe, append([]string{"-test.run=^TestAsRedoubt$", "--"}, args...)...)
	c.Env = append(os.Environ(), "REDOUBT_TEST_AS=1")
	errs = new(strings.Builder)
	c.Stderr = errs
	if in, err = c.StdinPipe(); err == nil {
		out, err = c.StdoutPipe()
	}
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(20*time.Second, func() { c.Process.Kill() })
	t.Cleanup(func() { kill.Stop(); c.Process.Kill() })
	return c, in, out, errs
}

// redoubt subst ... | head -1 ends at once, without a word, by SIGPIPE, as
// other filters do.
func TestSubstBeforeHead(t *testing.T) {
	c, in, out, errs := redoubtProcess(t, "subst", "--replace", "s/a/b/g")
	io.WriteString(in, "banana\n")
	line, err := bufio.NewReader(out).ReadString('\n')
	if line != "bbnbnb\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	out.Close()
	for err = nil; err == nil; { // until it is gone
		_, err = io.WriteString(in, "banana\n")
	}
	exit, ok := errors.AsType[*exec.ExitError](c.Wait())
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || errs.String() != "" {
		t.Errorf("%v %q", exit, errs)
	}
}

// Ctrl-C while it waits for input.
func TestSubstCtrlC(t *testing.T) {
	c, in, out, errs := redoubtProcess(t, "subst", "--replace", "s/a/b/g", "--replace", "s/<.*>//")
	io.WriteString(in, "banana\n")
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "bbnbnb\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	io.WriteString(in, "ab<")
	first := make([]byte, 2)
	if _, err := io.ReadFull(lines, first); string(first) != "bb" || err != nil {
		t.Errorf("%q, %v", first, err)
	}
	c.Process.Signal(os.Interrupt)
	rest, err := io.ReadAll(lines)
	if string(rest) != "<" || err != nil {
		t.Errorf("%q, %v: what was held back is lost", rest, err)
	}
	exit, ok := errors.AsType[*exec.ExitError](c.Wait())
	if !ok || exit.ExitCode() != exitFailed || errs.String() != "redoubt subst: interrupted\n" {
		t.Errorf("%v %q", exit, errs)
	}
}
