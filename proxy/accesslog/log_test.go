package accesslog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("waiting in vain until %s", what)
		}
	}
}

// numbered is an entry that can be told from others.
func numbered(sink, n int) *Entry {
	e := usual()
	e.RequestID = fmt.Appendf(nil, "%d-%d", sink, n)
	return e
}

// ids reads the ids of JSON lines, all of which must be whole.
func ids(t *testing.T, text []byte) (found []string) {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	if text[len(text)-1] != '\n' {
		t.Fatalf("ends in half a line: %q", text[max(0, len(text)-100):])
	}
	for one := range bytes.Lines(text) {
		var e struct{ ID string }
		if err := json.Unmarshal(one, &e); err != nil {
			t.Fatalf("%v in %q", err, one)
		}
		found = append(found, e.ID)
	}
	return found
}

// fake is a file that fails and blocks as told.
type fake struct {
	mu    sync.Mutex
	text  []byte
	room  int // bytes until it is full; negative: no end
	block chan struct{}
}

var errFull = errors.New("disk full")

func (f *fake) Write(p []byte) (n int, err error) {
	if f.block != nil {
		<-f.block
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n = len(p)
	if f.room >= 0 {
		n = min(n, f.room)
		f.room -= n
	}
	f.text = append(f.text, p[:n]...)
	if n < len(p) {
		err = errFull
	}
	return n, err
}

func (f *fake) Close() error { return nil }

func (f *fake) content() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Clone(f.text)
}

func (f *fake) grow(room int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.room = room
}

