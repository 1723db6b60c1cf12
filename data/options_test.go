package data

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseOptions(t *testing.T) {
	accept := func(text string, want Options) {
		t.Helper()
		got, err := parseOptions("options.txt", []byte(text))
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	accept("1503966608\n0", Options{Now: 1503966608}) // as the contest has it
	accept("1503966608\n1\n", Options{Now: 1503966608, Rating: true})
	accept("1503966608\r\n1\r\n", Options{Now: 1503966608, Rating: true})
	accept("-5\n0", Options{Now: -5})
	accept("253402300799\n0", Options{Now: 253402300799})

	refuse := func(text, want string) {
		t.Helper()
		if _, err := parseOptions("options.txt", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s...", text, err, want)
		}
	}
	for _, now := range []string{"", " ", "x", "1.5", "+5", "05", "-0", " 5", "5 ", "1503966608 0", "253402300800", "99999999999999999999", "\ufeff5"} {
		refuse(now+"\n0", "options.txt:1: ")
	}
	refuse("", "options.txt:1: ")
	for _, second := range []string{"", "2", "-1", "00", "true", " 0", "0 "} {
		refuse("5\n"+second, "options.txt:2: ")
		refuse("5\n"+second+"\n", "options.txt:2: ")
	}
	refuse("5", "options.txt:2: missing")
	refuse("5\n", "options.txt:2: missing")
	refuse("5\n0\n\n", "options.txt:3: ")
	refuse("5\n0\nx", "options.txt:3: ")
	refuse(strings.Repeat("1", maxOptions+1), "options.txt: over 1024 bytes")
}

func TestReadOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "options.txt")
	if _, err := ReadOptions(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	before := time.Now().Unix()
	if o, err := optionsBeside(path, nil); err != nil || !o.FromClock || o.Now < before || o.Now > time.Now().Unix() {
		t.Errorf("without a file: %+v, %v", o, err)
	}
	if o, err := optionsBeside(path, &Options{Now: 3}); err != nil || o != (Options{Now: 3}) {
		t.Errorf("with one inside only: %+v, %v", o, err)
	}
	os.WriteFile(path, []byte("7\n1"), 0o666)
	if o, err := ReadOptions(path); err != nil || o != (Options{Now: 7, Rating: true}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := optionsBeside(path, &Options{Now: 3}); err != nil || o.Now != 7 {
		t.Errorf("with both: %+v, %v", o, err)
	}
	os.WriteFile(path, []byte("7\n2"), 0o666)
	if _, err := optionsBeside(path, &Options{Now: 3}); err == nil || !strings.HasPrefix(err.Error(), path+":2: ") {
		t.Errorf("a bad one beside a good one inside: %v", err)
	}
}
