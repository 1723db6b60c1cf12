package inflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	fast "github.com/klauspost/compress/flate"
)

// deflated packs plain at a level.
func deflated(t testing.TB, plain []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func klauspost(t testing.TB, plain []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := fast.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(plain)
	w.Close()
	return b.Bytes()
}

// library is what the standard library makes of a stream: its output, and
// whether it ends well and where the input does.
func library(stream []byte) ([]byte, bool) {
	r := bytes.NewReader(stream)
	out, err := io.ReadAll(flate.NewReader(r))
	return out, err == nil && r.Len() == 0
}

// texts are inputs of many shapes.
func texts() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 70_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	skewed := make([]byte, 100_000) // long codes
	for i := range skewed {
		skewed[i] = byte(min(255, int(random.ExpFloat64()*20)))
	}
	var records strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&records, `{"user": %d, "location": %d, "visited_at": %d, "id": %d, "mark": %d}, `, random.IntN(10_000), random.IntN(8000), random.IntN(1<<30), i, random.IntN(6))
	}
	return map[string][]byte{
		"empty": nil, "one": []byte("a"), "two": []byte("ab"), "run": bytes.Repeat([]byte("a"), 100_000),
		"pairs": bytes.Repeat([]byte("ab"), 5000), "sevens": bytes.Repeat([]byte("abcdefg"), 5000), "eights": bytes.Repeat([]byte("abcdefgh"), 5000),
		"noise": noise, "skewed": skewed, "records": []byte(records.String()),
		"far": append(append(bytes.Clone(noise[:32768]), noise[:300]...), noise[:32768]...),
	}
}

func TestInflate(t *testing.T) {
	var d Decoder
	for name, plain := range texts() {
		for level := flate.HuffmanOnly; level <= flate.BestCompression; level++ {
			for packer, stream := range map[string][]byte{"std": deflated(t, plain, level), "klauspost": klauspost(t, plain, level)} {
				out := make([]byte, len(plain))
				if !d.Inflate(out, stream) || !bytes.Equal(out, plain) {
					t.Fatalf("%s, level %d by %s: wrong", name, level, packer)
				}
				if d.Inflate(make([]byte, len(plain)+1), stream) || len(plain) > 0 && d.Inflate(make([]byte, len(plain)-1), stream) {
					t.Errorf("%s, level %d by %s: a wrong size is right", name, level, packer)
				}
				if d.Inflate(out, append(bytes.Clone(stream), 0)) {
					t.Errorf("%s, level %d by %s: a byte too many is right", name, level, packer)
				}
			}
		}
	}
}

// Every cut of a stream is wrong, and no panic.
func TestInflateCut(t *testing.T) {
	var d Decoder
	for name, plain := range texts() {
		plain = plain[:min(len(plain), 3000)]
		stream := deflated(t, plain, 6)
		for n := range stream {
			if d.Inflate(make([]byte, len(plain)), stream[:n]) {
				t.Errorf("%s: %d of %d bytes are right", name, n, len(stream))
			}
		}
	}
}

// Damage: whatever comes out, the library says the same.
func TestInflateDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	var d Decoder
	for name, plain := range texts() {
		plain = plain[:min(len(plain), 4000)]
		for _, level := range []int{0, 1, 6, flate.HuffmanOnly} {
			stream := deflated(t, plain, level)
			for range 1500 {
				damaged := bytes.Clone(stream)
				for range 1 + random.IntN(3) {
					damaged[random.IntN(min(len(damaged), 100+random.IntN(len(damaged))))] ^= 1 << random.IntN(8)
				}
				compare(t, &d, name, damaged)
			}
		}
	}
}

// compare holds Inflate against the library.
func compare(t testing.TB, d *Decoder, name string, stream []byte) {
	t.Helper()
	want, whole := library(stream)
	if len(want) > 1<<20 {
		return
	}
	got := make([]byte, len(want))
	ok := d.Inflate(got, stream)
	if ok && (!whole || !bytes.Equal(got, want)) {
		t.Fatalf("%s: takes a stream that the library refuses, or reads it otherwise: %x", name, stream)
	}
	if whole && !ok {
		t.Fatalf("%s: refuses a stream that the library takes: %x", name, stream)
	}
}

func FuzzInflate(f *testing.F) {
	for _, plain := range texts() {
		f.Add(deflated(f, plain[:min(len(plain), 500)], 6))
		f.Add(deflated(f, plain[:min(len(plain), 500)], 0))
		f.Add(deflated(f, plain[:min(len(plain), 500)], flate.HuffmanOnly))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var d Decoder
		compare(t, &d, "fuzz", stream)
	})
}

func BenchmarkInflate(b *testing.B) {
	plain := texts()["records"]
	stream := deflated(b, plain, 6)
	out := make([]byte, len(plain))
	b.Run("ours", func(b *testing.B) {
		var d Decoder
		b.SetBytes(int64(len(plain)))
		b.ReportAllocs()
		for b.Loop() {
			if !d.Inflate(out, stream) {
				b.Fatal("wrong")
			}
		}
	})
	b.Run("klauspost", func(b *testing.B) {
		source := bytes.NewReader(stream)
		r := fast.NewReader(source)
		b.SetBytes(int64(len(plain)))
		b.ReportAllocs()
		for b.Loop() {
			source.Reset(stream)
			r.(fast.Resetter).Reset(source, nil)
			if _, err := io.ReadFull(r, out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("std", func(b *testing.B) {
		source := bytes.NewReader(stream)
		r := flate.NewReader(source)
		b.SetBytes(int64(len(plain)))
		b.ReportAllocs()
		for b.Loop() {
			source.Reset(stream)
			r.(flate.Resetter).Reset(source, nil)
			if _, err := io.ReadFull(r, out); err != nil {
				b.Fatal(err)
			}
		}
	})
}
