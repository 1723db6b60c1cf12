// Package gun fires ammo at a server, each shot at its planned instant, and
// counts what comes of it.
//
//	feeder → belts → barrel → link → server
//	                   └→ tally, rows → Summary, phout.txt
//
// A feeder reads records and packs them into belts. Each
// barrel is an event loop that fires the shots of its belts over links, its
// connections. In a scheduled run a shot's instant is a pure function of its
// number (schedule.Plan.At), whatever the server does: who waits for answers
// before firing on measures a server that nobody else will see. In a flood,
// each answer brings the next shot on its connection.
//
// # What is counted
//
// A planned shot is sent or dropped. It is late if it is sent more than Late
// after its instant, because all connections were taken or the gun had no
// processor, and it is dropped if no connection comes free for as long as it
// might have waited for an answer. A shot that is sent is answered, or it
// fails, under the name of one Outcome.
//
// Latency is measured to the last byte of the answer, from the planned instant
// and from the sent one. Answered shots count, and those that were waited for
// in vain with the time that they were waited for, which is less than they
// would have taken: timed-out shots in both figures, dropped ones in the
// first. Those that failed quickly do not count: a refused connection is no
// fast answer.
package gun
