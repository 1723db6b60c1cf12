package http1

import "time"

// AppendDate appends a date as Date has it, IMF-fixdate (RFC 9110, 5.6.7), 29
// bytes. unix counts seconds; dates before the year 0 or after 9999, which have
// no such form, are taken for the nearest that has. It takes about 80 ns: once a
// second is often enough.
func AppendDate(dst []byte, unix int64) []byte {
	const (
		first = -62167219200 // 1 January 0000
		last  = 253402300799 // the end of 9999
	)
	return time.Unix(min(max(unix, first), last), 0).UTC().AppendFormat(dst, "Mon, 02 Jan 2006 15:04:05 GMT")
}
