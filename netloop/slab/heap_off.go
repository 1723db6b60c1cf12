//go:build !slabheap

package slab

// onHeap is for measuring: see the tag slabheap.
const onHeap = false
