package accesslog

import (
	"bytes"
	"io"
	"os"
	"time"
)

// run is the log's goroutine: it writes until Close.
func (l *Log) run() {
	defer close(l.ended)
	failed := false // the last attempt
	for b := range l.full {
		rest := b.bytes
		for len(rest) > 0 {
			n, err := l.write(rest)
			rest = rest[n:]
			if err == nil {
				failed = false
				continue
			}
			l.failures.Add(1)
			if !failed && l.onError != nil {
				l.onError(err)
			}
			failed = true
			if !l.waitToRetry() {
				break
			}
		}
		left := bytes.Count(rest, []byte{'\n'})
		l.lost.Add(uint64(left))
		l.written.Add(uint64(b.lines - left))
		b.bytes, b.lines = b.bytes[:0], 0
		l.free <- b
	}
}

// write writes some of these lines, and tells how many bytes of whole ones the
// file has now. What it has of the next one is in torn, and is not written
// again unless the file is another one then.
func (l *Log) write(lines []byte) (whole int, err error) {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	n, err := l.file.Write(lines[l.torn:])
	if n += l.torn; n == len(lines) {
		l.torn = 0
		return n, nil
	}
	if err == nil {
		err = io.ErrShortWrite
	}
	whole = bytes.LastIndexByte(lines[:n], '\n') + 1
	l.torn = n - whole
	return whole, err
}

// waitToRetry waits a while, or for another file. It is false when the log is
// closed.
func (l *Log) waitToRetry() bool {
	select {
	case <-l.closing:
		return false
	case <-l.opened:
	case <-time.After(l.retry):
	}
	return true
}

// cutTail takes the last bytes off a file that is one.
func cutTail(file io.Writer, n int) {
	f, ok := file.(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		_ = f.Truncate(info.Size() - int64(n)) // else it ends in half a line
	}
}