// openFake returns a log on files, one after the other at each Reopen.
func openFake(t *testing.T, o Options, files ...*fake) *Log {
	t.Helper()
	l, err := newLog(o, func() (io.WriteCloser, error) {
		if len(files) == 0 {
			return nil, errors.New("no file")
		}
		f := files[0]
		files = files[1:]
		return f, nil
	}, 2*time.Millisecond, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Several sinks write, and none of their lines is lost or out of its order; a
// Flush is enough to see them, and a log appends to what there is.
func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.log")
	const sinks, lines = 4, 3000
	for round := range 2 {
		l, err := Open(Options{File: file, Buffer: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var done sync.WaitGroup
		for k := range sinks {
			s := l.NewSink()
			done.Go(func() {
				for n := range lines {
					s.Put(numbered(k, n))
				}
				if round == 0 {
					s.Flush()
				}
			})
		}
		done.Wait()
		if round == 0 {
			until(t, "all lines are written", func() bool { return l.Stats().Written == sinks*lines })
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("a second Close: %v", err)
		}
		if got := l.Stats(); got != (Stats{Written: sinks * lines}) {
			t.Errorf("%+v", got)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		next := make([]int, sinks)
		found := ids(t, text)
		for i, id := range found {
			var k, n int
			fmt.Sscanf(id, "%d-%d", &k, &n)
			if n != next[k]%lines {
				t.Fatalf("line %d is %s, want %d-%d", i, id, k, next[k])
			}
			next[k]++
		}
		if len(found) != (round+1)*sinks*lines {
			t.Errorf("%d lines", len(found))
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o007 != 0 {
		t.Errorf("%v, %v: clients' addresses are for all to read", info.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, o := range []Options{{}, {File: dir}, {File: filepath.Join(dir, "no", "file")}, {File: filepath.Join(dir, "f"), Format: "xml"}} {
		if l, err := Open(o); err == nil || !strings.HasPrefix(err.Error(), "access log: ") {
			t.Errorf("%+v: %v, %v", o, l, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "f")); err == nil {
		t.Error("a file was made for a format that is none")
	}
	l, err := Open(Options{File: "-"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Reopen(), l.Close()); err != nil {
		t.Error(err)
	}
}

// A file is moved away again and again while lines come: each is in one of the
// files, once and whole.
func TestReopenUnderLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "access.log")
	l, err := Open(Options{File: file, Buffer: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	const sinks, moves = 3, 20
	var end atomic.Bool
	var done sync.WaitGroup
	counts := make([]int, sinks)
	for k := range sinks {
		s := l.NewSink()
		done.Go(func() {
			for !end.Load() {
				s.Put(numbered(k, counts[k]))
				if counts[k]++; counts[k]%50 == 0 {
					s.Flush()
					for len(l.full) > 4 { // so that nothing has to be dropped
						time.Sleep(100 * time.Microsecond)
					}
				}
			}
		})
	}
	for i := range moves {
		written := l.Stats().Written
		until(t, "lines are written", func() bool { return l.Stats().Written > written+500 })
		if err := os.Rename(file, fmt.Sprintf("%s.%d", file, i)); err != nil {
			t.Fatal(err)
		}
		if err := l.Reopen(); err != nil {
			t.Fatal(err)
		}
	}
	end.Store(true)
	done.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	files, _ := filepath.Glob(file + "*")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found := ids(t, text)
		if len(found) == 0 && f != file {
			t.Errorf("%s is empty", f)
		}
		for _, id := range found {
			seen[id]++
		}
	}
	all := 0
	for k, n := range counts {
		all += n
		for i := range n {
			if id := fmt.Sprintf("%d-%d", k, i); seen[id] != 1 {
				t.Fatalf("%s is there %d times, of %d", id, seen[id], n)
			}
		}
	}
	if s := l.Stats(); len(seen) != all || s != (Stats{Written: uint64(all)}) || len(files) != moves+1 {
		t.Errorf("%d lines in %d files, %d put, %+v", len(seen), len(files), all, s)
	}
}

// A file that takes nothing for a while: Put goes on, memory stays as it is,
// what does not fit is dropped and counted, all else comes in the end.
func TestSlowFile(t *testing.T) {
	f := &fake{room: -1, block: make(chan struct{})}
	const buffers = 3
	l := openFake(t, Options{Buffer: buffers * bufferSize}, f)
	s, idle := l.NewSink(), l.NewSink()
	const n = 5000 // 1.5 MB
	for i := range n {
		s.Put(numbered(0, i))
	}
	idle.Flush()
	dropped := l.Stats().Dropped
	if made := l.made.Load(); dropped == 0 || made != buffers+2 {
		t.Errorf("%d dropped, %d buffers", dropped, made)
	}
	idle.Put(numbered(1, 0))
	if l.Stats().Dropped != dropped+1 {
		t.Error("there was room")
	}
	close(f.block)
	until(t, "all lines are written", func() bool { return l.Stats().Written == n-dropped })
	s.Put(numbered(0, n))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	found := ids(t, f.content())
	if s := l.Stats(); s != (Stats{Written: n - dropped + 1, Dropped: dropped + 1}) || uint64(len(found)) != s.Written || found[len(found)-1] != "0-5000" || found[0] != "0-0" {
		t.Errorf("%+v, %d lines", s, len(found))
	}
}

// A full disk is told of once; when there is room again the log goes on where
// it was, in the middle of a line, and the next time is told of anew.
func TestFullDisk(t *testing.T) {
	f := &fake{room: 1000}
	var told atomic.Int32
	l := openFake(t, Options{OnError: func(err error) {
		if !errors.Is(err, errFull) {
			t.Error(err)
		}
		told.Add(1)
	}}, f)
	s := l.NewSink()
	for round := range 2 {
		for i := range 10 {
			s.Put(numbered(round, i))
		}
		s.Flush()
		errs := l.Stats().Errors
		until(t, "writing has failed some times", func() bool { return l.Stats().Errors > errs+3 })
		if n := told.Load(); n != int32(round+1) {
			t.Errorf("told %d times", n)
		}
		f.grow(10) // a step further, and full again
		until(t, "writing has failed once more", func() bool { return l.Stats().Errors > errs+5 })
		f.grow(1 << 20)
		until(t, "all is written", func() bool { return l.Stats().Written == uint64(10*(round+1)) })
		f.grow(1000)
	}
	f.grow(500)
	for i := range 10 {
		s.Put(numbered(2, i))
	}
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "lines could not be written") {
		t.Errorf("Close: %v", err)
	}
	text := f.content()
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	if st, found := l.Stats(), ids(t, whole); st.Written != uint64(len(found)) || st.Written+st.Dropped != 30 || st.Dropped < 8 {
		t.Errorf("%+v, %d lines", st, len(found))
	}
}

// Where a line is torn, and another file is opened, the line is whole there.
func TestReopenWhenFull(t *testing.T) {
	full, next := &fake{room: 1000}, &fake{room: -1}
	l := openFake(t, Options{}, full, next)
	l.retry = time.Hour // Reopen has to wake it
	s := l.NewSink()
	for i := range 20 {
		s.Put(numbered(0, i))
	}
	s.Flush()
	until(t, "the disk is full", func() bool { return l.Stats().Errors == 1 })
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	until(t, "all is written", func() bool { return l.Stats().Written == 20 })
	if err := l.Reopen(); err == nil {
		t.Error("there was another file")
	}
	s.Put(numbered(0, 20)) // the old one is still good
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text := full.content()
	before := ids(t, text[:bytes.LastIndexByte(text, '\n')+1])
	after := ids(t, next.content())
	if all := append(before, after...); len(all) != 21 || len(before) == 0 || len(after) == 0 {
		t.Errorf("%q", all)
	} else {
		for i, id := range all {
			if id != fmt.Sprintf("0-%d", i) {
				t.Errorf("%q", all)
				break
			}
		}
	}
}

// A real file has the torn line cut off when it is left.
func TestCutTail(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	io.WriteString(f, "whole\nhal")
	cutTail(f, 3)
	if text, err := os.ReadFile(name); string(text) != "whole\n" {
		t.Errorf("%q, %v", text, err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cutTail(w, 1)
	w.Close()
}

// Close gives up on a file that hangs.
func TestCloseOfHangingFile(t *testing.T) {
	f := &fake{room: -1, block: make(chan struct{})}
	l := openFake(t, Options{}, f)
	l.patient = 20 * time.Millisecond
	l.NewSink().Put(usual())
	if err := l.Close(); err == nil {
		t.Error("no error")
	}
	close(f.block)
	<-l.ended
}

func TestAllocations(t *testing.T) {
	for _, format := range []string{"json", "combined"} {
		l := openFake(t, Options{Format: format}, &fake{})
		l.file = null{} // before the first line
		s, e := l.NewSink(), usual()
		e.UserAgent = []byte("é\xff\"")
		put := func() {
			for range 100 {
				e.Time += 1e8
				s.Put(e)
			}
			s.Flush()
			for len(l.free) == 0 { // or another buffer would be made
			}
		}
		put()
		if n := testing.AllocsPerRun(50, put); n != 0 {
			t.Errorf("%s: %v allocations in 100 lines", format, n)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
