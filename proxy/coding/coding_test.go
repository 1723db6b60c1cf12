package coding

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
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
	return plain{b}
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
	t     testing.TB
	body  *Body
	woken chan struct{}
	out   bytes.Buffer
	done  bool
	err   error
}

func own(t testing.TB, p *Pool, j Job) *owner {
	o := &owner{t: t, woken: make(chan struct{}, 1)}
	o.body = p.Start(j, func() {
		select {
		case o.woken <- struct{}{}:
		default:
		}
	})
	return o
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
	var parts [][]byte
	parts, o.done, o.err = o.body.Take(nil)
	for _, p := range parts {
		o.out.Write(p)
	}
}

func (o *owner) finish() (string, error) {
	o.t.Helper()
	for !o.done {
		o.turn()
	}
	o.take() // what came with the end
	o.body.Stop()
	return o.out.String(), o.err
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

func TestRoundTrips(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, from := range all {
		for _, to := range all {
			for i, text := range texts() {
				for _, piece := range []int{1 << 20, 1000, 1} {
					if instrumented && piece == 1000 {
						continue
					}
					if piece == 1 && len(text) > 1000 {
						continue
					}
					for _, stream := range []func() *subst.Stream{nil, rules(t)} {
						o := own(t, p, Job{From: from, To: to, Stream: stream})
						for rest := encode(t, from, text); rest != ""; {
							n := min(piece, len(rest))
							o.body.Write([]byte(rest[:n]))
							rest = rest[n:]
							for o.body.Full() {
								o.turn()
							}
						}
						o.body.End()
						coded, err := o.finish()
						got, bad := decode(to, coded)
						want := text
						if stream != nil {
							want = replaced(text)
						}
						if err != nil || bad != nil || got != want {
							t.Fatalf("%v to %v, text %d in pieces of %d: %v, %v: %d bytes, want %d", from, to, i, piece, err, bad, len(got), len(want))
						}
					}
				}
			}
		}
	}
}

// What a server has flushed comes out before more goes in.
func TestFlushes(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, from := range all {
		for _, to := range all {
			t.Run(fmt.Sprint(from, " to ", to), func(t *testing.T) {
				o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
				var b bytes.Buffer
				w := encoderOf(from, &b)
				text := ""
				for i := range 5 {
					event := fmt.Sprintf("data: %d aab\n\n", i)
					text += replaced(event)
					io.WriteString(w, event)
					w.Flush()
					o.body.Write(b.Bytes())
					b.Reset()
					for !strings.HasPrefix(partly(to, o.out.Bytes()), text) {
						o.turn()
					}
				}
				w.Close()
				o.body.Write(b.Bytes())
				o.body.End()
				coded, err := o.finish()
				if got, bad := decode(to, coded); err != nil || bad != nil || got != text {
					t.Errorf("%v %v %q, want %q", err, bad, got, text)
				}
			})
		}
	}
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

// A body that is cut anywhere ends with an error, and what comes out is not whole.
func TestCuts(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	text := strings.Repeat("hello zzz aab ", 20)
	for _, from := range all {
		coded := encode(t, from, text)
		for _, to := range all {
			for cut := range coded {
				for _, end := range []bool{false, true} { // as whole, or not
					if end && from == Identity {
						continue // it is whole then
					}
					o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
					o.body.Write([]byte(coded[:cut]))
					if end {
						o.body.End()
					} else {
						o.body.Cut()
					}
					out, err := o.finish()
					if err == nil || !end && err != ErrCut {
						t.Fatalf("%v to %v, cut at %d of %d: %v", from, to, cut, len(coded), err)
					}
					if _, bad := decode(to, out); to != Identity && bad == nil && out != "" {
						t.Fatalf("%v to %v, cut at %d of %d: looks whole", from, to, cut, len(coded))
					}
				}
			}
		}
	}
}

// Whoever stops, whenever, leaves nothing behind.
func TestStops(t *testing.T) {
	p := NewPool(Options{Memory: 1})
	text := strings.Repeat("hello zzz aab ", 20_000)
	for i := range 100 {
		from, to := all[i%5], all[i/5%5]
		coded := encode(t, from, text)
		o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
		second := own(t, p, Job{From: from, To: to}) // waits
		o.body.Write([]byte(coded[:len(coded)*(i%7)/7]))
		if i%3 == 0 {
			time.Sleep(time.Duration(i%11) * 100 * time.Microsecond)
			o.take()
		}
		if i%2 == 0 {
			second.body.Stop()
			o.body.Stop()
		} else {
			o.body.Stop()
			second.body.Stop()
		}
	}
	for i := 0; p.Stats() != (Stats{}); i++ {
		if i > 1000 {
			t.Fatalf("left: %+v", p.Stats())
		}
		time.Sleep(time.Millisecond)
	}
	p.Close()
}

// Bodies have their turns in the order in which they came, and one of them always has.
func TestQueue(t *testing.T) {
	p := NewPool(Options{Memory: 1})
	defer p.Close()
	var begun atomic.Int32
	var owners []*owner
	for i := range 5 {
		owners = append(owners, own(t, p, Job{Stream: func() *subst.Stream {
			if n := begun.Add(1); n != int32(i+1) {
				t.Errorf("body %d begins as number %d", i+1, n)
			}
			return nil
		}}))
	}
	for i, o := range owners {
		if s := p.Stats(); s.Running != 1 || s.Waiting != 4-i {
			t.Errorf("%+v with %d to go", s, 5-i)
		}
		o.body.Write([]byte("x"))
		o.body.End()
		if out, err := o.finish(); out != "x" || err != nil {
			t.Errorf("%q %v", out, err)
		}
		for n := 0; p.Stats().Running+p.Stats().Waiting != 4-i && n < 1000; n++ {
			time.Sleep(time.Millisecond)
		}
	}
}

func TestZeros(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 256 {
		w.Write(zeros)
	}
	w.Close()
	p := NewPool(Options{})
	defer p.Close()
	o := own(t, p, Job{From: Gzip, To: Identity})
	coded := b.Bytes()
	got := 0
	for !o.done {
		for len(coded) > 0 && !o.body.Full() {
			n := min(len(coded), 10_000)
			o.body.Write(coded[:n])
			if coded = coded[n:]; len(coded) == 0 {
				o.body.End()
			}
		}
		o.turn()
		if n := o.out.Len(); n > mostOut+len(block{}.bytes) {
			t.Fatalf("%d bytes at once", n)
		}
		got += o.out.Len()
		o.out.Reset()
	}
	if got != 256<<20 || o.err != nil {
		t.Errorf("%d bytes, %v", got, o.err)
	}
}

// Raw deflate, members one behind the other, and what comes behind a body.
func TestLiberties(t *testing.T) {
	var raw bytes.Buffer
	w, _ := flate.NewWriter(&raw, 6)
	io.WriteString(w, "hello")
	w.Close()
	g := encode(t, Gzip, "hello")
	p := NewPool(Options{})
	defer p.Close()
	for _, c := range []struct {
		name, coded, want string
		from              Coding
		bad               bool
	}{
		{name: "raw deflate", from: Deflate, coded: raw.String(), want: "hello"},
		{name: "two members", from: Gzip, coded: g + g, want: "hellohello"},
		{name: "zeros behind", from: Gzip, coded: g + "\x00\x00\x00", want: "hello"},
		{name: "text behind", from: Gzip, coded: g + "what is this, and why is it here?", want: "hello"},
		{name: "text behind zlib", from: Deflate, coded: encode(t, Deflate, "hello") + "garbage", want: "hello"},
		{name: "no gzip", from: Gzip, coded: "hello, this is no gzip", bad: true},
		{name: "a wrong sum", from: Gzip, coded: g[:len(g)-8] + "\x00\x00\x00\x00" + g[len(g)-4:], bad: true},
		{name: "a wrong sum of zlib", from: Deflate, coded: encode(t, Deflate, "hello")[:len(encode(t, Deflate, "hello"))-4] + "\x00\x00\x00\x00", bad: true},
		{name: "no br", from: Brotli, coded: "\xff\xff\xff\xff\xff\xff", bad: true},
		{name: "no zstd", from: Zstd, coded: "hello, this is no zstd", bad: true},
	} {
		o := own(t, p, Job{From: c.from, To: Identity})
		o.body.Write([]byte(c.coded))
		o.body.End()
		got, err := o.finish()
		if c.bad != (err != nil) || !c.bad && got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
