package data

import (
	"io"
	"os"

	"redoubt/store"
)

const (
	sampleBytes = 64 << 10 // of a file's start
	samples     = 3        // files of a kind that are looked at
)

// usualSize is a record's size by kind, with the comma and the blank, in the
// contest's files. It is used where no sample can be read.
var usualSize = [kinds]float64{155, 112, 84}

// estimate returns Source.Counts. Of each kind it looks at files in the middle
// of each third, as records grow with their ids. A sample that cannot be read
// tells nothing; the load will say what is wrong with it.
func (s *Source) estimate() Counts {
	var counts Counts
	var t taster
	for k := users; k < kinds; k++ {
		var of []*file
		var size int64
		for i := range s.files {
			if f := &s.files[i]; f.kind == k {
				of = append(of, f)
				size += f.size
			}
		}
		var all sample
		for i, taken := 0, -1; i < samples && len(of) > 0; i++ {
			n := (2*i + 1) * len(of) / (2 * samples)
			if n == taken {
				continue // there are fewer files than samples
			}
			taken = n
			one := t.taste(s.zip, of[n])
			all.records += one.records
			all.bytes += one.bytes
			all.files += one.files
		}
		switch {
		case all.files == len(of):
			*counts.of(k) = all.records
		case all.records > 0:
			*counts.of(k) = int(float64(size) * float64(all.records) / float64(all.bytes))
		default:
			*counts.of(k) = int(float64(size) / usualSize[k])
		}
	}
	return counts
}

// sample is what the start of a file holds.
type sample struct {
	records, bytes int // whole records, and their size with what separates them
	files          int // 1 if that was all of the file
}

// taster takes samples, into buffers it uses again.
type taster struct {
	text   []byte
	unzip  unzipper
	reader Reader
}

func (t *taster) taste(zip *os.File, f *file) (s sample) {
	text, err := t.head(zip, f)
	if err != nil {
		return s
	}
	start, more := t.reader.begin(text, f.kind)
	for i := start; more; {
		switch f.kind {
		case users:
			i = t.reader.user(text, i, new(store.User))
		case locations:
			i = t.reader.location(text, i, new(store.Location))
		case visits:
			i = t.reader.visit(text, i, new(store.Visit))
		}
		if i < 0 {
			return s
		}
		if i, more = t.reader.after(text, i); i < 0 {
			return s
		}
		s.records++
		s.bytes = i - start
	}
	if start >= 0 && int64(len(text)) == f.size {
		s.files = 1
	}
	return s
}

// head returns the first bytes of a file.
func (t *taster) head(zip *os.File, f *file) ([]byte, error) {
	size := min(f.size, sampleBytes)
	if f.entry != nil {
		text, err := t.unzip.head(zip, f.entry, t.text, size)
		t.text = text
		return text, err
	}
	in, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	t.text = atLeast(t.text, size)
	n, err := io.ReadFull(in, t.text)
	return t.text[:n], err
}
