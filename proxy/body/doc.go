// Package body says which bodies are rewritten and by which rules, and keeps what
// that takes: the compiled sets of rules, up to a limit, and for each event loop a
// memory of what applies. What a body is, on the wire, and how it is coded is for
// others to know.
//
// Rules are those of one route and direction; equal ones are one. They are on a
// Shelf, compiled when they are needed, and those not used for longest are dropped
// where the shelf is full: a proxy may have thousands of hosts with rules of their
// own.
//
// A Subset is some of the rules, compiled as a set of its own. All of them are one;
// others come of the memory: of a file that has been seen whole it knows which rules
// have won a match in it. Nothing would be different without the others, so that next
// time only those run, or none.
package body
