// Package proxy is the filtering reverse proxy: it takes requests, judges them
// (filter), changes heads (rewrite), and has them answered by the servers of an
// upstream, streaming both ways.
//
// What belongs together lives on one loop: the client's connection, the
// exchange, and the connection to the server. So an exchange takes no lock, and
// what loops share are only the servers' health and counters.
//
//	Proxy     loops, listeners, the configuration in force
//	plan      a configuration, compiled; never changes
//	worker    a loop's part: plan, pools, counters
//	exchange  a client's connection and the request under way on it
//	link      a connection to a server, idle in a pool or an exchange's
//	origin    a server of an upstream: addresses, health; of all loops
//
// A request's way: exchange.OnRequest judges it, finds its route, picks a
// server and a link, and writes the request's head; the answer comes through
// link.OnResponse, OnBody and OnDone. Bytes that do not change are sent from
// where they were read. Of a request's head a copy is kept only where it may
// have to be sent later, or once more.
//
// The package needs Linux.
package proxy
