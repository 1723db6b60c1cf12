package phout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// pieces keeps what was written, a write at a time.
type pieces [][]byte

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, bytes.Clone(b))
	return len(b), nil
}

// TestWriter shares a writer between goroutines: every row comes out once, in
// large pieces of whole lines, and the rows of a call stay together.
func TestWriter(t *testing.T) {
	const hands, calls, batch = 8, 100, 37
	var out pieces
	w := NewWriter(&out, true)
	var all sync.WaitGroup
	for hand := range hands {
		all.Go(func() {
			rows := make([]Row, batch)
			for call := range calls {
				for i := range rows { // the slice is the caller's again
					rows[i] = Row{Tag: fmt.Sprintf("%d/%d", hand, call), Number: int64(i), Latency: time.Duration(call) * time.Millisecond}
				}
				if err := w.Write(rows); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for range 2 { // the second has nothing to write
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range out {
		if p[len(p)-1] != '\n' || i < len(out)-1 && len(p) < piece || len(p) > piece+1<<10 {
			t.Errorf("piece %d of %d has %d bytes and ends in %q", i, len(out), len(p), p[len(p)-1])
		}
	}
	if len(out) < 4 {
		t.Errorf("only %d pieces", len(out))
	}
	r := NewReader(bytes.NewReader(bytes.Join(out, nil)), "f")
	r.Numbered = true
	seen := map[string]bool{}
	for range hands * calls {
		for i := range batch {
			row, err := r.Next()
			if err != nil || row.Number != int64(i) || seen[row.Tag] {
				t.Fatalf("%+v, want number %d, %v", row, i, err)
			}
			if i == batch-1 {
				seen[row.Tag] = true
			}
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}

// limited takes so many writes, then fails, or takes only a part.
type limited struct {
	left  int
	short bool
	calls int
}

var errFull = errors.New("no space left")

func (l *limited) Write(b []byte) (int, error) {
	l.calls++
	if l.left--; l.left >= 0 {
		return len(b), nil
	}
	if l.short {
		return len(b) / 2, nil
	}
	return 0, errFull
}

func TestWriterErrors(t *testing.T) {
	for _, short := range []bool{false, true} {
		out := &limited{left: 1, short: short}
		want := errFull
		if short {
			want = io.ErrShortWrite
		}
		w := NewWriter(out, false)
		row := []Row{{Tag: strings.Repeat("t", piece)}}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
		// A broken file is not written on, as if nothing were missing.
		for range 3 {
			if err := w.Write(row); !errors.Is(err, want) {
				t.Errorf("Write: %v, want %v", err, want)
			}
		}
		if err := w.Flush(); !errors.Is(err, want) {
			t.Errorf("Flush: %v, want %v", err, want)
		}
		if out.calls != 2 {
			t.Errorf("%d writes, want 2", out.calls)
		}
	}
	// An error that only Flush can tell.
	w := NewWriter(&limited{}, false)
	if err := w.Write(make([]Row, 3)); err != nil {
		t.Error(err)
	}
	if err := w.Flush(); !errors.Is(err, errFull) {
		t.Errorf("Flush: %v", err)
	}
}

func TestWriterAllocatesNothing(t *testing.T) {
	w := NewWriter(io.Discard, true)
	rows := make([]Row, 1000)
	for i := range rows {
		rows[i] = Row{Sent: begin, Tag: "users", Number: int64(i), Latency: time.Millisecond, Status: 200}
	}
	if n := testing.AllocsPerRun(100, func() {
		if err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a thousand rows", n)
	}
}
