// Package arena keeps memory outside the Go heap: the collector neither scans
// it nor counts it when it paces itself.
//
// There are two shapes. A [Column] is an array of fixed-size rows that never
// moves. A [Heap] hands out blocks of any size in size classes; a block is
// named by a [Ref], one word that holds its place and length, so that it can
// be published with one atomic store.
//
// Both live in reservations: address space without memory behind it. A page
// costs memory once it has been touched, and not before. The race detector
// does not see such memory, so under -race (and on systems without mmap) both
// live on the Go heap instead; [Lazy] says which it is.
package arena
