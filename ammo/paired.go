package ammo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Paired is an ammo file beside a file of answers, which has a line for each
// of its records.
type Paired struct {
	*File
	source  *os.File
	answers *AnswersReader
	answer  Answer
}

// OpenPaired opens an ammo file, as Open does, and the file of its answers.
func OpenPaired(ammo, answers string) (*Paired, error) {
	records, err := Open(ammo)
	if err != nil {
		return nil, err
	}
	source, err := os.Open(answers)
	if err == nil {
		if stat, e := source.Stat(); e == nil && stat.IsDir() {
			source.Close()
			err = &os.PathError{Op: "open", Path: answers, Err: syscall.EISDIR}
		}
	}
	if err != nil {
		records.Close()
		return nil, err
	}
	return &Paired{File: records, source: source, answers: NewAnswersReader(source, answers, 0)}, nil
}

// Next returns the next record as File.Next does. That its answer is another
// request's, or missing, is a *SyntaxError.
func (p *Paired) Next() (Record, error) {
	record, noRecord := p.File.Next()
	answer, noAnswer := p.answers.Next()
	switch {
	case noRecord != nil && noRecord != io.EOF:
		return Record{}, noRecord
	case noAnswer != nil && noAnswer != io.EOF:
		return Record{}, noAnswer
	case noRecord != nil && noAnswer != nil:
		return Record{}, io.EOF
	}
	p.answer = answer
	return record, p.match(record, answer, noRecord, noAnswer)
}

// Answer is what is expected to the record that Next returned last. Its slices
// are valid as long as the record's.
func (p *Paired) Answer() Answer { return p.answer }

// match makes sure that the two files belong together: the request line of each
// record is the one its answer names.
func (p *Paired) match(record Record, answer Answer, noRecord, noAnswer error) error {
	method, target := record.MethodTarget()
	bad := SyntaxError{File: p.answers.file, Record: answer.Number, Offset: p.answers.begin,
		Want: fmt.Sprintf("the answer to %s (record %d of %s)", excerpt(record.Line()), record.Number, p.Name())}
	switch {
	case noAnswer != nil:
		bad.Record, bad.Got = p.answers.number+1, "the end of the file"
	case noRecord != nil:
		bad.Want = "the end of the file, as in " + p.Name()
		bad.Got = fmt.Sprintf("one more answer, to %s %s", answer.Method, excerpt(answer.Target))
	case string(method) != string(answer.Method) || string(target) != string(answer.Target):
		bad.Got = fmt.Sprintf("that to %s %s", answer.Method, excerpt(answer.Target))
	default:
		return nil
	}
	return &bad
}

// Rewind begins the next pass over both files.
func (p *Paired) Rewind() error {
	if err := p.File.Rewind(); err != nil {
		return err
	}
	if _, err := p.source.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("%s cannot be read a second time: %w", p.answers.file, err)
	}
	p.answers.Reset(p.source)
	return nil
}

// Close closes both files.
func (p *Paired) Close() error { return errors.Join(p.File.Close(), p.source.Close()) }
