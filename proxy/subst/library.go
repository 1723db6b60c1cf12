package subst

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"
)

// Library makes many equal sets one, with the states that its streams have
// found: a thousand hosts with the same rules cost as much as one. It does not
// keep sets alive; one that nobody uses any more goes like other garbage.
//
// The zero value is an empty library. Any number of goroutines may use it.
type Library struct {
	mu   sync.Mutex
	sets map[[sha256.Size]byte]weak.Pointer[Set]
}

// Compile is like the function Compile, but returns the Set that is there if
// one of equal rules and options is in use.
func (l *Library) Compile(rules []Rule, o Options) (*Set, error) {
	key := keyOf(rules, o.filled())
	if s := l.find(key, nil); s != nil {
		return s, nil
	}
	made, err := Compile(rules, o) // without the lock: it may take long
	if err != nil {
		return nil, err
	}
	return l.find(key, made), nil
}

// Len is how many sets are in use.
func (l *Library) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, p := range l.sets {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// find returns the set with a key; if there is none it is made, which may be
// nil.
func (l *Library) find(key [sha256.Size]byte, made *Set) *Set {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.sets[key].Value(); s != nil {
		return s
	}
	if made == nil {
		return nil
	}
	if l.sets == nil {
		l.sets = make(map[[sha256.Size]byte]weak.Pointer[Set])
	}
	l.sets[key] = weak.Make(made)
	runtime.AddCleanup(made, l.forget, key)
	return made
}

// forget drops the entry of a set that is gone, unless another has taken its
// place.
func (l *Library) forget(key [sha256.Size]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sets[key].Value() == nil {
		delete(l.sets, key)
	}
}

// keyOf is the same for rules and options that mean the same letter by letter.
// The order of flags is no difference.
func keyOf(rules []Rule, o Options) [sha256.Size]byte {
	rules = slices.Clone(rules)
	for i := range rules {
		flags := strings.Split(rules[i].Flags, "")
		slices.Sort(flags)
		rules[i].Flags = strings.Join(flags, "")
	}
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %d %d %q", o.Match, o.Hold, o.Memory, o.Kernel, rules))
}
