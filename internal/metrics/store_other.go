//go:build !amd64 || race

package metrics

import "sync/atomic"

func store(n *atomic.Uint64, v uint64) { n.Store(v) }
