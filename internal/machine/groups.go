package machine

import (
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// group is a control group that this process is in, or one above that.
type group struct {
	dir      string // without the root
	version1 bool
}

// groups yields the groups that may limit a controller's resource, with the
// system's files under root: from the process's own up to the root of each
// mount, in version 2, and in version 1 where that has the controller, which is
// then mounted at one of the given places.
//
// In a container the mount often shows only the container's own part of the
// tree, while /proc/self/cgroup gives the path as the host sees it: the lower
// levels are missing then, and the mount's root is the container's group.
func groups(root, controller string, mounts1 ...string) iter.Seq[group] {
	return func(yield func(group) bool) {
		climb := func(mount, own string, version1 bool) bool {
			// Rooted, so that a group outside of the namespace ("/../x") stays below the mount.
			for own = path.Clean("/" + own); ; own = path.Dir(own) {
				if !yield(group{path.Join(mount, own), version1}) {
					return false
				}
				if own == "/" {
					return true
				}
			}
		}
		text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
		for line := range strings.Lines(string(text)) {
			// hierarchy:controllers:path, the hierarchy 0 without controllers for version 2.
			part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
			var mounts []string
			version1 := false
			switch {
			case len(part) < 3:
			case part[0] == "0" && part[1] == "":
				// Beside version 1 controllers, version 2 is mounted apart.
				mounts = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
			case hasWord(part[1], controller):
				mounts, version1 = mounts1, true
			}
			for _, mount := range mounts {
				if !climb(mount, part[2], version1) {
					return
				}
			}
		}
	}
}
