package coding

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// encoder codes a body's text. Flush gives out all that was written, Close ends it.
type encoder interface {
	io.WriteCloser
	Flush() error
}

// Windows of what is sent on are small: so is what it takes to make and to read it.
const (
	deflateOut = 16 << 10
	zstdOut    = 64 << 10
	brotliOut  = 16 // bits
	// brotliQuality is the lowest that looks for matches farther than its last block.
	brotliQuality = 2
)

// machines keeps decoders and encoders for the next body.
type machines struct {
	decoders, encoders [len(names)]sync.Pool
}

func (k *machines) encoder(c Coding, to io.Writer) (encoder, error) {
	switch c {
	case Gzip:
		if e, ok := k.encoders[c].Get().(*gzip.Writer); ok {
			e.Reset(to)
			return e, nil
		}
		return gzip.NewWriterWindow(to, deflateOut)
	case Deflate:
		e, ok := k.encoders[c].Get().(*deflate)
		if !ok {
			z, err := flate.NewWriterWindow(to, deflateOut)
			if err != nil {
				return nil, err
			}
			e = &deflate{z: z}
		}
		e.reset(to)
		return e, nil
	case Brotli:
		if e, ok := k.encoders[c].Get().(*brotli.Writer); ok {
			e.Reset(to)
			return e, nil
		}
		return brotli.NewWriterOptions(to, brotli.WriterOptions{Quality: brotliQuality, LGWin: brotliOut}), nil
	case Zstd:
		if e, ok := k.encoders[c].Get().(*zstd.Encoder); ok {
			e.Reset(to)
			return e, nil
		}
		return zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdOut), zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return plain{to}, nil
}

// most is how large a window a decoder may have had that is kept.
const most = 1 << 20

// keep takes back what a whole body has used.
func (k *machines) keep(from Coding, window int64, d decoder, to Coding, e encoder) {
	switch d := d.(type) {
	case *unzstd:
		d.Close()
	case *gunzip:
		d.src = nil
		k.decoders[from].Put(d)
	case *inflate:
		d.src, d.first.source = nil, nil
		k.decoders[from].Put(d)
	case *brotli.Reader:
		if window <= most {
			k.decoders[from].Put(d)
		}
	}
	if to != Identity {
		k.encoders[to].Put(e)
	}
}

// plain is no coding.
type plain struct{ io.Writer }

func (plain) Flush() error { return nil }
func (plain) Close() error { return nil }

// deflate is zlib (RFC 1950) with a small window.
type deflate struct {
	z     *flate.Writer
	to    io.Writer
	begun bool
	sum   uint32
}

func (e *deflate) reset(to io.Writer) {
	e.z.Reset(to)
	e.to, e.begun, e.sum = to, false, 1
}

func (e *deflate) begin() error {
	if e.begun {
		return nil
	}
	e.begun = true
	_, err := e.to.Write([]byte{0x78, 0x01}) // a window of up to 32 KB, and the least effort
	return err
}

func (e *deflate) Write(p []byte) (int, error) {
	if err := e.begin(); err != nil {
		return 0, err
	}
	e.sum = update(e.sum, p)
	return e.z.Write(p)
}

func (e *deflate) Flush() error {
	if err := e.begin(); err != nil {
		return err
	}
	return e.z.Flush()
}

func (e *deflate) Close() error {
	if err := e.begin(); err != nil {
		return err
	}
	if err := e.z.Close(); err != nil {
		return err
	}
	_, err := e.to.Write(binary.BigEndian.AppendUint32(nil, e.sum))
	return err
}
