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

// encoder codes a body's text. Flush gives out all that was written, Close ends it, and
// Reset begins another.
type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(to io.Writer)
}

// Windows of what is sent on are small: so is what it takes to make and to read it.
const (
	deflateOut = 16 << 10
	zstdOut    = 64 << 10
	brotliOut  = 16 // bits
	// brotliQuality is the lowest that looks for matches farther than its last block.
	brotliQuality = 2
)

// machines keeps decoders and encoders for other bodies, until a garbage collection.
type machines struct {
	decoders [len(names)][65]sync.Pool // by windowClass, so that none takes more than what it is counted for
	encoders [len(names)]sync.Pool
}

// encoder returns one for a coding.
func (k *machines) encoder(c Coding, to io.Writer) (encoder, error) {
	e, ok := k.encoders[c].Get().(encoder)
	if !ok {
		var err error
		if e, err = newEncoder(c); err != nil {
			return nil, err
		}
	}
	e.Reset(to)
	return e, nil
}

func newEncoder(c Coding) (encoder, error) {
	switch c {
	case Gzip:
		return gzip.NewWriterWindow(nil, deflateOut)
	case Deflate:
		z, err := flate.NewWriterWindow(nil, deflateOut)
		return &deflate{z: z}, err
	case Brotli:
		return brotli.NewWriterOptions(nil, brotli.WriterOptions{Quality: brotliQuality, LGWin: brotliOut}), nil
	case Zstd:
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(zstdOut), zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return new(plain), nil
}

// keepEncoder takes one back that has been closed.
func (k *machines) keepEncoder(c Coding, e encoder) {
	e.Reset(nil) // it would keep the body
	k.encoders[c].Put(e)
}

// plain is no coding.
type plain struct{ io.Writer }

func (e *plain) Reset(to io.Writer) { e.Writer = to }
func (e *plain) Flush() error       { return nil }
func (e *plain) Close() error       { return nil }

// deflate is zlib (RFC 1950) with a small window.
type deflate struct {
	z     *flate.Writer
	to    io.Writer
	begun bool
	sum   uint32
}

func (e *deflate) Reset(to io.Writer) {
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
