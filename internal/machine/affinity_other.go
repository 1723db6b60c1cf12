//go:build !linux

package machine

import "runtime"

func affinity() int { return runtime.NumCPU() }
