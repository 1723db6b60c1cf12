//go:build linux && race

package loopserve

// The race detector allocates where the program does not.
const raceEnabled = true
