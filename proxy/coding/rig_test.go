package coding

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"redoubt/proxy/subst"
)

var all = []Coding{Identity, Gzip, Deflate, Brotli, Zstd}

// encode codes a text as others do.
func encode(t testing.TB, c Coding, text string) string {
	var b bytes.Buffer
	w := encoderOf(c, &b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func encoderOf(c Coding, b io.Writer) encoder {
	switch c {
	case Gzip:
		return gzip.NewWriter(b)
	case Deflate:
		return zlib.NewWriter(b)
	case Brotli:
		return brotli.NewWriter(b)
	case Zstd:
		w, err := zstd.NewWriter(b, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return w
	}
	return &plain{b}
}

// decode decodes a text as others do.
func decode(c Coding, coded string) (string, error) {
	var r io.Reader = strings.NewReader(coded)
	var err error
	switch c {
	case Gzip:
		r, err = gzip.NewReader(r)
	case Deflate:
		r, err = zlib.NewReader(r)
	case Brotli:
		r = brotli.NewReader(r)
	case Zstd:
		r, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	}
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(r, 256<<20))
	return string(text), err
}

// owner is the owner of a body, which writes pieces and collects what comes out.
type owner struct {
	t            testing.TB
	body         *Body
	woken        chan struct{}
	wakes, takes atomic.Int32
	out          bytes.Buffer
	done         bool
	err          error
}

func own(t testing.TB, p *Pool, j Job) *owner {
	o := &owner{t: t, woken: make(chan struct{}, 1)}
	o.body = p.Start(j, func() {
		if wakes, takes := o.wakes.Add(1), o.takes.Load(); wakes > takes+1 {
			t.Errorf("woken %d times, and has come %d times", wakes, takes)
		}
		select {
		case o.woken <- struct{}{}:
		default:
		}
	})
	return o
}

// write writes all of a body, in pieces, and ends it.
func (o *owner) write(coded string, piece int) {
	o.t.Helper()
	for rest := coded; rest != ""; {
		n := min(piece, len(rest))
		o.body.Write([]byte(rest[:n]))
		rest = rest[n:]
		for o.body.Full() {
			o.turn()
		}
	}
	o.body.End()
}

// drained waits until the worker has begun with all of the input.
func (o *owner) drained() {
	o.t.Helper()
	eventually(o.t, func() bool {
		o.body.mu.Lock()
		defer o.body.mu.Unlock()
		return len(o.body.in) == 0
	})
}

// turn waits until it is woken, and takes what there is.
func (o *owner) turn() {
	o.t.Helper()
	select {
	case <-o.woken:
	case <-time.After(10 * time.Second):
		o.t.Fatalf("nobody wakes the owner; %d bytes are there", o.out.Len())
	}
	o.take()
}

func (o *owner) take() {
	o.takes.Add(1)
	var parts [][]byte
	parts, o.done, o.err = o.body.Take(nil)
	for _, p := range parts {
		o.out.Write(p)
	}
}

// finish waits for the end.
func (o *owner) finish() (string, error) {
	o.t.Helper()
	for !o.done {
		o.turn()
	}
	o.body.Stop()
	return o.out.String(), o.err
}

func eventually(t testing.TB, f func() bool) {
	t.Helper()
	for i := range 20_000 {
		if f() {
			return
		}
		if runtime.Gosched(); i > 1000 {
			time.Sleep(time.Millisecond)
		}
	}
	t.Fatal("it never comes")
}

func rules(t testing.TB) func() *subst.Stream {
	set, err := subst.Compile([]subst.Rule{{Find: "a+b", Put: "<$&>", Flags: "g"}, {Find: "zzz", Put: "", Flags: "g"}}, subst.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set.NewStream
}

func replaced(text string) string {
	s, _ := subst.Compile([]subst.Rule{{Find: "a+b", Put: "<$&>", Flags: "g"}, {Find: "zzz", Put: "", Flags: "g"}}, subst.Options{})
	st := s.NewStream()
	return string(st.Finish(st.Feed(nil, []byte(text))))
}

func texts() []string {
	r := rand.New(rand.NewPCG(1, 2))
	random := make([]byte, 100_000)
	for i := range random {
		random[i] = "abz\n\xff"[r.IntN(5)]
	}
	return []string{"", "a", "aab", strings.Repeat("hello zzz aab ", 5000), string(random)}
}

// partly decodes what there is.
func partly(c Coding, coded []byte) string {
	var r io.Reader = bytes.NewReader(coded)
	switch c {
	case Gzip:
		z, err := gzip.NewReader(r)
		if err != nil {
			return ""
		}
		r = z
	case Deflate:
		z, err := zlib.NewReader(r)
		if err != nil {
			return ""
		}
		r = z
	case Brotli:
		r = brotli.NewReader(r)
	case Zstd:
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return ""
		}
		r = z
	}
	text, _ := io.ReadAll(r)
	return string(text)
}
