package coding

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func TestInspect(t *testing.T) {
	f := func(c Coding, first string, window int64, want Verdict) {
		t.Helper()
		if w, v := Inspect(c, []byte(first)); w != window || v != want {
			t.Errorf("%v %q: %d %d, want %d %d", c, first, w, v, window, want)
		}
	}
	for _, c := range all {
		f(c, "", 0, NeedMore)
	}
	f(Gzip, "\x1f", 0, NeedMore)
	f(Gzip, "\x1f\x8b", 0, NeedMore)
	f(Gzip, "\x1f\x8b\x08", 32<<10, Fine)
	f(Gzip, "\x1f\x8b\x07", 0, Wrong)
	f(Gzip, "<", 0, Wrong)
	f(Gzip, "\x1f<", 0, Wrong)
	f(Zstd, "\x28\xb5\x2f", 0, NeedMore)
	f(Zstd, "\x28\xb5\x2e", 0, Wrong)
	f(Zstd, "\x28\xb5\x2f\xfd", 0, NeedMore)
	f(Zstd, "\x28\xb5\x2f\xfd\x00\x00", 1<<10, Fine)  // the smallest window
	f(Zstd, "\x28\xb5\x2f\xfd\x00\x68", 8<<20, Fine)  // 2^(10+13)
	f(Zstd, "\x28\xb5\x2f\xfd\x00\x6f", 15<<20, Fine) // ... and seven eighths
	f(Zstd, "\x28\xb5\x2f\xfd\x20\x05", 5, Fine)      // a single segment
	f(Zstd, "\x5a\x2a\x4d", 0, NeedMore)
	f(Zstd, "\x5a\x2a\x4d\x18", 0, Fine)
	f(Zstd, "\x6a\x2a\x4d\x18", 0, Wrong)
	f(Brotli, "\x11", 1<<30, Fine) // large windows
	f(Deflate, "\x78", 32<<10, Fine)
	f(Deflate, "\x4b", 32<<10, Fine) // without zlib
	f(Deflate, "\x06", 0, Wrong)     // a kind of block that there is not
	f(Identity, "x", 0, Fine)

	for bits := 10; bits <= 24; bits++ {
		var b bytes.Buffer
		w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: 5, LGWin: bits})
		io.WriteString(w, "hello")
		w.Close()
		if window, v := Inspect(Brotli, b.Bytes()[:1]); v != Fine || window != 1<<bits-16 {
			t.Errorf("br with %d bits: %d, %d", bits, window, v)
		}
	}
	for bits := 10; bits <= 29; bits++ {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithWindowSize(1<<bits), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "hello")
		w.Flush()
		io.WriteString(w, "hello")
		w.Close()
		for n := 4; n < 18; n++ {
			if window, v := Inspect(Zstd, b.Bytes()[:n]); v == Wrong || v == Fine && window != 1<<bits {
				t.Errorf("zstd with %d bits, %d bytes: %d, %d", bits, n, window, v)
			}
		}
	}
}

// zstdOf is a text in a frame that says it needs a window.
func zstdOf(t testing.TB, window int, text string) string {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	w.Flush()
	w.Close()
	return b.String()
}

// A window that turns out to be larger than is allowed ends the body.
func TestWindow(t *testing.T) {
	zst := func(bits int) string { return zstdOf(t, 1<<bits, "hello ") }
	br := func(bits int) string {
		var b bytes.Buffer
		w := brotli.NewWriterOptions(&b, brotli.WriterOptions{LGWin: bits})
		io.WriteString(w, "hello ")
		w.Close()
		return b.String()
	}
	one := strings.Repeat("x", 1<<20)
	single, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(Options{Window: 1 << 20})
	defer p.Close()
	for _, c := range []struct {
		from       Coding
		body, want string
		err        error
	}{
		{Zstd, zst(20), "hello ", nil},
		{Zstd, zst(20) + zst(18), "hello hello ", nil},
		{Zstd, zst(20) + zst(21), "hello ", ErrWindow},
		{Zstd, zst(23), "", ErrWindow},
		{Zstd, string(single.EncodeAll([]byte(one), nil)), one, nil},
		{Zstd, string(single.EncodeAll([]byte(one+"x"), nil)), "", ErrWindow},
		{Brotli, br(20), "hello ", nil},
		{Brotli, br(21), "", ErrWindow},
		{Brotli, "\x11\x3f\x00\x00\x00", "", ErrWindow},
	} {
		o := own(t, p, Job{From: c.from, To: Identity})
		o.body.Write([]byte(c.body))
		o.body.End()
		if got, err := o.finish(); got != c.want || err != c.err {
			t.Errorf("%v %.20q: %.20q %v, want %.20q %v", c.from, c.body, got, err, c.want, c.err)
		}
	}
	if w, v := Inspect(Zstd, single.EncodeAll([]byte(one), nil)); w != 1<<20 || v != Fine {
		t.Errorf("a single segment: %d %v", w, v)
	}
}
