// Package netloop runs connections on epoll loops, one loop to a thread.
//
// A Group holds the loops. Everything on a Loop or a Conn belongs to the
// loop's thread, handlers run there, and only Loop.Post and the Group's
// methods are safe from elsewhere. So nothing here takes a lock, and a
// handler that waits makes all connections of its loop wait.
//
// Data on its way: the loop reads into memory that all its connections share
// and hands it to the connection's Handler; what the handler leaves goes to a
// block of the slab until more arrives, so that an idle connection holds no
// buffer. Output goes out at once; only what the system does not take is
// copied, so that a caller's memory is free again when Write or Writev
// returns. Who writes in small pieces corks the connection first: they are
// gathered until its turn ends.
//
// Time comes in two kinds. Timers, and deadlines, which are timers, are made for
// connections: there may be any number, they cost nothing to put off, and go off
// a millisecond or two late. The alarm is made for load that has to leave at its
// instant: a loop has one, and meets it to the microsecond.
//
// No handler is ever called from inside a method of a Conn or a Loop: what a
// call has to say, it says after the running handler has returned.
//
// Sockets are edge-triggered. Three habits follow, each of which loses
// connections or answers where it is forgotten: a socket is read until a read
// comes back short, and to its end once the peer has hung up; it is written
// until the system refuses; and an event counts only if the connection that
// it was meant for still lives (see Loop.dispatch).
//
// The package needs Linux.
package netloop
