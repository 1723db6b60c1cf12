package data

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kind is one of the three entities, in the order they are loaded.
type kind uint8

const (
	users kind = iota
	locations
	visits
	kinds = 3
)

// String returns the entity's name in paths, files and their names.
func (k kind) String() string {
	return [kinds]string{"users", "locations", "visits"}[k]
}

// file is one file of records, in a folder or inside of its data.zip.
type file struct {
	kind kind
	name string // for errors: users_3.json, data.zip:users_3.json
	size int64  // uncompressed

	path  string    // where it is, unless
	entry *zipEntry // it is inside of the zip
}

// Counts is a number of records of each kind.
type Counts struct {
	Users, Locations, Visits int
}

// All returns the number of all records.
func (c Counts) All() int { return c.Users + c.Locations + c.Visits }

// of returns the count of kind k.
func (c *Counts) of(k kind) *int {
	return [kinds]*int{&c.Users, &c.Locations, &c.Visits}[k]
}

// Source is a data set that was found in a folder and may be loaded from it.
// It holds the folder's data.zip open, if there is one.
type Source struct {
	dir     string
	zip     *os.File
	files   []file // in the order of their kinds
	options Options
	counts  Counts
	bytes   int64
}

const zipName = "data.zip"

// Open looks at folder dir. It takes the files of records from its data.zip,
// or else, where there is no such file, users_*.json, locations_*.json and
// visits_*.json from the folder itself; others are ignored. The options come
// from options.txt in the folder, or else from the one in data.zip, or else
// from the clock. Records are not read, but for samples.
//
// The errors are for people: they name the file and what is wrong with it.
// The caller closes the Source.
func Open(dir string) (*Source, error) {
	s := &Source{dir: dir}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open() error {
	if info, err := os.Stat(s.dir); err != nil {
		return fmt.Errorf("%w; %s", err, wayOut)
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder; expected the one that holds %s or the JSON files", s.dir, zipName)
	}
	var inside *Options
	path := filepath.Join(s.dir, zipName)
	f, err := openRegular(path)
	switch {
	case err == nil:
		s.zip = f
		s.files, inside, err = listZip(f, path)
	case errors.Is(err, fs.ErrNotExist):
		s.files, err = listFolder(s.dir)
	}
	if err != nil {
		return err
	}
	if len(s.files) == 0 && s.zip != nil {
		return fmt.Errorf("%s holds no users_*.json, locations_*.json or visits_*.json; %s", path, wayOut)
	}
	if len(s.files) == 0 {
		if inner := filepath.Join(s.dir, "data"); holdsSet(inner) {
			return fmt.Errorf("%s holds no data files, but %s does: is that the folder you mean?", s.dir, inner)
		}
		return fmt.Errorf("%s holds no %s and no users_*.json, locations_*.json or visits_*.json; %s", s.dir, zipName, wayOut)
	}
	slices.SortFunc(s.files, func(a, b file) int {
		// Shorter names first, so that users_2 comes before users_10.
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	for i := range s.files {
		s.bytes += s.files[i].size
	}
	if s.options, err = optionsBeside(filepath.Join(s.dir, optionsName), inside); err != nil {
		return err
	}
	s.counts = s.estimate()
	return nil
}

const wayOut = "redoubt gen --out DIR makes a data set, in DIR/data"

// holdsSet tells whether a folder has files of a data set.
func holdsSet(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, zipName)); err == nil {
		return true
	}
	files, err := listFolder(dir)
	return err == nil && len(files) > 0
}

// openRegular opens a file, but nothing that only looks like one: to open a
// pipe could take for ever.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}

// Close closes what Open opened. A load must have ended.
func (s *Source) Close() error {
	if s.zip == nil {
		return nil
	}
	return s.zip.Close()
}

// Options returns what options.txt says.
func (s *Source) Options() Options { return s.options }

// Counts returns how many records of each kind there are, estimated from the
// files' sizes and samples of their records (up to three of 64 KB for each
// kind). For the contest's training set it is 0.1 % off; for a single
// file up to 2 %, as the first ids are the shortest; and it is exact where the
// samples are all there is. Records of uneven length make it worse, without
// bound: it is for sizing memory that can grow.
func (s *Source) Counts() Counts { return s.counts }

// Bytes returns the size of all files of records, uncompressed.
func (s *Source) Bytes() int64 { return s.bytes }

// Buffers returns about how many bytes of memory a load by that many workers
// takes for files, beside what it fills.
func (s *Source) Buffers(workers int) int64 {
	return 2 * int64(min(workers, len(s.files))) * s.largest() // a file's text, and less for the same compressed
}

// largest returns how long a worker's buffer should be to hold any file, so
// that it seldom grows: the largest file's size, within reason.
func (s *Source) largest() int64 {
	const reason = 64 << 20
	var size int64
	for i := range s.files {
		size = max(size, s.files[i].size+1) // one byte more than the file, for readFile
	}
	return min(size, reason)
}

// listFolder returns the files of records in a folder.
func listFolder(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		k, ok := kindOfFile(e.Name())
		if !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // follows links, which mounted volumes are made of
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is not a regular file", path)
		}
		files = append(files, file{kind: k, name: e.Name(), size: info.Size(), path: path})
	}
	return files, nil
}

// kindOfFile says which records a file of this name holds.
func kindOfFile(name string) (k kind, ok bool) {
	for k := users; k < kinds; k++ {
		if strings.HasPrefix(name, k.String()+"_") && strings.HasSuffix(name, ".json") {
			return k, true
		}
	}
	return 0, false
}
