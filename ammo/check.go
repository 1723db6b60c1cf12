package ammo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Errors that end a check because of the server, not of the files. The report
// beside them tells what had been done.
var (
	ErrUnreachable = errors.New("cannot connect")                      // not one connection before the first phase
	ErrGaveUp      = errors.New("too many requests without an answer") // CheckOptions.GiveUp of them in a row
)

// Phase is one part of a check: an ammo file and the answers to it.
type Phase struct {
	Name    string // for the report
	Ammo    string // path of a request-style ammo file, plain or gzip
	Answers string // path of its answers
	InOrder bool   // each request waits for the answer before: phases that write
}

// TravelsPhases are the contest's three phases under dir: ammo/NAME.ammo and
// answers/NAME.answ. The second writes, so it runs in order.
func TravelsPhases(dir string) []Phase {
	var phases []Phase
	for _, name := range []string{"phase_1_get", "phase_2_post", "phase_3_get"} {
		phases = append(phases, Phase{
			Name:    name,
			Ammo:    filepath.Join(dir, "ammo", name+".ammo"),
			Answers: filepath.Join(dir, "answers", name+".answ"),
			InOrder: name == "phase_2_post",
		})
	}
	return phases
}

// CheckOptions say what to check and how. Zero values are replaced by the
// defaults named here.
type CheckOptions struct {
	Target      string         // HOST:PORT
	Phases      []Phase        // run one after another
	Connections int            // of a phase that is not in order; 8
	Timeout     time.Duration  // of one request: connecting, sending and the whole answer; 2 s
	Wait        time.Duration  // how long to wait for a server that does not listen yet; 0 is not at all
	MaxBody     int            // of an answer, in bytes; 16 MB
	Show        int            // differences to keep in the report; 10, negative for none
	GiveUp      int            // end after so many requests in a row without an answer in time; 20, negative for never
	Progress    func(Progress) // called on Check's goroutine, at most ten times a second and at the end of each phase; may be nil
}

// Progress is how far a check has come.
type Progress struct {
	Phase        string
	Asked, Wrong int     // in this phase
	Done         float64 // of this phase, from 0 to 1, by the bytes of its ammo
}

// Report is the outcome of a check.
type Report struct {
	Target      string        `json:"target"`
	Asked       int           `json:"asked"`
	Wrong       int           `json:"wrong"`
	Phases      []PhaseReport `json:"phases"`
	Differences []Difference  `json:"differences"` // the first of them, in order of the files
}

// PhaseReport counts the answers of one phase. Complete is false if the check
// ended before all of it had been asked.
type PhaseReport struct {
	Name     string  `json:"name"`
	Asked    int     `json:"asked"`
	Wrong    int     `json:"wrong"`
	Seconds  float64 `json:"seconds"`
	Complete bool    `json:"complete"`
}

// Difference is one wrong or missing answer. Texts are decoded for reading
// (see Decoded) and cut to about a thousand bytes each.
type Difference struct {
	Phase       string `json:"phase,omitempty"`
	Shot        *int64 `json:"shot,omitempty"` // of a run, from 0
	Record      int    `json:"record"`         // in the ammo file, from 1
	Tag         string `json:"tag,omitempty"`
	Request     string `json:"request"`                // the request line
	RequestBody string `json:"request_body,omitempty"` // with what stands beyond Content-Length
	Reason      string `json:"reason"`
	GotStatus   int    `json:"got_status,omitempty"` // 0: no answer
	WantStatus  int    `json:"want_status"`
	Got         string `json:"got,omitempty"`
	Want        string `json:"want,omitempty"`
}

const shownBytes = 1000

