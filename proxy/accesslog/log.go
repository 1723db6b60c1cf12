package accesslog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Options of a Log. Zero means the default.
type Options struct {
	File   string // to append to; "-": standard error
	Format string // "json" or "combined"; json
	// Buffer is about how many bytes of lines may wait to be written, and 64 KB
	// more for each sink; 4 MB.
	Buffer int
	// OnError is told, on the log's goroutine, of an error of writing: of the
	// first, and of none until writing has gone well again. It must not call the
	// log.
	OnError func(error)
}

const (
	defaultBuffer = 4 << 20
	maxSinks      = 1024 // no machine has as many processors
	retryAfter    = time.Second
	closeWait     = 5 * time.Second
)

// Log is a file with a goroutine that writes it.
type Log struct {
	format  format
	onError func(error)
	open    func() (io.WriteCloser, error)
	retry   time.Duration // between attempts to write
	patient time.Duration // how long Close waits

	full, free chan *buffer // each has room for all
	made, most atomic.Int64 // buffers there are, and may be

	mu     sync.Mutex // guards sinks and closed
	sinks  []*Sink
	closed bool

	fileMu  sync.Mutex // held while the file is written, and exchanged
	file    io.WriteCloser
	torn    int           // bytes at the file's end of a line that is not whole
	opened  chan struct{} // a new file is there; holds one
	closing chan struct{}
	ended   chan struct{}

	written, lost, failures atomic.Uint64
}

// Open opens the log's file, and creates it if need be.
func Open(o Options) (*Log, error) {
	open := func() (io.WriteCloser, error) {
		// Not to block: a pipe that nobody reads is an error, and not a wait.
		return os.OpenFile(o.File, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o640)
	}
	switch o.File {
	case "":
		return nil, errors.New("access log: the file's name is empty")
	case "-":
		open = func() (io.WriteCloser, error) { return stderr{os.Stderr}, nil }
	}
	return newLog(o, open, retryAfter, closeWait)
}

// stderr stays open.
type stderr struct{ io.Writer }

func (stderr) Close() error { return nil }

func newLog(o Options, open func() (io.WriteCloser, error), retry, patient time.Duration) (*Log, error) {
	format, err := formatOf(o.Format)
	if err != nil {
		return nil, err
	}
	file, err := open()
	if err != nil {
		return nil, fmt.Errorf("access log: %w", err)
	}
	if o.Buffer <= 0 {
		o.Buffer = defaultBuffer
	}
	most := max(o.Buffer/bufferSize, 1)
	l := &Log{
		format: format, onError: o.OnError, open: open, retry: retry, patient: patient, file: file,
		full: make(chan *buffer, most+maxSinks), free: make(chan *buffer, most+maxSinks),
		opened: make(chan struct{}, 1), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	l.most.Store(int64(most))
	go l.run()
	return l, nil
}

// NewSink returns a sink for one thread. It lives as long as the log.
func (l *Log) NewSink() *Sink {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sinks) == maxSinks {
		panic(fmt.Sprintf("accesslog: more than %d sinks", maxSinks))
	}
	s := &Sink{log: l}
	l.sinks = append(l.sinks, s)
	l.most.Add(1) // who fills a buffer slowly takes none away from the others
	return s
}

// Stats counts lines, but for Errors.
type Stats struct {
	Written uint64
	Dropped uint64 // for want of memory, or left when the log was closed
	Errors  uint64 // attempts to write that failed
}

// Stats may be called from anywhere.
func (l *Log) Stats() Stats {
	s := Stats{Written: l.written.Load(), Dropped: l.lost.Load(), Errors: l.failures.Load()}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.sinks {
		s.Dropped += k.dropped.Load()
	}
	return s
}

// Reopen opens the file by its name again, after it was moved away. If that
// fails, the log goes on with the old one. Every line is whole in one of the
// two. It waits for a write under way.
func (l *Log) Reopen() error {
	file, err := l.open()
	if err != nil {
		return fmt.Errorf("access log: %w", err)
	}
	l.fileMu.Lock()
	old := l.file
	l.file = file
	if l.torn > 0 { // the whole line goes to the new file
		cutTail(old, l.torn)
		l.torn = 0
	}
	l.fileMu.Unlock()
	select {
	case l.opened <- struct{}{}:
	default:
	}
	if err := old.Close(); err != nil {
		return fmt.Errorf("access log: %w", err)
	}
	return nil
}

// Close writes what is there, for 5 s at most, and closes the file. No sink may
// be in use any more.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	for _, s := range l.sinks {
		s.Flush()
	}
	close(l.closing)
	close(l.full)
	select {
	case <-l.ended:
	case <-time.After(l.patient):
		return errors.New("access log: the last lines could not be written: the file does not take them")
	}
	var err error
	if n := l.lost.Load(); n > 0 {
		err = fmt.Errorf("access log: %d lines could not be written", n)
	}
	return errors.Join(err, l.file.Close())
}
