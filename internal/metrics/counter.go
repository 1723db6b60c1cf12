package metrics

import "sync/atomic"

// Pad keeps what lies on both sides of it in different cache lines.
type Pad [64]byte

// Counter only grows.
type Counter struct{ n atomic.Uint64 }

// Add is called by the counter's only writer.
func (c *Counter) Add(n uint64) { store(&c.n, c.n.Load()+n) }

// Value may be called from anywhere.
func (c *Counter) Value() uint64 { return c.n.Load() }

// Gauge goes up and down.
type Gauge struct{ n atomic.Uint64 }

// Add is called by the gauge's only writer.
func (g *Gauge) Add(n int64) { store(&g.n, g.n.Load()+uint64(n)) }

// Value may be called from anywhere.
func (g *Gauge) Value() int64 { return int64(g.n.Load()) }
