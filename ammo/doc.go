// Package ammo reads and writes what guns fire, and checks servers with it.
//
// A Record is one request: the exact bytes to send and a tag to group it by.
// Readers give records one at a time from any io.Reader, so that compressed
// files and pipes work alike, and need memory for one record only. Each ammo
// format has a reader of its own with the same method:
//
//	Next() (Record, error)   // io.EOF after the last
//
// PhantomReader is the first: Yandex.Tank's request-style format. File reads it
// from a file, plain or gzip, again and again. AnswersReader reads the answers
// that belong to the records, one line each.
//
// # Who owns the bytes
//
// Slices in what Next returns lie in the reader's buffer and are valid until
// the following call of Next, Reset or Rewind. Whoever keeps them, or hands them to
// another goroutine, copies them first (Record.AppendTo, Answer.Clone). Slices
// given to a writer are not kept.
//
// # Checking
//
// Check fires the ammo of several phases at a server and compares each answer
// with the expected one: the status, and the body as JSON by value. See Check.
package ammo
