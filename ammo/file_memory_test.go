package ammo

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// A file of over 200 MB is read with buffers of a few hundred KB. None of them is
// stored: plain text comes through a pipe, and a gzip of many members is small.
// What is measured is everything ever allocated, so that garbage counts too.
func TestFileMemory(t *testing.T) {
	const chunks, most = 208, 2 << 20
	var chunk bytes.Buffer // 1 MB
	records := 0
	for ; chunk.Len() < 1<<20; records++ {
		fmt.Fprintf(&chunk, "%d tag:%d\n%s\n", 200+records%1000, records%7, strings.Repeat("x", 200+records%1000))
	}
	member := zip(t, gzip.BestSpeed, chunk.String())
	f := func(what string, file *File) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 0
		var err error
		for ; err == nil; n++ {
			_, err = file.Next()
		}
		runtime.ReadMemStats(&after)
		if n--; err != io.EOF || n != chunks*records {
			t.Errorf("%s: %d records of %d, %v", what, n, chunks*records, err)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d records, %d KB allocated", what, n, allocated>>10)
		if allocated > most {
			t.Errorf("%s: %d bytes were allocated, want at most %d", what, allocated, most)
		}
	}
	f("plain", fifo(t, func(w io.Writer) {
		for range chunks {
			w.Write(chunk.Bytes())
		}
	}, false))
	f("gzip", open(t, strings.Repeat(member, chunks)))
}

// The passes of a small file, which a gun makes by the thousand, cost nothing
// but system calls once buffers are warm.
func TestFileReuse(t *testing.T) {
	text := strings.Repeat("3 tag\nabc", 100)
	for name, stored := range map[string]string{"plain": text, "gzip": zip(t, 6, text[:450], text[450:])} {
		f := open(t, stored)
		allocs := testing.AllocsPerRun(20, func() {
			for n := 0; ; n++ {
				if _, err := f.Next(); err != nil {
					if n != 100 || f.Rewind() != nil {
						t.Fatalf("%s: %d records, %v", name, n, err)
					}
					return
				}
			}
		})
		if allocs > 0 {
			t.Errorf("%s: a pass allocates %v times", name, allocs)
		}
	}
}
