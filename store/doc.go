// Package store keeps users, locations and visits in memory outside the Go
// heap and answers the queries of the Travels API from it.
//
// A [Store] has one writer at a time and any number of [Reader]s, who take no
// lock. A reader works inside Enter and Exit; what it returned is valid until
// the next call of the same reader, and never after Exit. The layout, byte by
// byte, and the rules by which changes become visible are in
// docs/architecture.md.
//
// A store starts from a [Builder], to which any number of goroutines add
// records, or empty.
package store
