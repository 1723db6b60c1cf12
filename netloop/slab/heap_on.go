//go:build slabheap

package slab

// onHeap has every block and object come from the Go heap, and go to the garbage
// collector when it is freed: what a program without a slab would do. It is for
// measuring what the slab is worth, and knows no quota.
const onHeap = true
