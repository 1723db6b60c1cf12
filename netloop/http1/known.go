package http1

import "encoding/binary"

// Known names the fields that a server or a proxy looks for.
type Known uint8

// The known fields. Every other is Other.
const (
	Other Known = iota
	Host
	ContentLength
	TransferEncoding
	Connection
	Expect
	Upgrade

	KeepAlive
	TE
	Trailer
	ProxyConnection
	ProxyAuthenticate
	ProxyAuthorization
	Via
	Forwarded
	XForwardedFor
	XForwardedProto
	XForwardedHost

	Accept
	AcceptEncoding
	AcceptLanguage
	AcceptRanges
	Age
	Allow
	Authorization
	CacheControl
	ContentDigest
	ContentDisposition
	ContentEncoding
	ContentLanguage
	ContentLocation
	ContentMD5
	ContentRange
	ContentType
	Cookie
	Date
	Digest
	ETag
	Expires
	IfMatch
	IfModifiedSince
	IfNoneMatch
	IfRange
	IfUnmodifiedSince
	LastModified
	Location
	Origin
	Range
	Referer
	ReprDigest
	RetryAfter
	Server
	ServerTiming
	SetCookie
	UserAgent
	Vary

	knownFields // how many there are; at most 64, see head.seen
)

// lastJudged ends the fields that are judged as they are read, see head.judge.
const lastJudged = Expect

// String is the field's name as it is usually written; "" for Other.
func (k Known) String() string {
	if k < knownFields {
		return knownNames[k]
	}
	return ""
}

var knownNames = [knownFields]string{
	Host: "Host", ContentLength: "Content-Length", TransferEncoding: "Transfer-Encoding", Connection: "Connection",
	Expect: "Expect", Upgrade: "Upgrade", KeepAlive: "Keep-Alive", TE: "TE", Trailer: "Trailer",
	ProxyConnection: "Proxy-Connection", ProxyAuthenticate: "Proxy-Authenticate", ProxyAuthorization: "Proxy-Authorization",
	Via: "Via", Forwarded: "Forwarded", XForwardedFor: "X-Forwarded-For", XForwardedProto: "X-Forwarded-Proto",
	XForwardedHost: "X-Forwarded-Host", Accept: "Accept", AcceptEncoding: "Accept-Encoding", AcceptLanguage: "Accept-Language",
	AcceptRanges: "Accept-Ranges", Age: "Age", Allow: "Allow", Authorization: "Authorization", CacheControl: "Cache-Control",
	ContentDigest: "Content-Digest", ContentDisposition: "Content-Disposition", ContentEncoding: "Content-Encoding",
	ContentLanguage: "Content-Language", ContentLocation: "Content-Location", ContentMD5: "Content-MD5",
	ContentRange: "Content-Range", ContentType: "Content-Type", Cookie: "Cookie", Date: "Date", Digest: "Digest", ETag: "ETag",
	Expires: "Expires", IfMatch: "If-Match", IfModifiedSince: "If-Modified-Since", IfNoneMatch: "If-None-Match",
	IfRange: "If-Range", IfUnmodifiedSince: "If-Unmodified-Since", LastModified: "Last-Modified", Location: "Location",
	Origin: "Origin", Range: "Range", Referer: "Referer", ReprDigest: "Repr-Digest", RetryAfter: "Retry-After", Server: "Server",
	ServerTiming: "Server-Timing", SetCookie: "Set-Cookie", UserAgent: "User-Agent", Vary: "Vary",
}

// KnownField is the known field of a name, in whatever case.
func KnownField(name string) Known {
	var token [maxKnownSize]byte
	if len(name) > maxKnownSize {
		return Other
	}
	n := copy(token[:], name)
	if !all(token[:n], inToken) {
		return Other
	}
	return lookup(token[:n], 0, n)
}

const maxKnownSize = 24

// words is a name in small letters: its first 8 bytes (zeros follow a shorter
// one), its last 8, and the 8 after the first, the latter two where they say
// something new.
type words struct {
	first, last, middle uint64
	size                int
}

// wordsOf takes apart a name of 2 to maxKnownSize bytes that stands in
// in[from:to]. Setting bit 5 folds: of all token bytes only letters become
// letters, and only a hyphen a hyphen.
func wordsOf(in []byte, from, to int) (w words) {
	const fold = 0x20 * ones
	name := in[from:to]
	w.size = len(name)
	switch {
	case len(name) >= 8:
		w.first = binary.LittleEndian.Uint64(name) | fold
		w.last = binary.LittleEndian.Uint64(name[len(name)-8:]) | fold
		if len(name) > 16 {
			w.middle = binary.LittleEndian.Uint64(name[8:]) | fold
		}
		return w
	case len(in)-from >= 8: // what follows is cut off
		w.first = binary.LittleEndian.Uint64(in[from:])
	default:
		for i, c := range name {
			w.first |= uint64(c) << (8 * i)
		}
	}
	w.first = (w.first | fold) & (1<<(8*len(name)&63) - 1)
	return w
}

// slot is the name's place in the table. The factor is one of those, found by
// trial, that give every known name a place of its own.
func (w *words) slot() uint64 {
	return (w.first ^ (w.last>>3 + uint64(w.size))) * 0x340e8462eb2c79d5 >> 56
}

var (
	knownWords, knownSlots = knownTable()
)

func knownTable() (all [knownFields]words, slots [256]Known) {
	for k := Host; k < knownFields; k++ {
		all[k] = wordsOf([]byte(knownNames[k]), 0, len(knownNames[k]))
		slot := all[k].slot()
		if slots[slot] != Other {
			panic("http1: " + knownNames[k] + " and " + knownNames[slots[slot]] + " have one slot: choose another factor")
		}
		slots[slot] = k
	}
	return all, slots
}

// lookup is the known field whose name is the token in[from:to].
func lookup(in []byte, from, to int) Known {
	if to-from > maxKnownSize || to-from < 2 {
		return Other
	}
	w := wordsOf(in, from, to)
	k := knownSlots[w.slot()]
	if like := &knownWords[k]; like.first != w.first || like.last != w.last || like.middle != w.middle || like.size != w.size {
		return Other
	}
	return k
}
