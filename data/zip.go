package data

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"redoubt/data/inflate"
)

// zipEntry is a file inside of the zip.
type zipEntry struct {
	packed int64 // bytes in the zip
	stored bool  // and not deflated
	crc    uint32
	file   *zip.File // knows where the bytes begin
}

const (
	// maxFile bounds one file of records, uncompressed: the loader holds it
	// whole. The contest's files have at most 9 MB.
	maxFile = 1 << 30

	// maxRatio is the most that deflate compresses: 258 bytes in two bits.
	maxRatio = 258 * 8 / 2
)

// listZip returns the files of records in a zip and its options, if any. Like
// the names, it knows no folders: data/users_1.json is users_1.json.
func listZip(f *os.File, name string) ([]file, *Options, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", name)
	}
	directory, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	var files []file
	var opts *Options
	seen := map[string]bool{}
	for _, zf := range directory.File {
		base := path.Base(zf.Name)
		k, ok := kindOfFile(base)
		if !ok && base != optionsName || zf.FileInfo().IsDir() {
			continue
		}
		entry := file{kind: k, name: zipName + ":" + base, size: int64(zf.UncompressedSize64)}
		if seen[base] {
			return nil, nil, fmt.Errorf("%s is there twice", entry.name)
		}
		seen[base] = true
		if entry.entry, err = openEntry(zf, info.Size()); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", entry.name, err)
		}
		if ok {
			files = append(files, entry)
			continue
		}
		if entry.size > maxOptions {
			return nil, nil, fmt.Errorf("%s: over %d bytes long", entry.name, maxOptions)
		}
		var u unzipper
		text, err := u.read(f, entry.entry, nil, entry.size)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", entry.name, err)
		}
		o, err := parseOptions(entry.name, text)
		if err != nil {
			return nil, nil, err
		}
		opts = &o
	}
	return files, opts, nil
}

// openEntry checks what the zip's directory says of a file.
func openEntry(zf *zip.File, zipSize int64) (*zipEntry, error) {
	const encrypted = 1
	switch {
	case zf.Flags&encrypted != 0:
		return nil, errors.New("is encrypted")
	case zf.Method != zip.Store && zf.Method != zip.Deflate:
		return nil, fmt.Errorf("is compressed by method %d; only deflate and none are known", zf.Method)
	case zf.UncompressedSize64 > maxFile:
		return nil, fmt.Errorf("has %d bytes; one file may have %d", zf.UncompressedSize64, maxFile)
	case zf.CompressedSize64 > uint64(zipSize):
		return nil, fmt.Errorf("has %d bytes in a zip of %d", zf.CompressedSize64, zipSize)
	case zf.Method == zip.Store && zf.CompressedSize64 != zf.UncompressedSize64:
		return nil, fmt.Errorf("is not compressed, but has two sizes, %d and %d", zf.CompressedSize64, zf.UncompressedSize64)
	case zf.UncompressedSize64 > zf.CompressedSize64*maxRatio:
		return nil, fmt.Errorf("cannot have %d bytes, compressed to %d", zf.UncompressedSize64, zf.CompressedSize64)
	}
	return &zipEntry{packed: int64(zf.CompressedSize64), stored: zf.Method == zip.Store, crc: zf.CRC32, file: zf}, nil
}

// unzipper reads files of a zip into buffers it uses again. The compressed
// bytes are read at once and not mapped: a file that shrinks meanwhile is
// then an error and not a fault of the process.
type unzipper struct {
	packed []byte
	whole  inflate.Decoder
	source bytes.Reader  // of packed; a kind of reader that the library has a fast path for
	stream io.ReadCloser // made on first use
}

// read appends the whole file to buf[:0], which grows as needed, and checks
// its size and sum.
func (u *unzipper) read(zip io.ReaderAt, e *zipEntry, buf []byte, size int64) ([]byte, error) {
	buf = atLeast(buf, size)
	if err := u.start(zip, e, e.packed); err != nil {
		return nil, err
	}
	// Fast path - the whole file at once. What it will not take, the library
	// judges and explains.
	if !e.stored && u.whole.Inflate(buf, u.packed) && crc32.ChecksumIEEE(buf) == e.crc {
		return buf, nil
	}
	r := u.reader(e)
	if n, err := io.ReadFull(r, buf); err != nil {
		return nil, fmt.Errorf("cannot be unpacked: %w (after %d of %d bytes)", noEOF(err), n, size)
	}
	// The stream must end where the directory says.
	if n, err := r.Read(make([]byte, 1)); n > 0 {
		return nil, fmt.Errorf("has more than the %d bytes it claims", size)
	} else if err != io.EOF {
		return nil, fmt.Errorf("cannot be unpacked: %w (after all %d bytes)", err, size)
	}
	if sum := crc32.ChecksumIEEE(buf); sum != e.crc {
		return nil, fmt.Errorf("is damaged: its CRC is %08x and should be %08x", sum, e.crc)
	}
	return buf, nil
}

// head returns the file's first bytes, at most max, unchecked.
func (u *unzipper) head(zip io.ReaderAt, e *zipEntry, buf []byte, max int64) ([]byte, error) {
	// Deflated data may be a little longer than plain, never by this much.
	if err := u.start(zip, e, min(e.packed, 2*max)); err != nil {
		return nil, err
	}
	buf = atLeast(buf, max)
	n, err := io.ReadFull(u.reader(e), buf)
	if n > 0 {
		err = nil
	}
	return buf[:n], err
}

// start reads n compressed bytes and makes u.source and u.stream ready to
// read from them.
func (u *unzipper) start(zip io.ReaderAt, e *zipEntry, n int64) error {
	offset, err := e.file.DataOffset()
	if err != nil {
		return err
	}
	u.packed = atLeast(u.packed, n)
	if _, err := zip.ReadAt(u.packed, offset); err != nil {
		return noEOF(err)
	}
	u.source.Reset(u.packed)
	if u.stream == nil {
		u.stream = flate.NewReader(&u.source)
		return nil
	}
	return u.stream.(flate.Resetter).Reset(&u.source, nil)
}

// reader returns what start made ready.
func (u *unzipper) reader(e *zipEntry) io.Reader {
	if e.stored {
		return &u.source
	}
	return u.stream
}

// atLeast returns buf with length n, or a new slice if it is too small.
func atLeast(buf []byte, n int64) []byte {
	if int64(cap(buf)) < n {
		return make([]byte, n)
	}
	return buf[:n]
}

// noEOF makes the end of the input, where more was expected, say so.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
