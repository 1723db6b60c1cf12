//go:build linux && !race

package loopserve

const raceEnabled = false
