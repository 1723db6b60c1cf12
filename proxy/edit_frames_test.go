//go:build linux

package proxy

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A zstd body may have several frames, and a later one a larger window than the first.
func TestFramesOfZstd(t *testing.T) {
	frame := func(window int, text string) string {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
		w.Flush() // so that the frame does not know its length, and tells its window
		w.Close()
		return b.String()
	}
	r := newRewriter(t, nil)
	for _, window := range []int{1 << 10, 1 << 22, 1 << 23} {
		m, _ := r.exchange(field(takesAll), page("Content-Encoding: zstd", frame(1<<10, "a cat ")+frame(window, strings.Repeat("and a cat ", 1000))))
		want := "a doggy " + strings.Repeat("and a doggy ", 1000)
		if got, err := decoded(&m); err != nil || got != want {
			t.Errorf("a window of %d: %d bytes (%v), want %d", window, len(got), err, len(want))
		}
	}
}
