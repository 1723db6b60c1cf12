// Package coding knows content codings (RFC 9110, 8.4.1), and has a pool of workers
// that rewrite coded bodies: a body is decoded, its text goes through a subst.Stream, and
// what comes out is coded again, all of it as a stream.
//
// Decoders read when they want to, and cannot stop in the middle. So each body that is
// under way has a goroutine, and two small pipes join it to its owner, who never waits: an event
// loop writes what it has read, and is woken when there is something to take. A worker
// whose input is drained gives out all that it knows before it waits, so that the events of
// a stream pass one by one. Decoders let go of text at the ends of blocks, and at flushes: of a
// block that has not ended it may know nothing yet.
//
// A body that is not whole, or no good, ends with an error. Nothing that comes out for it
// looks whole to its receiver: what ends a coding is missing. Behind gzip and deflate there
// may be anything, which is passed over, as browsers do; gzip may have several members and
// zstd several frames, one behind the other. Behind br there may be nothing.
//
// So that event loops have a processor left, only so many workers work at a time, taking
// turns every 16 KB of text (Options.Workers).
//
// What a body may take is known before it begins: see Cost. The sum for all that run is
// bounded; others wait in the order in which they came, requests apart from answers, and with
// a part of the memory only. Measured in the middle of 12 MB whose parts have little in
// common (TestCost; windows are those of the body that comes):
//
//	                  window 32 KB  256 KB  1 MB    4 MB    8 MB
//	decoder of gzip          49 KB
//	decoder of deflate       48 KB
//	decoder of br                   381 KB  1.2 MB  4.4 MB  8.6 MB
//	decoder of zstd                 851 KB  1.6 MB  4.6 MB  8.6 MB
//	encoder of gzip, deflate 1.04 MB, of br 834 KB, of zstd 816 KB
//	pipes                    544 KB, of which 256 are for a piece that overfills them
//
// So gzip to gzip is counted as 1.7 MB.
package coding
