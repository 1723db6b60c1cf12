package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"redoubt/proxy/subst"
)

// script is one case of a file in testdata/subst: a command and what comes of
// it.
type script struct {
	line    int
	args    []string
	rules   strings.Builder
	in, out string
	says    []string // on standard error
	code    int
}

// scripts reads a file: cases begin with "$ COMMAND", end with a blank line,
// and have "| LINE" of a file of rules, < "INPUT", > "OUTPUT", "2> WORDS" that
// are on standard error, and "exit CODE" in between. RULES and FILE in the
// command are the names of files with rules and input.
func scripts(t *testing.T, name string) (all []*script) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "subst", name))
	if err != nil {
		t.Fatal(err)
	}
	var s *script
	for i, line := range strings.Split(string(text), "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		if s == nil && line != "" && mark != "#" && mark != "$" {
			t.Fatalf("%s:%d: no command", name, i+1)
		}
		switch mark {
		case "":
			s = nil
		case "#", "//":
		case "$":
			s = &script{line: i + 1, args: words(rest)}
			all = append(all, s)
		case "|":
			s.rules.WriteString(rest + "\n")
		case "<":
			s.in, err = strconv.Unquote(rest)
		case ">":
			s.out, err = strconv.Unquote(rest)
		case "2>":
			s.says = append(s.says, strings.ReplaceAll(rest, "ESC", "\x1b"))
		case "exit":
			s.code, err = strconv.Atoi(rest)
		default:
			err = errors.New("unknown mark")
		}
		if err != nil {
			t.Fatalf("%s:%d: %v", name, i+1, err)
		}
	}
	return all
}

// words cuts a command line at blanks outside of '...'.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

func TestSubst(t *testing.T) {
	for _, file := range []string{"rules.txt", "refusals.txt"} {
		for _, s := range scripts(t, file) {
			t.Run(fmt.Sprintf("%s:%d", file, s.line), func(t *testing.T) {
				dir := t.TempDir()
				names := strings.NewReplacer("RULES", filepath.Join(dir, "rules.json"), "FILE", filepath.Join(dir, "text"))
				var args []string
				for _, arg := range s.args {
					args = append(args, names.Replace(arg))
				}
				for name, text := range map[string]string{"rules.json": s.rules.String(), "text": s.in} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				in, err := os.Open(filepath.Join(dir, "text"))
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				stdin := os.Stdin
				os.Stdin = in
				defer func() { os.Stdin = stdin }()
				code, out, errs := command(t, args...)
				if code != s.code || out != s.out {
					t.Errorf("%q: exit code %d, output %q; want %d, %q\n%s", args, code, out, s.code, s.out, errs)
				}
				for _, want := range s.says {
					if !strings.Contains(errs, want) {
						t.Errorf("%q says %q, which has no %q", args, errs, want)
					}
				}
				if len(s.says) == 0 && errs != "" {
					t.Errorf("%q says %q", args, errs)
				}
			})
		}
	}
}

