package gen

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/flate"
)

// dataSet writes the JSON files of one data set, each to the data folder and
// to data.zip at once, so that no file is ever held in memory.
type dataSet struct {
	folder  *folder
	zipFile *os.File
	zipBuf  *bufio.Writer
	zip     *zip.Writer
	bytes   int64 // of JSON so far
}

func newDataSet(f *folder) (*dataSet, error) {
	file, err := os.Create(f.path("data", "data.zip"))
	if err != nil {
		return nil, err
	}
	d := &dataSet{folder: f, zipFile: file, zipBuf: bufio.NewWriterSize(file, 1<<18)}
	d.zip = zip.NewWriter(d.zipBuf)
	d.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, 3) // a third of the time of the default level, for a tenth more bytes
	})
	return d, nil
}

// file writes one entry with what fill gives it.
func (d *dataSet) file(name string, fill func(w *bufio.Writer) error) (err error) {
	plain, err := os.Create(d.folder.path("data", name))
	if err != nil {
		return err
	}
	defer func() {
		if closed := plain.Close(); err == nil {
			err = closed
		}
	}()
	// No time stamp: the same options must give the same bytes.
	entry, err := d.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	both := bufio.NewWriterSize(io.MultiWriter(plain, entry), 1<<18)
	if err := fill(both); err != nil {
		return err
	}
	return both.Flush()
}

// records writes n records of an entity as files of perFile records each:
// {"users": [{...}, ...]}. appendRecord appends record i of all; fileStarts is
// called before the first of each file. At least one file is written.
func (d *dataSet) records(entity string, n, perFile int, fileStarts func(), appendRecord func(dst []byte, i int) ([]byte, error)) error {
	buf := make([]byte, 0, 1<<10)
	for file := 0; file == 0 || file*perFile < n; file++ {
		fileStarts()
		err := d.file(fmt.Sprintf("%s_%d.json", entity, file+1), func(w *bufio.Writer) error {
			fmt.Fprintf(w, `{"%s": [`, entity)
			for i := file * perFile; i < min(n, (file+1)*perFile); i++ {
				buf = buf[:0]
				if i > file*perFile {
					buf = append(buf, ", "...)
				}
				var err error
				if buf, err = appendRecord(buf, i); err != nil {
					return err
				}
				d.bytes += int64(len(buf))
				if _, err := w.Write(buf); err != nil {
					return err
				}
			}
			_, err := w.WriteString("]}")
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish writes options.txt and completes the zip.
func (d *dataSet) finish(now int64, rating bool) error {
	kind := 0
	if rating {
		kind = 1
	}
	err := d.file("options.txt", func(w *bufio.Writer) error {
		_, err := fmt.Fprintf(w, "%d\n%d", now, kind)
		return err
	})
	if err != nil {
		return err
	}
	if err := d.zip.Close(); err != nil {
		return err
	}
	if err := d.zipBuf.Flush(); err != nil {
		return err
	}
	return d.zipFile.Close()
}

// close gives the zip's descriptor back after a failure; after finish it does
// nothing.
func (d *dataSet) close() { d.zipFile.Close() }
