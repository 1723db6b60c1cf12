//go:build !race

package subst

// raceEnabled: the race detector needs memory, and makes pools forget.
const raceEnabled = false
