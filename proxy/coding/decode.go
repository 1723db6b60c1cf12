package coding

import (
	"errors"
	"hash/adler32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// decoder reads a body's text. One that ends before its coding does returns
// io.ErrUnexpectedEOF; what its source returns else goes through.
type decoder interface{ io.Reader }

// source is where decoders read: byte by byte, so that they do not read ahead.
type source interface {
	io.Reader
	io.ByteReader
}

// gunzip decodes gzip: one member or several, and whatever comes behind them is left.
type gunzip struct {
	src     source
	z       gzip.Reader
	inside  bool // a member
	members int
}

func (d *gunzip) reset(src source) { d.src, d.inside, d.members = src, false, 0 }

func (d *gunzip) Read(p []byte) (int, error) {
	for {
		if !d.inside {
			switch err := d.z.Reset(d.src); {
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

// inflate decodes what is called deflate.
type inflate struct {
	src   source
	z     io.ReadCloser // of package flate
	first prefixed
	begun bool
	zlib  bool
	sum   uint32
}

func (d *inflate) reset(src source) { d.src, d.begun, d.zlib, d.sum = src, false, false, 1 }

func (d *inflate) Read(p []byte) (int, error) {
	if !d.begun {
		if err := d.begin(); err != nil {
			return 0, err
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

func (d *inflate) begin() error {
	d.begun = true
	d.first = prefixed{source: d.src}
	for i := range d.first.bytes {
		b, err := d.src.ReadByte()
		if err == io.EOF {
			break // of so few bytes the decoder makes what can be made
		}
		if err != nil {
			return err
		}
		d.first.bytes[i] = b
		d.first.left++
	}
	if d.first.left == 2 && isZlib(d.first.bytes) {
		d.zlib, d.first.left = true, 0
	}
	if d.z == nil {
		d.z = flate.NewReader(&d.first)
		return nil
	}
	return d.z.(flate.Resetter).Reset(&d.first, nil)
}

var errSum = errors.New("its check sum is wrong")

// check reads the sum behind the text.
func (d *inflate) check() error {
	var sum uint32
	for range 4 {
		b, err := d.first.ReadByte()
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

// prefixed is a source with the bytes before it that have been read already.
type prefixed struct {
	source
	bytes [2]byte
	left  int // of them
	next  int
}

func (r *prefixed) Read(p []byte) (int, error) {
	if r.left == 0 {
		return r.source.Read(p)
	}
	n := copy(p, r.bytes[r.next:r.next+r.left])
	r.next, r.left = r.next+n, r.left-n
	return n, nil
}

func (r *prefixed) ReadByte() (byte, error) {
	if r.left == 0 {
		return r.source.ReadByte()
	}
	r.next, r.left = r.next+1, r.left-1
	return r.bytes[r.next-1], nil
}

// unzstd decodes zstd.
type unzstd struct{ *zstd.Decoder }

func newUnzstd(window int64) (*unzstd, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(uint64(max(window, zstd.MinWindowSize))))
	return &unzstd{z}, err
}

// reader hides what else the source can: with it the decoder would read all of it at once.
type reader struct{ io.Reader }

func (k *machines) decoder(c Coding, window int64, src source) (decoder, error) {
	switch c {
	case Gzip:
		d, ok := k.decoders[c].Get().(*gunzip)
		if !ok {
			d = new(gunzip)
		}
		d.reset(src)
		return d, nil
	case Deflate:
		d, ok := k.decoders[c].Get().(*inflate)
		if !ok {
			d = new(inflate)
		}
		d.reset(src)
		return d, nil
	case Brotli:
		d, ok := k.decoders[c].Get().(*brotli.Reader)
		if !ok {
			d = new(brotli.Reader)
		}
		return d, d.Reset(reader{src})
	case Zstd:
		d, err := newUnzstd(window)
		if err != nil {
			return nil, err
		}
		return d, d.Reset(reader{src})
	}
	return src, nil
}