func TestSubstRefusesFiles(t *testing.T) {
	for _, c := range []struct{ reason, text, says string }{
		{"bytes that are no UTF-8", "[\n \xff]", "rules.json:2:2: byte 0xff is no UTF-8"},
		{"lists without end", "[\"\\\"[[[[\", // [[[[\n/* [[ */" + strings.Repeat("[", 1_000_000), "rules.json:2:40: more than 32 lists"},
		{"a string, a comment without end", `["[`, "parsing string: unexpected EOF"},
		{"a comment without end", `/* [`, "rules.json:1:1"},
		{"a backslash at the end", `"\`, "unexpected EOF"},
		{"not a file of rules", strings.Repeat(" ", 16<<20) + "[]", "more than 16 MB"},
	} {
		name := filepath.Join(t.TempDir(), "rules.json")
		if err := os.WriteFile(name, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		code, out, errs := command(t, "subst", "--rules", name)
		if code != exitInput || out != "" || !strings.Contains(errs, c.says) {
			t.Errorf("%s: %d %q %.300q, want %q", c.reason, code, out, errs, c.says)
		}
	}
}

// editorOf makes b of a, and removes <...>.
func editorOf(t *testing.T, out io.Writer, pieces int) *editor {
	t.Helper()
	set, err := subst.Compile([]subst.Rule{{Find: "a", Put: "b", Flags: "g"}, {Find: "<[^>]*>", Put: "", Flags: "g"}}, subst.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newEditor(set, out, pieces)
}

// What is certain is written before more is waited for, and the interrupt ends
// a text that nobody ends.
func TestSubstStreams(t *testing.T) {
	in, feed := io.Pipe()
	out, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- editorOf(t, w, 0).edit(ctx, in)
		w.Close()
	}()
	buf := make([]byte, 100)
	for _, step := range [][2]string{{"xay", "xby"}, {"a<p", "b"}, {">a", "b"}, {"c<pq", "c"}} {
		io.WriteString(feed, step[0])
		n, err := out.Read(buf)
		if string(buf[:n]) != step[1] || err != nil {
			t.Fatalf("after %q: %q, %v, want %q", step[0], buf[:n], err, step[1])
		}
	}
	cancel()
	rest, err := io.ReadAll(out)
	if string(rest) != "<pq" || err != nil {
		t.Errorf("after the interrupt: %q, %v", rest, err)
	}
	select {
	case err := <-ended:
		if err != errInterrupted {
			t.Errorf("ends with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("does not end")
	}
	feed.Close()
}

// An interrupted run exits with 1, and still tells what it has done.
func TestSubstInterrupted(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // nobody ends the text
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin }()
	ctx, cancel := context.WithCancel(t.Context())
	var errs bytes.Buffer
	cancel()
	code := run(ctx, []string{"subst", "--stats", "--replace", "s/a/b/"}, io.Discard, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "replaced") || !strings.Contains(errs.String(), "redoubt subst: interrupted") {
		t.Errorf("%d %s", code, errs.String())
	}
}

// What was read before an error is written, also what was held back.
func TestSubstReadError(t *testing.T) {
	broken := errors.New("broken")
	for _, pieces := range []int{0, 2} {
		var out bytes.Buffer
		err := editorOf(t, &out, pieces).edit(t.Context(), io.MultiReader(strings.NewReader("xa<p"), iotest.ErrReader(broken)))
		if err != broken || out.String() != "xb<p" {
			t.Errorf("%v, %q", err, out.String())
		}
	}
	// The same through the command: a file that cannot be read.
	if _, err := os.Stat("/proc/self/mem"); err == nil {
		code, _, errs := command(t, "subst", "--replace", "s/a/b/", "/proc/self/mem")
		if code != exitFailed || !strings.Contains(errs, "read /proc/self/mem") {
			t.Errorf("%d %s", code, errs)
		}
	}
}

func TestSubstOutputThatFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(name, []byte(strings.Repeat("xay", 100_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	code := run(t.Context(), []string{"subst", "--replace", "s/a/b/g", name}, brokenWriter{}, &errs)
	if code != exitFailed || strings.Count(errs.String(), "cannot write the output") != 1 {
		t.Errorf("%d %s", code, errs.String())
	}
}

// Long texts, through the buffers many times, with any pieces.
func TestSubstPieces(t *testing.T) {
	text := strings.Repeat("xay<"+strings.Repeat("q", 1000)+">a", 500)
	want := strings.Repeat("xbyb", 500)
	for _, pieces := range []int{0, 1, 2, 1000, 1 << 20} {
		var out bytes.Buffer
		e := editorOf(t, &out, pieces)
		if err := e.edit(t.Context(), iotest.HalfReader(strings.NewReader(text))); err != nil || out.String() != want {
			t.Errorf("pieces of %d: %v, %d bytes, want %d", pieces, err, out.Len(), len(want))
		}
		if e.in != int64(len(text)) || e.to.n != int64(len(want)) {
			t.Errorf("pieces of %d: counted %d in, %d out", pieces, e.in, e.to.n)
		}
	}
}

func TestRuleText(t *testing.T) {
	for _, c := range []struct {
		rule subst.Rule
		want string
	}{
		{subst.Rule{Find: "a", Put: "b", Flags: "g"}, "s/a/b/g"},
		{subst.Rule{Find: "//a", Put: "b|"}, "s,//a,b|,"},
		{subst.Rule{Find: "/|,#!%@~", Put: ""}, "s//|,#!%@~//"}, // there is no delimiter left
		{subst.Rule{Find: "a\n\x1b", Put: "\u0085"}, "s/a␊␛/·/"},
		{subst.Rule{Find: strings.Repeat("é", 100), Put: ""}, "s/" + strings.Repeat("é", 59) + "…//"},
	} {
		if got := ruleText(c.rule); got != c.want {
			t.Errorf("%+v: %q, want %q", c.rule, got, c.want)
		}
	}
}

func TestSubstHelp(t *testing.T) {
	code, out, errs := command(t, "subst", "--help")
	for _, word := range []string{"Usage: redoubt subst", "tail -f", "rules.json", "--pieces", "Exits with 0"} {
		if code != exitFine || errs != "" || !strings.Contains(out, word) {
			t.Errorf("%d %q, help without %q:\n%s", code, errs, word, out)
		}
	}
}
