package accesslog

import "sync/atomic"

// buffer is some whole lines.
type buffer struct {
	_     [64]byte // sinks of two threads write to no common cache line
	bytes []byte
	lines int
	_     [64]byte
}

// bufferSize is how many bytes a buffer takes. A line always fits.
const bufferSize = 64 << 10

// Sink takes the entries of one thread. It is not safe for concurrent use.
type Sink struct {
	log     *Log
	current *buffer // nil: none was to be had, or needed
	clock   clock
	dropped atomic.Uint64
}

// Put writes an entry's line, some time after a Flush or when a buffer is full.
// It keeps nothing of e, and never blocks: where memory is full, the line is
// dropped.
func (s *Sink) Put(e *Entry) {
	need := e.bound()
	if s.current != nil && len(s.current.bytes)+need > bufferSize {
		s.Flush()
	}
	if s.current == nil {
		if s.current = s.log.empty(); s.current == nil {
			s.dropped.Add(1)
			return
		}
	}
	s.current.bytes = s.log.format(s.current.bytes, &s.clock, e)
	s.current.lines++
}

// Flush hands what Put has collected to the log's goroutine. It never blocks.
// Who has entries only now and then calls it now and then.
func (s *Sink) Flush() {
	if s.current != nil {
		s.log.full <- s.current // there is room for all buffers
		s.current = nil
	}
}

// empty returns an empty buffer, or nil where all that there may be are full.
func (l *Log) empty() *buffer {
	select {
	case b := <-l.free:
		return b
	default:
	}
	if l.made.Add(1) > l.most.Load() {
		l.made.Add(-1)
		return nil
	}
	return &buffer{bytes: make([]byte, 0, bufferSize)}
}
