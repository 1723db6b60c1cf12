//go:build race

package subst

const raceEnabled = true
