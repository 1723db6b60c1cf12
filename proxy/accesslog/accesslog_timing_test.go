package accesslog

import (
	"io"
	"testing"
	"time"
)

type null struct{}

func (null) Write(p []byte) (int, error) { return len(p), nil }
func (null) Close() error                { return nil }

func BenchmarkPut(b *testing.B) {
	for _, format := range []string{"json", "combined"} {
		b.Run(format, func(b *testing.B) {
			l, err := newLog(Options{Format: format}, func() (io.WriteCloser, error) { return null{}, nil }, time.Second, time.Second)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			s, e := l.NewSink(), usual()
			b.ReportAllocs()
			b.SetBytes(int64(len(line(l.format, e))))
			for b.Loop() {
				s.Put(e)
			}
		})
	}
}
