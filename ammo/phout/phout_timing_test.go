package phout

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"
)

// timed is a row as they are: an answer over a kept connection.
var timed = Row{Sent: begin, Tag: "/users/:id", Number: 123456, Send: 9_312, Latency: 81_440, Receive: 1_017, Out: 212, In: 389, Status: 200}

func BenchmarkAppend(b *testing.B) {
	for _, numbered := range []bool{false, true} {
		b.Run(fmt.Sprintf("numbered=%v", numbered), func(b *testing.B) {
			buf := timed.Append(nil, numbered)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf = timed.Append(buf[:0], numbered)
			}
		})
	}
}

// BenchmarkAppendf is the plain twin of BenchmarkAppend.
func BenchmarkAppendf(b *testing.B) {
	buf := timed.Append(nil, false)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	us := func(d time.Duration) int64 { return d.Round(time.Microsecond).Microseconds() }
	for b.Loop() {
		r := &timed
		whole := r.Connect + r.Send + r.Latency + r.Receive
		buf = fmt.Appendf(buf[:0], "%d.%03d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", r.Sent/1e9, r.Sent/1e6%1000, r.Tag,
			us(whole), us(r.Connect), us(r.Send), us(r.Latency), us(r.Receive), us(whole), r.Out, r.In, r.Net, r.Status)
	}
}

// BenchmarkWriter is a row's share of Write, of batches by several goroutines.
func BenchmarkWriter(b *testing.B) {
	rows := make([]Row, 256)
	for i := range rows {
		rows[i] = timed
	}
	w := NewWriter(io.Discard, false)
	b.SetBytes(int64(len(timed.Append(nil, false)) * len(rows)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := w.Write(rows); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	line := timed.Append(nil, false)
	text := bytes.Repeat(line, 1000)
	in := bytes.NewReader(nil)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(text)
		r := NewReader(in, "f")
		for {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
