//go:build !slabdebug

package slab

// debugging tells that the tag slabdebug is set.
const debugging = false

// tracker does nothing without the tag slabdebug.
type tracker struct{}

func (*tracker) init(int)                 {}
func (*tracker) took(uint32, int, []byte) {}
func (*tracker) gave(uint32, int, []byte) {}
func (*tracker) emptied(uint32)           {}
func (*tracker) freedAt(uint32) string    { return "" }
func (*tracker) leaks() []string          { return nil }

// objectTracker does nothing without the tag slabdebug.
type objectTracker[T any] struct{}

func (*objectTracker[T]) made(*object[T])  {}
func (*objectTracker[T]) check(*object[T]) {}
func (*objectTracker[T]) took(*object[T])  {}
func (*objectTracker[T]) gave(*object[T])  {}
func (*objectTracker[T]) leaks() []string  { return nil }

type objectMark struct{}

func (objectMark) freedAt() string { return "" }
