package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	markerName  = "generated.json" // says that a folder is ours, and how to make it again
	partialName = ".gen-partial"   // where everything is written before it is put in place
	generator   = "redoubt gen"    // what the marker says
)

// marker is the content of generated.json.
type marker struct {
	Generator string  `json:"generator"`
	Options   Options `json:"options"`
	Summary   Summary `json:"summary"`
}

// folder is the target of one run. Files are written under partial and moved
// to their places by install, so that a run that fails leaves what was there.
type folder struct {
	dir, partial string
	created      bool // by us: removed again on failure
}

// ErrNotOurs refuses to write into a folder that holds something else.
var ErrNotOurs = errors.New("the folder is neither empty nor made by redoubt gen")

// claim makes sure that dir may be written to and prepares the partial folder.
func claim(dir string) (*folder, error) {
	if dir == "" { // to the file system no name is no folder, to a join of paths the current one
		return nil, fmt.Errorf("%w: its name is empty", ErrNotOurs)
	}
	f := &folder{dir: dir, partial: filepath.Join(dir, partialName)}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		f.created = true
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fmt.Errorf("%s: %w: it is not a folder", dir, ErrNotOurs)
	case err != nil:
		return nil, err
	case !ours(dir, entries):
		return nil, fmt.Errorf("%s: %w (it holds %s): name a new folder, or empty this one yourself", dir, ErrNotOurs, entries[0].Name())
	}
	// What a killed run left behind is ours, too.
	if err := os.RemoveAll(f.partial); err != nil {
		return nil, err
	}
	for _, sub := range subfolders() {
		if err := os.MkdirAll(filepath.Join(f.partial, sub), 0o755); err != nil {
			return nil, f.abandon(err)
		}
	}
	return f, nil
}

func subfolders() []string { return []string{"data", "ammo", "answers"} }

// ours reports whether nothing is lost by generating into dir again.
func ours(dir string, entries []os.DirEntry) bool {
	if len(entries) == 0 || len(entries) == 1 && entries[0].Name() == partialName {
		return true
	}
	text, err := os.ReadFile(filepath.Join(dir, markerName))
	var m marker
	return err == nil && json.Unmarshal(text, &m) == nil && m.Generator == generator
}

// path names a file of the partial folder.
func (f *folder) path(parts ...string) string {
	return filepath.Join(append([]string{f.partial}, parts...)...)
}

// install moves the finished files into place over those of an earlier run.
func (f *folder) install(m marker) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return f.abandon(err)
	}
	// The marker goes first: whatever happens from here on, a second run will
	// know the folder for ours and replace all of it.
	if err := os.WriteFile(filepath.Join(f.dir, markerName), append(text, '\n'), 0o644); err != nil {
		return f.abandon(err)
	}
	for _, sub := range subfolders() {
		to := filepath.Join(f.dir, sub)
		if err := os.RemoveAll(to); err != nil {
			return f.halfInstalled(err)
		}
		if err := os.Rename(f.path(sub), to); err != nil {
			return f.halfInstalled(err)
		}
	}
	return os.Remove(f.partial)
}

func (f *folder) halfInstalled(err error) error {
	return fmt.Errorf("%w (%s now holds a mixture of old and new: generate again, or remove it)", err, f.dir)
}

// abandon removes what this run has written and returns err, with what could
// not be removed.
func (f *folder) abandon(err error) error {
	left := os.RemoveAll(f.partial)
	if _, err := os.Lstat(f.partial); errors.Is(err, fs.ErrNotExist) {
		left = nil
	}
	if left == nil && f.created {
		left = os.Remove(f.dir)
	}
	if left != nil {
		return fmt.Errorf("%w (unfinished files are left in %s: %v)", err, f.partial, left)
	}
	return err
}
