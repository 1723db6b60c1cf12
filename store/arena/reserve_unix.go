//go:build unix && !linux && !race

package arena

const noReserve = 0

func advise([]byte)     {}
func adviseHuge([]byte) {}
