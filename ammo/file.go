package ammo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// File is an ammo file in phantom's request style, plain or gzip, read record
// by record as often as wanted. It may be larger than memory: what is held is
// one record and a few buffers.
//
// Only its first bytes tell whether it is gzip, whatever its name. Several gzip
// members in a row are one text.
//
// It is not safe for concurrent use, but for Close.
type File struct {
	name    string
	file    *os.File
	start   int64         // where a pass begins; negative: there can be no second
	size    int64         // from there, in bytes; 0: unknown
	in      *bufio.Reader // the file as it is stored
	stored  counter
	unpack  unpacker
	records *PhantomReader
	begun   bool // this pass has looked at the first bytes
}

// counter counts what was read of the file in this pass.
type counter struct {
	r    io.Reader
	read int64
	size int64 // when the file was opened; 0: unknown
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += int64(n)
	if err == io.EOF && c.read < c.size { // or a part would pass for the whole
		err = fmt.Errorf("it had %d bytes, and was cut to %d meanwhile", c.size, c.read)
	}
	return n, err
}

// Open opens an ammo file; "-" is standard input. A named pipe may be read
// once, and Open waits for its writer. What the file holds is not looked at
// before the first Next.
func Open(path string) (*File, error) {
	name, file := "standard input", os.Stdin
	if path != "-" {
		var err error
		if file, err = os.Open(path); err != nil {
			return nil, err
		}
		name = path
	}
	f := readFile(name, file)
	f.file = file
	stat, err := file.Stat()
	if err == nil && stat.IsDir() {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	// Pipes and terminals cannot seek. Standard input may be a file of which
	// something has been read already: its passes begin there.
	if start, err := file.Seek(0, io.SeekCurrent); err == nil {
		f.start = start
		if stat.Mode().IsRegular() {
			f.size = stat.Size() - start
			f.stored.size = f.size
		}
	}
	return f, nil
}

// readFile is a File of one pass over r.
func readFile(name string, r io.Reader) *File {
	f := &File{name: name, start: -1, stored: counter{r: r}}
	f.in = bufio.NewReaderSize(&f.stored, 1<<15)
	f.unpack.stored, f.unpack.in = &f.stored, f.in
	f.records = NewPhantomReader(f.in, name, 0)
	return f
}

// Name is the path that Open was given, or "standard input".
func (f *File) Name() string { return f.name }

// Next returns the next record, whose slices are valid until the following call
// of Next or Rewind. At the end of a pass, which is the end of the file or a
// size of 0, it returns io.EOF; a file without a record gives that at once. A
// broken file, also one whose gzip data is damaged or cut, gives a
// *SyntaxError; a failed read gives the system's error, wrapped. All of them
// stay until Rewind.
func (f *File) Next() (Record, error) {
	if !f.begun {
		f.begin()
	}
	return f.records.Next()
}

// begin looks at the file's first bytes. No plain file can begin like this: a
// size line begins with a digit or a blank.
func (f *File) begin() {
	f.begun = true
	head, err := f.in.Peek(2)
	switch {
	case err != nil && err != io.EOF:
		f.records.err = f.records.failed(err) // Peek has taken it: nobody will see it again
	case string(head) == "\x1f\x8b":
		f.unpack.begun = false
		f.records.Reset(&f.unpack)
		f.records.unpacked = true
	}
}

// Rewind begins the next pass, wherever this one is. For a pipe it is an error.
func (f *File) Rewind() error {
	if f.start < 0 {
		return fmt.Errorf("%s cannot be read a second time: a pipe gives its ammo once (store it in a file to fire it again)", f.name)
	}
	if _, err := f.file.Seek(f.start, io.SeekStart); err != nil {
		return err
	}
	f.stored.read = 0
	f.in.Reset(&f.stored)
	f.records.Reset(f.in)
	f.begun = false
	return nil
}

// Progress is how much of the file this pass has read, from 0 to 1 by the bytes
// as they are stored; always 0 where the size is unknown. In a gzip file it
// runs ahead by what is unpacked but not yet given out, 64 KB at most.
func (f *File) Progress() float64 {
	if f.size <= 0 {
		return 0
	}
	read := f.records.offset
	if f.records.unpacked {
		read = f.unpack.position()
	}
	return min(1, float64(read)/float64(f.size))
}

// Close closes the file; standard input stays open. It may be called while
// another goroutine waits in Next for a named pipe, and ends that wait.
func (f *File) Close() error {
	if f.file == os.Stdin {
		return nil
	}
	return f.file.Close()
}

// unpacker reads the text of a gzip file.
type unpacker struct {
	stored *counter
	in     *bufio.Reader
	gz     gzip.Reader
	begun  bool
}

func (u *unpacker) Read(p []byte) (n int, err error) {
	if !u.begun {
		u.begun = true
		err = u.gz.Reset(u.in)
	}
	if err == nil {
		n, err = u.gz.Read(p)
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	switch {
	case err == io.ErrUnexpectedEOF:
		return n, &damage{fmt.Sprintf("the end of the file after byte %d", u.position())}
	case err == gzip.ErrChecksum:
		return n, &damage{fmt.Sprintf("another checksum or length at byte %d of the file", u.position())}
	case err == gzip.ErrHeader:
		return n, &damage{fmt.Sprintf("no valid gzip header before byte %d of the file", u.position())}
	case errors.As(err, &corrupt), errors.As(err, &internal):
		return n, &damage{fmt.Sprintf("damaged data at byte %d of the file", u.position())}
	}
	return n, err
}

// position is how much of the file has been unpacked. Where it is damaged, this
// is the place where it was noticed.
func (u *unpacker) position() int64 { return u.stored.read - int64(u.in.Buffered()) }

// damage says in what way gzip data is broken.
type damage struct{ what string }

func (d *damage) Error() string { return d.what }
