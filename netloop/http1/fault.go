package http1

// Fault says why a message is refused; 0 is none. It is an error.
type Fault uint8

// What is refused, one class each, in the order in which a message meets them.
const (
	_ Fault = iota

	BadLineEnd         // 400: CR without LF, or LF without CR (RFC 9112, 2.2)
	BadMethod          // 400: no token, or not followed by one space (RFC 9112, 3.1)
	MethodTooLong      // 501: longer than any method (RFC 9112, 3)
	BadTarget          // 400: bytes, form or authority of a request's target (RFC 9112, 3.2)
	TargetTooLong      // 414: over MaxTarget (RFC 9112, 3)
	BadVersion         // 400: not HTTP/DIGIT.DIGIT (RFC 9112, 2.3)
	UnsupportedVersion // 505: not HTTP/1.x (RFC 9110, 15.6.6)
	BadStatusLine      // an answer's status or reason (RFC 9112, 4)

	BadFieldName  // 400: no token, or not followed at once by a colon (RFC 9112, 5.1)
	BadFieldValue // 400: control bytes (RFC 9110, 5.5)
	FoldedField   // 400: a line that begins with white space (RFC 9112, 5.2)
	HeadTooLong   // 431: head or trailers over MaxHead (RFC 6585, 5)
	TooManyFields // 431: head or trailers of more than MaxFields (RFC 6585, 5)

	HostMissing // 400: none in HTTP/1.1 (RFC 9112, 3.2)
	HostTwice   // 400: more than one (RFC 9112, 3.2)
	BadHost     // 400: no host with an optional port, or too long (RFC 9110, 7.2)

	BadContentLength       // 400: no plain number, or more than one (RFC 9112, 6.3)
	LengthBesideCoding     // 400: Content-Length beside Transfer-Encoding (RFC 9112, 6.1)
	BadTransferEncoding    // 400: malformed, chunked twice or not last (RFC 9112, 6.1, 7.1)
	UnknownTransferCoding  // 501: a coding besides chunked (RFC 9112, 6.1)
	TransferEncodingIn10   // 400: in an HTTP/1.0 message (RFC 9112, 6.1)
	UnsupportedExpectation // 417: other than 100-continue (RFC 9110, 10.1.1)

	BadChunkSize      // 400: no hexadecimal number below 2^63 of at most 16 digits (RFC 9112, 7.1)
	BadChunkExtension // 400: malformed (RFC 9112, 7.1.1)
	ChunkLineTooLong  // 400: one of over MaxChunkLine, or too much in extensions altogether (RFC 9112, 7.1.1)
	BadChunkEnd       // 400: no CRLF where the data should end (RFC 9112, 7.1)
	FramingInTrailer  // 400: a trailer that frames or routes (RFC 9110, 6.5.1)

	BodyTooLong // 413: never found here, for those who bound bodies (RFC 9110, 15.5.14)

	faults // how many there are
)

// Status is the status with which a server answers a request that has the
// fault. (A proxy answers 502 when it finds any fault in an answer.)
func (f Fault) Status() int {
	if f < faults {
		return faultTexts[f].status
	}
	return 400
}

// Error tells the fault in words.
func (f Fault) Error() string {
	if f < faults {
		return faultTexts[f].text
	}
	return "unknown fault"
}

var faultTexts = [faults]struct {
	status int
	text   string
}{
	0:                      {200, "no fault"},
	BadLineEnd:             {400, "a line that does not end in CRLF"},
	BadMethod:              {400, "malformed method"},
	MethodTooLong:          {501, "method too long"},
	BadTarget:              {400, "malformed request target"},
	TargetTooLong:          {414, "request target too long"},
	BadVersion:             {400, "malformed HTTP version"},
	UnsupportedVersion:     {505, "unsupported HTTP version"},
	BadStatusLine:          {400, "malformed status line"},
	BadFieldName:           {400, "malformed field name"},
	BadFieldValue:          {400, "malformed field value"},
	FoldedField:            {400, "folded field line"},
	HeadTooLong:            {431, "head too long"},
	TooManyFields:          {431, "too many fields"},
	HostMissing:            {400, "Host missing"},
	HostTwice:              {400, "more than one Host"},
	BadHost:                {400, "malformed Host"},
	BadContentLength:       {400, "malformed or repeated Content-Length"},
	LengthBesideCoding:     {400, "Content-Length beside Transfer-Encoding"},
	BadTransferEncoding:    {400, "malformed Transfer-Encoding"},
	UnknownTransferCoding:  {501, "unknown transfer coding"},
	TransferEncodingIn10:   {400, "Transfer-Encoding in HTTP/1.0"},
	UnsupportedExpectation: {417, "unsupported expectation"},
	BadChunkSize:           {400, "malformed chunk size"},
	BadChunkExtension:      {400, "malformed chunk extension"},
	ChunkLineTooLong:       {400, "chunk line or chunk extensions too long"},
	BadChunkEnd:            {400, "chunk data that does not end in CRLF"},
	FramingInTrailer:       {400, "framing field among trailers"},
	BodyTooLong:            {413, "body too long"},
}
