// Package http1 reads and writes HTTP/1.1 messages (RFC 9110, RFC 9112) as
// bytes: it knows no socket, starts no goroutine and allocates nothing.
//
// # Reading
//
// Request and Response read a message's head, Body what follows it. All three
// are fed with whatever has arrived and answer in one of three ways: done with
// so many bytes, more is needed, or a Fault. They keep their place, so a head
// that comes byte by byte costs no more scanning than one that comes at once.
// What a head says is the same however it was cut, and so is the fault:
//
//   - A byte that may not stand where it stands, or that passes a limit, is a
//     fault at that byte: the first one in byte order decides.
//   - An element that is wrong as a whole is a fault where it ends: a method, a
//     target or a version at the byte after it (a version at its last), a field
//     line at its LF. That goes also for what a line makes wrong together with
//     lines before it: a second Host, a length beside a coding.
//   - What is missing is a fault at the end of the head: Host, chunked as the
//     last coding; and, since chunked may still follow, an unknown coding.
//
// Readers are strict: what two programs may read differently is refused. They
// hold offsets and no copies; what their methods return are views of the bytes
// given last, valid as long as those, and not to be written to. When the bytes
// move after the head is whole, Rebase tells where to.
//
// # Writing
//
// Segments collects a message to be written as a list of byte slices for
// writev: views where bytes exist already, new memory only for new bytes.
package http1

// Limits of what is read. What is exactly as long passes.
const (
	MaxHead      = 32768 // bytes of a head, with empty lines before it, or of a trailer section
	MaxFields    = 100   // of a head or a trailer section
	MaxTarget    = 8192  // bytes of a request's target
	MaxMethod    = 64    // bytes of a method
	MaxHost      = 255   // bytes of an authority
	MaxChunkLine = 4096  // bytes of a chunk's size line, with its end
)

// Framing is how a body's end is known.
type Framing uint8

// The framings.
const (
	None       Framing = iota // no body
	Sized                     // as many bytes as Content-Length says
	Chunked                   // chunks
	UntilClose                // all until the connection ends; answers only
)
