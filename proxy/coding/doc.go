// Package coding knows content codings (RFC 9110, 8.4.1), and has a pool of workers
// that rewrite coded bodies: a body is decoded, its text goes through a subst.Stream, and
// what comes out is coded again, all of it as a stream.
//
// Decoders read when they want to, and cannot stop in the middle. So each body that is
// under way has a goroutine, and two small pipes join it to its owner, who never waits: an event
// loop writes what it has read, and is woken when there is something to take. A worker
// whose input is drained gives out all that it knows before it waits, so that the events of
// a stream pass one by one.
//
// What a body may take is known before it begins: see Cost. The sum for all that run is
// bounded; others wait in the order in which they came.
package coding
