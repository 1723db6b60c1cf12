package coding

import (
	"bufio"
	"errors"
	"hash/adler32"
	"io"
	"math/bits"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// decoder reads a body's text from a source. Where the source ends before the coding
// does, the error is io.ErrUnexpectedEOF; other errors of the source go through. It does not
// wait for its source while it has text to give.
type decoder interface {
	io.Reader
	begin(src io.Reader) error
}

// bare is no coding.
type bare struct{ io.Reader }

func (d *bare) begin(src io.Reader) error { d.Reader = src; return nil }

// readAhead is for decoders that take byte by byte: they know bufio.Reader, and are twice as
// fast with it. It asks its source only when it has nothing.
const readAhead = 4 << 10

// gunzip decodes gzip: one member or several (RFC 1952, 2.2). What comes behind them and
// is none is passed over, as browsers and gzip itself do.
type gunzip struct {
	in      *bufio.Reader
	z       gzip.Reader
	inside  bool // a member
	members int
}

func newGunzip() *gunzip { return &gunzip{in: bufio.NewReaderSize(nil, readAhead)} }

func (d *gunzip) begin(src io.Reader) error {
	d.in.Reset(src)
	d.inside, d.members = false, 0
	return nil
}

func (d *gunzip) Read(p []byte) (int, error) {
	for {
		if !d.inside {
			switch err := d.z.Reset(d.in); {
			case err == nil:
			case d.members > 0 && (err == io.EOF || err == io.ErrUnexpectedEOF || err == gzip.ErrHeader):
				return 0, io.EOF
			case err == io.EOF:
				return 0, io.ErrUnexpectedEOF
			default:
				return 0, err
			}
			d.z.Multistream(false)
			d.inside = true
		}
		n, err := d.z.Read(p)
		if err == io.EOF {
			d.inside = false
			d.members++
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// inflate decodes what is called deflate, and passes over what comes behind it.
type inflate struct {
	in    *bufio.Reader
	z     io.ReadCloser // of package flate
	begun bool
	zlib  bool
	sum   uint32
}

func newInflate() *inflate {
	in := bufio.NewReaderSize(nil, readAhead)
	return &inflate{in: in, z: flate.NewReader(in)}
}

func (d *inflate) begin(src io.Reader) error {
	d.in.Reset(src)
	d.begun, d.zlib, d.sum = false, false, 1
	return d.z.(flate.Resetter).Reset(d.in, nil)
}

func (d *inflate) Read(p []byte) (int, error) {
	if !d.begun {
		first, err := d.in.Peek(2)
		if err != nil && err != io.EOF { // with less the decoder makes what can be made
			return 0, err
		}
		d.begun = true
		if d.zlib = isZlib(first); d.zlib {
			d.in.Discard(2)
		}
	}
	n, err := d.z.Read(p)
	if d.zlib {
		d.sum = update(d.sum, p[:n])
		if err == io.EOF {
			return n, d.check()
		}
	}
	return n, err
}

var errSum = errors.New("its check sum is wrong")

// check reads the sum behind the text.
func (d *inflate) check() error {
	var sum uint32
	for range 4 {
		b, err := d.in.ReadByte()
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		sum = sum<<8 | uint32(b)
	}
	if sum != d.sum {
		return errSum
	}
	return io.EOF
}

// update adds to a sum of Adler-32 (RFC 1950, 8.2), which package adler32 can only begin.
func update(sum uint32, p []byte) uint32 {
	const base = 65521
	if len(p) == 0 {
		return sum
	}
	// Of two texts the sums can be joined.
	own := adler32.Checksum(p)
	n := uint64(len(p)) % base
	a, b := uint64(sum&0xffff), uint64(sum>>16)
	c, d := uint64(own&0xffff), uint64(own>>16)
	return uint32((a+c+base-1)%base | ((b+d+n*(a+base-1))%base)<<16)
}

// unbrotli decodes br. Nothing may come behind it.
type unbrotli struct{ brotli.Reader }

func (d *unbrotli) begin(src io.Reader) error { return d.Reset(src) }

// unzstd decodes zstd, one frame or several. Nothing else may come behind them.
type unzstd struct {
	*zstd.Decoder
	window int64 // the largest
}

func newUnzstd(window int64) (*unzstd, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(max(window, zstd.MinWindowSize))))
	return &unzstd{z, window}, err
}

func (d *unzstd) begin(src io.Reader) error { return d.Reset(src) }

func (d *unzstd) Read(p []byte) (int, error) {
	n, err := d.Decoder.Read(p)
	if err == zstd.ErrWindowSizeExceeded || err == zstd.ErrDecoderSizeExceeded {
		err = ErrWindow
	}
	return n, err
}

// decoder returns one for a coding, with a window of at most so many bytes.
func (k *machines) decoder(c Coding, window int64, src io.Reader) (d decoder, err error) {
	d, ok := k.decoders[c][windowClass(window)].Get().(decoder)
	if z, is := d.(*unzstd); is && z.window != window { // the pool had other limits
		z.Close()
		ok = false
	}
	if !ok {
		switch c {
		case Identity:
			d = new(bare)
		case Gzip:
			d = newGunzip()
		case Deflate:
			d = newInflate()
		case Brotli:
			d = new(unbrotli)
		case Zstd:
			d, err = newUnzstd(window)
		}
	}
	if err != nil {
		return nil, err
	}
	return d, d.begin(src)
}

// keepDecoder takes one back that has come to its end.
func (k *machines) keepDecoder(c Coding, window int64, d decoder) {
	if d.begin(nil) == nil {
		k.decoders[c][windowClass(window)].Put(d)
	}
}

// windowClass is the logarithm of a window, rounded up.
func windowClass(window int64) int { return bits.Len64(uint64(max(window, 1) - 1)) }
