package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Options is what options.txt says of a data set.
type Options struct {
	// Now is when the set was made, in Unix seconds: ages are counted from
	// it and never from the clock.
	Now int64
	// Rating is true for a set of the contest's rating runs (line 2 is 1),
	// false for one of the training runs (0).
	Rating bool
	// FromClock is true where there was no options.txt and Now is the clock.
	// Answers then depend on the day: a reason to warn.
	FromClock bool
}

const (
	optionsName = "options.txt"
	maxOptions  = 1024 // bytes; two lines need 22

	// now lies in the years 1 to 9999, where calendar dates have four digits.
	minNow = -62135596800
	maxNow = 253402300799
)

// ReadOptions reads an options.txt at path. If there is none, the error is
// fs.ErrNotExist.
func ReadOptions(path string) (Options, error) {
	f, err := openRegular(path)
	if err != nil {
		return Options{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxOptions+1))
	if err != nil {
		return Options{}, err
	}
	return parseOptions(path, text)
}

// optionsBeside reads the options.txt in folder dir, or else takes inside,
// what a data.zip holds; without both the clock.
func optionsBeside(path string, inside *Options) (Options, error) {
	opts, err := ReadOptions(path)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return opts, err
	case inside != nil:
		return *inside, nil
	}
	return Options{Now: time.Now().Unix(), FromClock: true}, nil
}

// parseOptions reads the text of an options.txt: two lines, of which the last
// may or may not be ended. Lines may end in CR LF. name is for errors.
func parseOptions(name string, text []byte) (Options, error) {
	if len(text) > maxOptions {
		return Options{}, fmt.Errorf("%s: over %d bytes long; expected two lines, now in Unix seconds and 0 or 1", name, maxOptions)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	now, err := strconv.ParseInt(lines[0], 10, 64)
	if err != nil || now < minNow || now > maxNow || strconv.FormatInt(now, 10) != lines[0] {
		return Options{}, fmt.Errorf("%s:1: %q is not a time in Unix seconds", name, lines[0])
	}
	if len(lines) < 2 {
		return Options{}, fmt.Errorf("%s:2: missing; expected 0 (training) or 1 (rating)", name)
	}
	if lines[1] != "0" && lines[1] != "1" {
		return Options{}, fmt.Errorf("%s:2: %q, expected 0 (training) or 1 (rating)", name, lines[1])
	}
	if len(lines) > 2 {
		return Options{}, fmt.Errorf("%s:3: expected two lines only", name)
	}
	return Options{Now: now, Rating: lines[1] == "1"}, nil
}