// Check fires the exact bytes of each record at the target and compares every
// answer: the status, and where one is expected the body by CompareJSON. An
// answer of 200 must carry Content-Type: application/json and Content-Length;
// an error must have an empty body. A missing, late, cut or malformed answer is
// a difference like any other.
//
// A phase's requests go over several connections at once unless it is InOrder.
// Connections are kept or closed as each record says.
//
// The error is ErrUnreachable or ErrGaveUp (wrapped), the context's, or tells
// what is wrong with the files: a *SyntaxError, or one of package os. The
// report holds what was done until then. Differences alone are no error.
func Check(ctx context.Context, opts CheckOptions) (Report, error) {
	opts = opts.withDefaults()
	report := Report{Target: opts.Target, Differences: []Difference{}}
	for _, phase := range opts.Phases { // before the first shot, not in the middle
		for _, path := range []string{phase.Ammo, phase.Answers} {
			if _, err := os.Stat(path); err != nil {
				return report, err
			}
		}
	}
	if err := reach(ctx, opts); err != nil {
		return report, err
	}
	for _, phase := range opts.Phases {
		run := phaseRun{opts: opts, phase: phase, room: max(0, opts.Show-len(report.Differences))}
		err := run.run(ctx)
		report.Phases = append(report.Phases, run.report)
		report.Asked += run.report.Asked
		report.Wrong += run.report.Wrong
		report.Differences = append(report.Differences, run.differences...)
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

func (o CheckOptions) withDefaults() CheckOptions {
	o.Connections = cmp.Or(max(o.Connections, 0), 8)
	o.Timeout = cmp.Or(max(o.Timeout, 0), 2*time.Second)
	o.MaxBody = cmp.Or(max(o.MaxBody, 0), 16<<20)
	o.Show = cmp.Or(o.Show, 10)
	o.GiveUp = cmp.Or(o.GiveUp, 20)
	return o
}

// phaseRun is one phase under way. Its reader, askers and collector are
// goroutines joined by channels; counters belong to the collector.
type phaseRun struct {
	opts        CheckOptions
	phase       Phase
	room        int // for differences
	report      PhaseReport
	differences []Difference
	reached     float64 // how far into the ammo file the answered records lie, from 0 to 1
}

// shot is a record and its answer on their way through an asker, in a buffer
// of their own. Shots are reused.
type shot struct {
	record     Record
	answer     Answer
	buf        []byte
	reached    float64     // what File.Progress says behind the record
	wrong      *Difference // set by the asker; nil if the answer is right
	unanswered bool        // not one byte came back, or not the whole in time
	canceled   bool        // the check ended meanwhile: do not count
}

func (p *phaseRun) run(ctx context.Context) error {
	start := time.Now()
	p.report.Name = p.phase.Name
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	askers := p.opts.Connections
	if p.phase.InOrder {
		askers = 1
	}
	todo, done := make(chan *shot), make(chan *shot)
	free := make(chan *shot, 2*askers)
	for range cap(free) {
		free <- new(shot)
	}
	var readError error // read after done is closed
	var working sync.WaitGroup
	working.Go(func() {
		defer close(todo)
		readError = p.read(ctx, free, todo)
	})
	for range askers {
		working.Go(func() {
			c := newClient(p.opts)
			defer c.close()
			for s := range todo {
				c.try(ctx, s, p.phase.Name)
				done <- s
			}
		})
	}
	go func() {
		working.Wait()
		close(done)
	}()
	p.collect(done, free, cancel)

	p.report.Seconds = time.Since(start).Seconds()
	p.report.Complete = ctx.Err() == nil && readError == nil
	p.progress()
	if ctx.Err() != nil { // before readError: the reader stops because of it
		return context.Cause(ctx)
	}
	return readError
}

// collect counts what the askers have done, until they end.
func (p *phaseRun) collect(done <-chan *shot, free chan<- *shot, cancel context.CancelCauseFunc) {
	told := time.Now()
	silent := 0
	for s := range done {
		if !s.canceled {
			p.count(s)
			silent++
			if !s.unanswered {
				silent = 0
			}
			if silent == p.opts.GiveUp {
				cancel(fmt.Errorf("%w: %d in a row, the last: %s", ErrGaveUp, silent, s.wrong.Reason))
			}
		}
		free <- s
		if time.Since(told) >= 100*time.Millisecond {
			told = time.Now()
			p.progress()
		}
	}
}

func (p *phaseRun) count(s *shot) {
	p.report.Asked++
	p.reached = max(p.reached, s.reached)
	if s.wrong == nil {
		return
	}
	p.report.Wrong++
	// Shots come back in any order; those kept are the first of the file.
	at, _ := slices.BinarySearchFunc(p.differences, s.wrong.Record, func(d Difference, record int) int {
		return cmp.Compare(d.Record, record)
	})
	if at < p.room {
		p.differences = slices.Insert(p.differences, at, *s.wrong)
		p.differences = p.differences[:min(len(p.differences), p.room)]
	}
}

func (p *phaseRun) progress() {
	if p.opts.Progress == nil {
		return
	}
	done := p.reached
	if p.report.Complete {
		done = 1
	}
	p.opts.Progress(Progress{p.phase.Name, p.report.Asked, p.report.Wrong, done})
}

// read pairs records with answers and sends them to the askers.
func (p *phaseRun) read(ctx context.Context, free <-chan *shot, todo chan<- *shot) error {
	pairs, err := OpenPaired(p.phase.Ammo, p.phase.Answers)
	if err != nil {
		return err
	}
	defer pairs.Close()
	for {
		record, err := pairs.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var s *shot
		select {
		case s = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		s.set(record, pairs.Answer())
		s.reached = pairs.Progress()
		select {
		case todo <- s:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// set copies a record and its answer into s, over what it held before.
func (s *shot) set(record Record, answer Answer) {
	size := len(record.Tag) + len(record.Bytes) + len(answer.Body)
	s.buf = slices.Grow(s.buf[:0], size)
	s.record, s.buf = record.AppendTo(s.buf)
	s.buf = append(s.buf, answer.Body...)
	s.answer = answer
	s.answer.Body = s.buf[len(s.buf)-len(answer.Body):]
	// Both are in the record already: see Paired.
	s.answer.Method, s.answer.Target = s.record.MethodTarget()
	s.wrong, s.unanswered, s.canceled = nil, false, false
}
