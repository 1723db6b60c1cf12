// Package data reads the Travels data set: the records of users, locations
// and visits as JSON, the options, and a whole folder of them into a store.
//
// [Reader] is the one reader of entities, shared by the bodies of POST
// requests and by the loader, so a record is judged by the same rules
// wherever it comes from. It is strict: what it accepts is one JSON object
// (RFC 8259) whose known fields have the right type and are in range. It
// checks all that can be checked without a store; ids, emails and references
// are the store's business.
//
// [Open] looks at a folder and says how much is there, without reading it;
// [Source.Load] then fills a store through one [Adder] a worker. The two are
// apart so that the caller can size the store, or refuse for want of memory,
// before the long part begins.
package data
