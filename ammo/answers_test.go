package ammo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAnswersReader(t *testing.T) {
	long := strings.Repeat("x", 200_000) // longer than the reader's buffer
	text := "GET\t/users/1\t200\t{\"a\": 1}\nPOST\t/users/new?query_id=1\t400\n\n\r\n" +
		"GET\t/x\t404\t\r\nHEAD\t/" + long + "\t200\t\"" + long + "\"\nGET\t/\t200\t[1,\t2]"
	want := []string{
		"1 GET /users/1 200 {\"a\": 1}", "2 POST /users/new?query_id=1 400 ", "5 GET /x 404 ",
		"6 HEAD /" + long + " 200 \"" + long + "\"", "7 GET / 200 [1,\t2]",
	}
	for name, in := range map[string]io.Reader{
		"whole": strings.NewReader(text), "half": iotest.HalfReader(strings.NewReader(text)),
	} {
		a := NewAnswersReader(in, "f", 0)
		for _, want := range want {
			got, err := a.Next()
			if line := fmt.Sprintf("%d %s %s %d %s", got.Number, got.Method, got.Target, got.Status, got.Body); err != nil || line != want {
				t.Errorf("%s: got %.80s, %v, want %.80s", name, line, err, want)
			}
		}
		for range 2 {
			if _, err := a.Next(); err != io.EOF {
				t.Errorf("%s: got %v, want io.EOF for good", name, err)
			}
		}
	}
}

func TestAnswersErrors(t *testing.T) {
	f := func(text string, line int, offset int64, want string) {
		t.Helper()
		a := NewAnswersReader(strings.NewReader("GET\t/\t200\n"+text), "x.answ", 1000)
		a.Next()
		_, err := a.Next()
		var bad *SyntaxError
		if !errors.As(err, &bad) || bad.Record != line || bad.Offset != offset || !strings.Contains(bad.Error(), want) {
			t.Errorf("%.30q: got %v, want line %d, byte %d, %q", text, err, line, offset, want)
		}
	}
	f("GET /x 200\n", 2, 10, "separated by tabs")
	f("\nGET\t/x\n", 3, 11, "separated by tabs")
	f("\t/x\t200\n", 2, 10, "separated by tabs")
	f("GET\t/x\tOK\n", 2, 10, "status from 100")
	f("GET\t/x\t99\n", 2, 10, "status from 100")
	f("GET\t/x\t600\n", 2, 10, "status from 100")
	f("GET\t/x\t-1\n", 2, 10, "status from 100")
	f("GET\t/x\t200\t{\n", 2, 10, "well-formed JSON")
	f("GET\t/x\t200\t{} {}\n", 2, 10, "well-formed JSON")
	f(strings.Repeat("x", 1001), 2, 10, "at most 1000")
}

func TestAnswersWriterRefuses(t *testing.T) {
	w := NewAnswersWriter(io.Discard)
	f := func(method, target string, status int, body string) {
		t.Helper()
		if w.Write(method, target, status, []byte(body)) == nil {
			t.Errorf("%q %q %d %q was taken", method, target, status, body)
		}
	}
	f("", "/", 200, "")
	f("GET", "", 200, "")
	f("GET", "/\t", 200, "")
	f("G\nT", "/", 200, "")
	f("GET", "/", 99, "")
	f("GET", "/", 200, "{\n}")
}

// FuzzAnswers reads anything; what comes out must survive being written and
// read again.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{"", "GET\t/\t200\t{}\n", "POST\t/x\t400\n\nGET\t/\t404", "GET\t/\t200\t1\t\n", "a\tb\tc", "\t\t\t"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var first []Answer
		var out bytes.Buffer
		w := NewAnswersWriter(&out)
		a := NewAnswersReader(bytes.NewReader(file), "f", 1<<20)
		for {
			answer, err := a.Next()
			if err != nil {
				break
			}
			if bytes.ContainsRune(answer.Method, '\r') || bytes.ContainsRune(answer.Target, '\r') || bytes.ContainsRune(answer.Body, '\r') {
				return // read, but not written
			}
			first = append(first, answer.Clone())
			if err := w.Write(string(answer.Method), string(answer.Target), answer.Status, answer.Body); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		again := NewAnswersReader(&out, "f", 0)
		for _, want := range first {
			got, err := again.Next()
			if err != nil || got.Status != want.Status || !bytes.Equal(got.Target, want.Target) || !bytes.Equal(got.Body, want.Body) {
				t.Fatalf("%v became %v, %v", want, got, err)
			}
		}
	})
}
