//go:build unix && !linux && !race

package slab

const noReserve = 0

func advise([]byte)  {}
func discard([]byte) {} // what this call means differs from system to system
