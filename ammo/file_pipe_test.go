package ammo

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fifo is a named pipe into which feed writes; keepOpen leaves its end open.
func fifo(t *testing.T, feed func(w io.Writer), keepOpen bool) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	writers := make(chan *os.File, 1)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
		} else {
			feed(w)
			if !keepOpen {
				w.Close()
			}
		}
		writers <- w
	}()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close() // ends a feed that is still writing
		if w := <-writers; w != nil {
			w.Close()
		}
	})
	return f
}

func TestFileFIFO(t *testing.T) {
	text, want := randomText(4, 300)
	for name, stored := range map[string]string{"plain": text, "gzip": zip(t, 6, text), "empty": ""} {
		f := fifo(t, func(w io.Writer) { io.WriteString(w, stored) }, false)
		got, err := pass(f.Next)
		if stored != "" {
			same(t, name, got, want)
		}
		if err != io.EOF || f.Progress() != 0 {
			t.Errorf("%s: %v, progress %v", name, err, f.Progress())
		}
		if err := f.Rewind(); err == nil || !strings.Contains(err.Error(), f.Name()+" cannot be read a second time: a pipe") {
			t.Errorf("%s: Rewind: %v", name, err)
		}
		if _, err := f.Next(); err != io.EOF {
			t.Errorf("%s: after a Rewind that failed: %v", name, err)
		}
	}
}

func TestFileCloseWhileWaiting(t *testing.T) {
	f := fifo(t, func(w io.Writer) { io.WriteString(w, "1 a\nx") }, true)
	if _, err := f.Next(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() { f.Close() })
	if _, err := f.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestFileStandardInput(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	io.WriteString(w, zip(t, gzip.BestSpeed, "1 a\nx"))
	w.Close()
	os.Stdin = r
	f, err := Open("-")
	if err != nil {
		t.Fatal(err)
	}
	got, err := pass(f.Next)
	same(t, "a pipe", got, []string{`1 0 a "x"`})
	if err != io.EOF || f.Rewind() == nil || f.Name() != "standard input" {
		t.Errorf("%v, %s", err, f.Name())
	}

	// A file, of whose beginning a shell has taken a line.
	path := filepath.Join(t.TempDir(), "a.ammo")
	write(t, path, "a line\n1 a\nx")
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.Seek(7, io.SeekStart)
	os.Stdin = file
	if f, err = Open("-"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, _ := pass(f.Next)
		same(t, "a file", got, []string{`1 0 a "x"`})
		if f.Progress() != 1 {
			t.Errorf("progress %v", f.Progress())
		}
		if err := f.Rewind(); err != nil {
			t.Error(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Errorf("standard input was closed: %v", err)
	}
}
