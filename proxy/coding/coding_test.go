package coding

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"

	"redoubt/proxy/subst"
)

func TestRoundTrips(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	for _, from := range all {
		for _, to := range all {
			for i, text := range texts() {
				for _, piece := range []int{1 << 20, 1000, 1} {
					if instrumented && piece == 1000 || piece == 1 && len(text) > 1000 {
						continue
					}
					for _, stream := range []func() *subst.Stream{nil, rules(t)} {
						o := own(t, p, Job{From: from, To: to, Stream: stream})
						o.write(encode(t, from, text), piece)
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

// Where a body is cut into pieces makes no difference, and neither does a pause there.
func TestPieces(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	text := strings.Repeat("hello zzz aab ", 5)
	for i, from := range all {
		to := all[(i+1)%len(all)]
		coded := encode(t, from, text)
		for at := range coded {
			o := own(t, p, Job{From: from, To: to, Stream: rules(t)})
			o.body.Write([]byte(coded[:at]))
			o.drained()
			o.body.Write([]byte(coded[at:]))
			o.body.End()
			out, err := o.finish()
			if got, bad := decode(to, out); err != nil || bad != nil || got != replaced(text) {
				t.Fatalf("%v to %v, cut at %d: %v, %v, %q", from, to, at, err, bad, got)
			}
		}
	}
}

// What the stream has counted, and the time that was spent, are there when a body is done.
func TestCounts(t *testing.T) {
	p := NewPool(Options{})
	defer p.Close()
	o := own(t, p, Job{From: Gzip, To: Gzip, Stream: rules(t)})
	o.body.Write([]byte(encode(t, Gzip, "aab zzz ab")))
	if o.drained(); o.body.Stream() != nil {
		t.Error("a stream before the end")
	}
	o.body.End()
	if _, err := o.finish(); err != nil {
		t.Fatal(err)
	}
	if m := o.body.Stream().Stats().Matches; m[0] != 2 || m[1] != 1 || o.body.Spent() <= 0 {
		t.Errorf("%d matches, in %v", m, o.body.Spent())
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
