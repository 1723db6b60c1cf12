// Package httpconn speaks HTTP/1.1 on the connections of a netloop: a Session
// is the server's side of one, a Client the client's. Both know when a message
// begins and ends, which deadline counts meanwhile, and whether the connection
// can be used again; what is in a message they leave to their handlers.
//
// Like everything on a loop they belong to its thread, and no handler is
// called from inside a method of theirs, with one exception: who ends an
// exchange of a Session hears OnDone before that call returns.
//
// The package needs Linux.
package httpconn
