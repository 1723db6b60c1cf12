package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"redoubt/store"
)

// Adder takes the records of a load into a store. Each worker of a load has an
// Adder of its own, which it uses from one goroutine at a time, beside the
// other workers' Adders. The strings of a record are valid during the call
// only. Visits come after the last user and location was added.
type Adder interface {
	AddUser(*store.User) error
	AddLocation(*store.Location) error
	AddVisit(*store.Visit) error
}

// Progress is how far a load is.
type Progress struct {
	Bytes, TotalBytes int64 // uncompressed
	Records           int64
	TotalRecords      int64 // estimated, as Source.Counts is
}

// Stats is what a load did.
type Stats struct {
	Records Counts
	Bytes   int64 // uncompressed
	Elapsed time.Duration
	// The whole process's time on CPUs meanwhile; zero on systems that do not
	// tell. First touch of fresh memory shows as System.
	User, System time.Duration
}

// RecordError says which record of a file could not be loaded, and why.
type RecordError struct {
	File   string // users_3.json, or data.zip:users_3.json
	Record int    // from 1
	ID     uint32 // of the record, if HasID
	HasID  bool
	Err    error // an *Error, or what the Adder returned
}

func (e *RecordError) Error() string {
	var id string
	if e.HasID {
		id = fmt.Sprintf(" (id %d)", e.ID)
	}
	return fmt.Sprintf("%s: record %d%s: %v", e.File, e.Record, id, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

const (
	// progressEvery is the pause between two calls of a load's progress.
	progressEvery = 250 * time.Millisecond

	// checkEvery is how many records a worker adds before it looks whether
	// the load goes on.
	checkEvery = 4096
)

// Load reads all files and adds their records to a store, in parallel by
// that many workers (0: one for each CPU that Go may use), of which each gets
// an Adder from newAdder, called before the work begins. All users and
// locations are added before the first visit.
//
// progress, if not nil, is called from Load's own goroutine about four times
// a second, and at the end of a load that went well.
//
// The first error ends the load; where several files are malformed, it is the
// first one's. If ctx ends, so does the load, with ctx's error. What was added
// until then stays in the store, which is of no use any more.
func (s *Source) Load(ctx context.Context, newAdder func() Adder, workers int, progress func(Progress)) (Stats, error) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	begin := time.Now()
	user, system := cpuTime()
	l := &load{source: s, ctx: ctx}
	all := make([]*worker, min(workers, len(s.files)))
	for i := range all {
		all[i] = &worker{load: l, adder: newAdder(), text: make([]byte, 0, s.largest())}
	}
	firstVisits := len(s.files)
	for i, f := range s.files {
		if f.kind == visits {
			firstVisits = i
			break
		}
	}
	for _, end := range []int{firstVisits, len(s.files)} {
		if err := l.stage(all, end, progress); err != nil {
			return Stats{}, err
		}
	}
	stats := Stats{Bytes: l.bytes.Load(), Elapsed: time.Since(begin)}
	for _, w := range all {
		for k := users; k < kinds; k++ {
			*stats.Records.of(k) += *w.records.of(k)
		}
	}
	if progress != nil {
		progress(l.progress())
	}
	userNow, systemNow := cpuTime()
	stats.User, stats.System = userNow-user, systemNow-system
	return stats, nil
}

// load is what the workers of a load share.
type load struct {
	source  *Source
	ctx     context.Context
	next    atomic.Int64 // the first file that no worker has taken yet
	bytes   atomic.Int64
	records atomic.Int64

	// failed is the number of the first file with an error; files before it
	// are still read to their end, as they may have one too.
	failed atomic.Int64
	mu     sync.Mutex
	err    error // of file failed
}

// errStopped ends the work on a file when an earlier one had an error.
var errStopped = errors.New("the load has ended")

// stage loads the files from l.next up to end, and returns when all workers
// are done.
func (l *load) stage(workers []*worker, end int, progress func(Progress)) error {
	l.failed.Store(int64(end))
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			for {
				n := l.next.Load()
				if n >= l.failed.Load() {
					return
				}
				if !l.next.CompareAndSwap(n, n+1) {
					continue
				}
				if err := w.file(&l.source.files[n], n); err != nil && err != errStopped {
					l.fail(n, err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	ticks := time.NewTicker(progressEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if progress != nil {
				progress(l.progress())
			}
		case <-done:
			return l.err
		}
	}
}

// fail notes the error of file n.
func (l *load) fail(n int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < l.failed.Load() {
		l.failed.Store(n)
		l.err = err
	}
}

func (l *load) progress() Progress {
	return Progress{
		Bytes: l.bytes.Load(), TotalBytes: l.source.bytes,
		Records: l.records.Load(), TotalRecords: int64(l.source.counts.All()),
	}
}

// worker loads one file after the other.
type worker struct {
	load    *load
	adder   Adder
	records Counts
	text    []byte // of the file, used again for the next
	unzip   unzipper
	reader  Reader

	// The record at hand. Here, as locals that are passed to an Adder would
	// be allocated for each file.
	user     store.User
	location store.Location
	visit    store.Visit
}

// file loads file f, which is number n.
func (w *worker) file(f *file, n int64) error {
	if err := w.load.ctx.Err(); err != nil {
		return err
	}
	text, err := w.read(f)
	if err != nil {
		return err
	}
	i, more := w.reader.begin(text, f.kind)
	records, counted, countedBytes := 0, 0, 0
	for more {
		if i, err = w.record(f.kind, text, i); err != nil {
			return w.recordError(f, records+1, err)
		}
		records++
		if records%checkEvery == 0 {
			w.load.records.Add(int64(records - counted))
			w.load.bytes.Add(int64(i - countedBytes))
			counted, countedBytes = records, i
			if err := w.load.ctx.Err(); err != nil {
				return err
			}
			if w.load.failed.Load() < n {
				return errStopped
			}
		}
		i, more = w.reader.after(text, i)
	}
	if i < 0 {
		fault := w.reader.fault
		return fmt.Errorf("%s: %w", f.name, &fault)
	}
	w.load.records.Add(int64(records - counted))
	w.load.bytes.Add(int64(len(text) - countedBytes))
	*w.records.of(f.kind) += records
	return nil
}

// read returns all of a file, valid until the next call.
func (w *worker) read(f *file) ([]byte, error) {
	if f.size > maxFile {
		return nil, fmt.Errorf("%s: has %d bytes; one file may have %d", f.name, f.size, maxFile)
	}
	var text []byte
	var err error
	if f.entry != nil {
		text, err = w.unzip.read(w.load.source.zip, f.entry, w.text, f.size)
	} else {
		text, err = readFile(f.path, w.text, f.size)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	w.text = text
	return text, nil
}

// readFile reads a file of that size into buf, which grows as needed.
func readFile(path string, buf []byte, size int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// One byte more than the size shows whether the file has grown.
	buf = atLeast(buf, size+1)
	n, err := io.ReadFull(f, buf)
	if err == nil || int64(n) != size {
		return nil, fmt.Errorf("its size has changed from %d bytes while it was read", size)
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return buf[:n], nil
}

// record reads the record at i, adds it and returns the position after it.
func (w *worker) record(k kind, text []byte, i int) (int, error) {
	var has, whole store.Fields
	switch k {
	case users:
		i = w.reader.user(text, i, &w.user)
		has, whole = w.user.Has, store.WholeUser
	case locations:
		i = w.reader.location(text, i, &w.location)
		has, whole = w.location.Has, store.WholeLocation
	case visits:
		i = w.reader.visit(text, i, &w.visit)
		has, whole = w.visit.Has, store.WholeVisit
	}
	if i < 0 {
		fault := w.reader.fault
		return i, &fault
	}
	if has != whole {
		return i, errors.New("lacks " + strings.Join(missing(k, has), ", "))
	}
	switch k {
	case users:
		return i, w.adder.AddUser(&w.user)
	case locations:
		return i, w.adder.AddLocation(&w.location)
	}
	return i, w.adder.AddVisit(&w.visit)
}

// recordError wraps the error of record number n, which is the one at hand.
func (w *worker) recordError(f *file, n int, err error) error {
	e := &RecordError{File: f.name, Record: n, Err: err}
	var has store.Fields
	switch f.kind {
	case users:
		e.ID, has = w.user.ID, w.user.Has
	case locations:
		e.ID, has = w.location.ID, w.location.Has
	case visits:
		e.ID, has = w.visit.ID, w.visit.Has
	}
	var fault *Error
	if errors.As(err, &fault) && fault.Field == "id" {
		has = 0
	}
	if e.HasID = has&store.ID != 0; !e.HasID {
		e.ID = 0
	}
	// What the store refuses a record for is told with the value at fault.
	switch {
	case errors.Is(err, store.ErrEmailTaken):
		e.Err = fmt.Errorf("%w: %q", err, w.user.Email)
	case errors.Is(err, store.ErrNoUser):
		e.Err = fmt.Errorf("%w: user %d", err, w.visit.User)
	case errors.Is(err, store.ErrNoLocation):
		e.Err = fmt.Errorf("%w: location %d", err, w.visit.Location)
	}
	return e
}

// missing returns the names of the fields that has lacks.
func missing(k kind, has store.Fields) []string {
	var names []string
	for _, f := range fieldNames[k] {
		if has&f.field == 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// begin reads the start of a file, {"users":[ for users, and returns the
// position of its first record, or what after does if there is none.
func (r *Reader) begin(src []byte, k kind) (pos int, more bool) {
	i, more := r.open(src, space(src, 0))
	if i >= 0 && !more {
		return r.fail(i-1, "expected a field "+strconv.Quote(k.String())), false
	}
	if i < 0 {
		return i, false
	}
	start := i
	name, i := r.key(src, i)
	if i < 0 {
		return i, false
	}
	i = space(src, i)
	if string(name) != k.String() {
		return r.fail(start, fmt.Sprintf("the file's name promises a field %q, not %q", k, name)), false
	}
	if i >= len(src) || src[i] != '[' {
		return r.fail(i, "expected an array"), false
	}
	i = space(src, i+1)
	if i < len(src) && src[i] == ']' {
		return r.end(src, i+1), false
	}
	return i, true
}

// after goes on after a record that ended at i. If another one follows, more
// is true and the position its start; otherwise the file has ended, in good
// order or, for the position -1, not.
func (r *Reader) after(src []byte, i int) (pos int, more bool) {
	if i = space(src, i); i < len(src) {
		switch src[i] {
		case ',':
			return space(src, i+1), true
		case ']':
			return r.end(src, i+1), false
		}
	}
	return r.fail(i, "expected a comma or the array's end"), false
}

// end ends a file whose array ended at i.
func (r *Reader) end(src []byte, i int) int {
	if i = space(src, i); i >= len(src) || src[i] != '}' {
		return r.fail(i, "expected the end of the object")
	}
	if i = space(src, i+1); i < len(src) {
		return r.fail(i, "expected nothing after the object")
	}
	return i
}
