package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LoadDir reads a data folder: options.txt, then users_N.json, locations_N.json
// and visits_N.json for N = 1, 2, ... Every record must be one that POST
// /<entity>/new would accept. Errors name the file and the record, counted
// from 1.
func LoadDir(dir string) (*Model, error) {
	now, err := readNow(filepath.Join(dir, "options.txt"))
	if err != nil {
		return nil, err
	}
	m := New(now)
	for _, entity := range []string{"users", "locations", "visits"} {
		for n := 1; ; n++ {
			err := m.loadFile(filepath.Join(dir, fmt.Sprintf("%s_%d.json", entity, n)), entity)
			if errors.Is(err, fs.ErrNotExist) && n > 1 {
				break
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// readNow reads the first line of options.txt: seconds since 1970.
func readNow(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	now, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: line 1: want seconds since 1970, got %q", path, line)
	}
	return now, nil
}

func (m *Model) loadFile(path, entity string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if n, err := m.load(bufio.NewReaderSize(f, 1<<16), entity); err != nil {
		return fmt.Errorf("%s: record %d: %w", path, n, err)
	}
	return nil
}

// load reads {"<entity>": [{...}, ...]}; n is the record it came to, from 1.
func (m *Model) load(r io.Reader, entity string) (n int, err error) {
	dec := json.NewDecoder(r)
	for _, want := range []json.Token{json.Delim('{'), entity, json.Delim('[')} {
		got, err := dec.Token()
		if err != nil {
			return 0, err
		}
		if got != want {
			return 0, fmt.Errorf("want %v, got %v", want, got)
		}
	}
	for n = 1; dec.More(); n++ {
		var record json.RawMessage
		if err := dec.Decode(&record); err != nil {
			return n, err
		}
		if a := m.create(entity, record); a.Status != 200 {
			return n, fmt.Errorf("no new record of %s: %.200s", entity, record)
		}
	}
	for _, want := range []json.Token{json.Delim(']'), json.Delim('}')} {
		got, err := dec.Token()
		if err != nil {
			return n, err
		}
		if got != want {
			return n, fmt.Errorf("want %v, got %v", want, got)
		}
	}
	if _, err := dec.Token(); err != io.EOF {
		return n, errors.New("something follows the end of the JSON")
	}
	return n, nil
}
