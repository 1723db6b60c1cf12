// Package slab is the memory of a server's event loops: blocks for the buffers
// of connections (Arena, Cache), and pools for their sessions (Objects).
//
// An Arena is one reservation of address space, off the Go heap on Linux and
// other unixes, of which no more than a quota is ever handed out. Each loop
// has a Cache of its own, so that taking and freeing a block is a few
// nanoseconds without a lock:
//
//	arena, err := slab.New(256 << 20)
//	cache := arena.NewCache()   // one a loop, used by one thread at a time
//	b, err := cache.Get(16000)  // 16,384 bytes: len and cap are the block's
//	cache.Put(b)                // any slice that starts at the block's first byte
//	cache.Collect()             // once an iteration of the loop
//
// # Sizes
//
// Blocks are powers of two from MinBlock (1 KB) to MaxBlock (4 MB). The arena
// is a buddy allocator: a block is split while a smaller one is wanted and
// merged with its free neighbour when it comes back, so small blocks of the
// past do not starve large ones. What the arena knows of a block stands
// beside the blocks, never inside.
//
// # Where idle memory is
//
// A cache keeps freed blocks up to 256 KB of each size and none of more than
// 256 KB, so at most 2.25 MB over all sizes (more where Warm asked for it).
// Beyond that it gives back half a size's list at once. A block that another
// cache frees is posted home: pushed on the owner's lock-free stack, where the
// owner finds it when a list runs empty or in Collect.
//
// When the arena is out of memory, Get empties its own cache and all stacks,
// then tries once more. What sits idle in the lists of other caches it cannot
// reach: that is at most 2.25 MB a loop, and comes back when the loop calls
// Collect next, because a refusal asks all caches for it: one that sleeps does
// so after its next event.
//
// Whole free blocks of 4 MB that have been used, beyond the first four, go
// back to the system: a flood does not stay resident, and the price (a call,
// and page faults later) is paid once in 4 MB.
//
// # Mistakes
//
// Put panics when memory is not a block of the arena and when a block is freed
// twice in a row. With the build tag slabdebug (`go test -tags slabdebug`)
// freed memory is filled with a pattern that is checked when it is taken
// again, and live blocks and objects are listed by Leaks, with the place that
// took them; Arena.Close then fails if there are any. Without the tag none of
// this takes time or space.
//
// The tag slabheap, which is for measuring what all this is worth, has blocks and
// objects come from the Go heap.
package slab
