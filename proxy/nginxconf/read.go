package nginxconf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"redoubt/internal/jsonc"
)

// Bounds of what is read: more is a slip, or a circle of files.
const (
	maxDepth = 64   // of blocks and of files that include each other
	maxFiles = 2000 // included
)

// directive is one as it stands in a file.
type directive struct {
	name   string
	args   []string
	block  []*directive
	opened bool // there was a block, maybe an empty one
	file   string
	line   int
	order  int // among all
}

// arg is an argument, or "" where there is none.
func (d *directive) arg(i int) string {
	if i < len(d.args) {
		return d.args[i]
	}
	return ""
}

// String is the directive without its block, as notes name it.
func (d *directive) String() string {
	const most = 100
	text := strings.ReplaceAll(strings.Join(append([]string{d.name}, d.args...), " "), "\n", `\n`)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// files reads a configuration with what it includes.
type files struct {
	main  string // the folder of the first file, where nginx looks for others
	count int
	order int
	note  func(d *directive, text string)
}

// read reads a file.
func (f *files) read(name string, depth int) ([]*directive, error) {
	text, err := jsonc.Read(name) // a file that is no larger than it should be
	if err != nil {
		return nil, err
	}
	return f.parse(name, string(text), depth)
}

// parse reads the text of a file.
func (f *files) parse(name, text string, depth int) ([]*directive, error) {
	w := &words{file: name, text: strings.TrimPrefix(text, "\ufeff")}
	list, err := f.block(w, depth, false)
	return list, err
}

// block reads directives up to the end of a block, or of a file.
func (f *files) block(w *words, depth int, inner bool) (list []*directive, err error) {
	if depth > maxDepth {
		return nil, w.errorf(w.at, "over %d blocks and files in one another: does a file include itself?", maxDepth)
	}
	opened := w.at - 1
	for {
		first, err := w.next()
		if err != nil {
			return nil, err
		}
		switch first.mark {
		case end:
			if inner {
				return nil, w.errorf(opened, "this block is not closed; add }")
			}
			return list, nil
		case '}':
			if !inner {
				return nil, w.errorf(first.at, "} without a block that it could close")
			}
			return list, nil
		case ';', '{':
			return nil, w.errorf(first.at, "want the name of a directive, got %q", first.mark)
		}
		d := &directive{name: first.text, file: w.file, order: f.order}
		d.line, _ = w.place(first.at)
		f.order++
		if err := f.rest(w, d, depth); err != nil {
			return nil, err
		}
		if d.name != "include" || d.opened {
			list = append(list, d)
			continue
		}
		if len(d.args) != 1 {
			return nil, w.errorf(first.at, "include takes one file, or a pattern of files")
		}
		if f.count++; f.count > maxFiles {
			return nil, w.errorf(first.at, "over %d files: does one include itself?", maxFiles)
		}
		included, err := f.include(d, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, included...)
	}
}

// rest reads what follows a directive's name.
func (f *files) rest(w *words, d *directive, depth int) error {
	for {
		next, err := w.next()
		if err != nil {
			return err
		}
		switch next.mark {
		case 0:
			d.args = append(d.args, next.text)
		case ';':
			return nil
		case '{':
			d.opened = true
			if strings.HasSuffix(d.name, "_by_lua_block") {
				return w.skipLua()
			}
			d.block, err = f.block(w, depth+1, true)
			return err
		case '}':
			return w.errorf(next.at, "} in the middle of %s; end it with ;", d.name)
		case end:
			return w.errorf(next.at, "the file ends in the middle of %s; end it with ;", d.name)
		}
	}
}

// include reads what an include names. Files that are not there are told: whoever
// has only a copy of one file gets the rest.
func (f *files) include(d *directive, depth int) (list []*directive, err error) {
	names := f.find(d)
	if len(names) == 0 && !strings.ContainsAny(d.args[0], "*?[") {
		f.note(d, "there is no such file; what it would say is missing here")
	}
	for _, name := range names {
		f.count++
		text, err := jsonc.Read(name)
		if err != nil {
			f.note(d, err.Error()+"; what it would say is missing here")
			continue
		}
		inner, err := f.parse(name, string(text), depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, inner...)
	}
	return list, nil
}

// find is which files an include means. nginx looks in the folder of its main file;
// the others are for those who give a file of sites-enabled, or of conf.d.
func (f *files) find(d *directive) []string {
	pattern := d.args[0]
	if filepath.IsAbs(pattern) {
		return glob(pattern)
	}
	for _, folder := range []string{f.main, filepath.Dir(d.file), filepath.Dir(f.main)} {
		if names := glob(filepath.Join(folder, pattern)); len(names) > 0 {
			return names
		}
	}
	return nil
}

func glob(pattern string) []string {
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		names = []string{pattern}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.IsDir()
	})
	slices.Sort(names)
	return names
}
