package subst

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// tags is a set with rules that hold back, that use groups, that shrink and
// that grow.
func tags(t testing.TB) *Set {
	t.Helper()
	s, err := Compile([]Rule{
		{"<([^>]*)>", "[$1]", "g"}, {"a+", "", "g"}, {"b", strings.Repeat("B", 100), "g"}, {"$", "END", "g"},
	}, Options{Hold: 200})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tagged is a text for tags with what comes of it.
func tagged(times int) (text, want string) {
	text = strings.Repeat("xaaa<p>b<"+strings.Repeat("q", 300)+">cd", times)
	want = strings.Repeat("x[p]"+strings.Repeat("B", 100)+"<"+strings.Repeat("q", 300)+">cd", times)
	return text, want + "END"
}

func TestReader(t *testing.T) {
	s := tags(t)
	for _, times := range []int{0, 1, 3, 500} {
		text, want := tagged(times)
		for name, r := range map[string]io.Reader{
			"whole":          strings.NewReader(text),
			"byte by byte":   iotest.OneByteReader(strings.NewReader(text)),
			"by halves":      iotest.HalfReader(strings.NewReader(text)),
			"with its error": iotest.DataErrReader(strings.NewReader(text)),
		} {
			if err := iotest.TestReader(NewReader(r, s), []byte(want)); err != nil {
				t.Errorf("%d times, %s: %v", times, name, err)
			}
		}
	}
}

// What was read before an error comes out before it, also what was held back;
// the error stays.
func TestReaderError(t *testing.T) {
	broken := errors.New("broken")
	text, want := tagged(2)
	for name, r := range map[string]io.Reader{
		"after the bytes": io.MultiReader(strings.NewReader(text+"b<p"), iotest.ErrReader(broken)),
		"with the bytes":  &lastWords{text + "b<p", broken},
	} {
		in := NewReader(r, tags(t))
		got, err := io.ReadAll(in)
		if want := strings.TrimSuffix(want, "END") + strings.Repeat("B", 100) + "<pEND"; err != broken || string(got) != want {
			t.Errorf("%s: %v\n%q\nwant %q", name, err, got, want)
		}
		if n, err := in.Read(make([]byte, 9)); n != 0 || err != broken {
			t.Errorf("%s, again: %d, %v", name, n, err)
		}
	}
}

// lastWords gives text and error at once.
type lastWords struct {
	text string
	err  error
}

func (r *lastWords) Read(p []byte) (int, error) {
	n := copy(p, r.text)
	r.text = r.text[n:]
	if r.text == "" {
		return n, r.err
	}
	return n, nil
}

// A reader that gives nothing for ever is not asked for ever; one that gives
// nothing at times, and one whose bytes are all held back, are.
func TestReaderPatience(t *testing.T) {
	s := tags(t)
	if _, err := NewReader(idle{}, s).Read(make([]byte, 9)); err != io.ErrNoProgress {
		t.Errorf("for ever: %v", err)
	}
	text := "<" + strings.Repeat("q", 190) + ">"
	got, err := io.ReadAll(NewReader(&hesitant{text: text}, s))
	if want := "[" + text[1:len(text)-1] + "]"; err != nil || string(got) != want {
		t.Errorf("at times: %v, %q", err, got)
	}
	if n, err := NewReader(strings.NewReader("x"), s).Read(nil); n != 0 || err != nil {
		t.Errorf("into nothing: %d, %v", n, err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// hesitant gives a byte every fifth time.
type hesitant struct {
	text  string
	times int
}

func (r *hesitant) Read(p []byte) (int, error) {
	if r.times++; r.times%5 != 0 {
		return 0, nil
	}
	if r.text == "" {
		return 0, io.EOF
	}
	p[0], r.text = r.text[0], r.text[1:]
	return 1, nil
}

func TestWriter(t *testing.T) {
	s := tags(t)
	for _, times := range []int{0, 1, 3, 500} {
		text, want := tagged(times)
		for _, size := range []int{1, 7, 300, 1 << 20} {
			var out bytes.Buffer
			w := NewWriter(&out, s)
			for from := 0; from < len(text); from += size {
				piece := []byte(text[from:min(from+size, len(text))])
				if n, err := w.Write(piece); n != len(piece) || err != nil {
					t.Fatalf("%d of %d, %v", n, len(piece), err)
				}
				clear(piece) // it is ours again
			}
			if err := w.Close(); err != nil || out.String() != want {
				t.Errorf("%d times, pieces of %d: %v\n%q\nwant %q", times, size, err, out.String(), want)
			}
			if err := w.Close(); err != nil || out.Len() != len(want) {
				t.Errorf("closed again: %v, %d bytes more", err, out.Len()-len(want))
			}
			if _, err := w.Write([]byte("x")); err != ErrClosed {
				t.Errorf("written when closed: %v", err)
			}
			if got := w.Stats().Matches[0]; got != int64(times) {
				t.Errorf("%d matches of the first rule, want %d", got, times)
			}
		}
	}
}

// What is certain has been written when Write returns.
func TestWriterHoldsOnlyOpenMatches(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, tags(t))
	for _, step := range []struct {
		piece, out string
		held       int
	}{
		{"xyz", "xyz", 0}, {"<", "xyz", 1}, {"p", "xyz", 2}, {">z", "xyz[p]z", 0}, {"a", "xyz[p]z", 1}, {"z", "xyz[p]zz", 0},
	} {
		if _, err := io.WriteString(w, step.piece); err != nil || out.String() != step.out || w.Held() != step.held {
			t.Errorf("after %q: %v, %q, %d held; want %q, %d", step.piece, err, out.String(), w.Held(), step.out, step.held)
		}
	}
}

func TestWriterError(t *testing.T) {
	broken := errors.New("broken")
	text, _ := tagged(1000)
	for _, after := range []int{0, 1, 50_000} {
		w := NewWriter(&failing{left: after, err: broken}, tags(t))
		for range 3 {
			if n, err := io.WriteString(w, text); n != 0 || err != broken {
				t.Errorf("after %d bytes: Write returns %d, %v", after, n, err)
			}
		}
		if err := w.Close(); err != broken {
			t.Errorf("after %d bytes: Close returns %v", after, err)
		}
	}
	w := NewWriter(&failing{err: broken}, tags(t))
	if _, err := io.WriteString(w, "<p"); err != nil {
		t.Error(err) // all of it is held back
	}
	if err := w.Close(); err != broken {
		t.Errorf("Close returns %v", err)
	}
}

// failing takes so many bytes.
type failing struct {
	left int
	err  error
}

func (w *failing) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return w.left, w.err
	}
	w.left -= len(p)
	return len(p), nil
}
