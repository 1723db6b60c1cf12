package http1

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// netHTTPRefuses are the reasons for which net/http refuses requests that are
// right by RFC 9112.
var netHTTPRefuses = []string{
	"invalid URL escape",       // it decodes paths and hosts at once; here they are bytes
	"bad Content-Length",       // over an int64: here as good as the largest, for the server to answer 413
	"unsupported transfer enc", // empty elements of the list (RFC 9110, 5.6.1)
	"too many transfer enc",    // the list in two lines, one of them empty
	"bad trailer key",          // Trailer announces a framing field; here its trailer is refused, if it comes
}

func refusedByNetHTTP(err error) bool {
	return slices.ContainsFunc(netHTTPRefuses, func(reason string) bool { return strings.Contains(err.Error(), reason) })
}

// againstNetHTTP holds a request, taken, against what net/http makes of its
// head.
func againstNetHTTP(t testing.TB, in []byte, r *Request) {
	t.Helper()
	in = bytes.TrimLeft(in, "\r\n") // it takes no empty lines before a request line
	theirs, err := http.ReadRequest(bufio.NewReader(io.MultiReader(bytes.NewReader(in), strings.NewReader("0\r\n\r\n"))))
	if err != nil {
		if !refusedByNetHTTP(err) {
			t.Fatalf("%.300q is taken; by net/http: %v", in, err)
		}
		return
	}
	length := int64(0)
	switch kind, size := r.Framing(); kind {
	case Sized:
		length = size
	case Chunked:
		length = -1
	}
	if theirs.Method != string(r.Method()) || theirs.RequestURI != string(r.Target()) || theirs.ContentLength != length {
		t.Fatalf("%.300q: have %s %s %d, net/http %s %s %d", in, r.Method(), r.Target(), length, theirs.Method, theirs.RequestURI, theirs.ContentLength)
	}
	sameFields(t, in, &r.head, theirs.Header, "Host") // of which it makes the request's
}

// sameFields compares fields with net/http's.
func sameFields(t testing.TB, in []byte, h *head, theirs http.Header, moved ...string) {
	t.Helper()
	ours := http.Header{}
	for _, f := range h.Fields() {
		ours.Add(string(h.Name(f)), string(h.Value(f)))
	}
	moved = append(moved, "Transfer-Encoding", "Trailer") // it moves those elsewhere
	if ours.Get("Pragma") != "" {
		moved = append(moved, "Cache-Control") // it makes another field of it
	}
	for _, name := range moved {
		ours.Del(name)
		theirs.Del(name)
	}
	if !maps.EqualFunc(ours, theirs, slices.Equal) {
		t.Fatalf("%.300q:\nhave %q\nnet/http %q", in, ours, theirs)
	}
}

// againstNetHTTPResponse does the same for the head of an answer.
func againstNetHTTPResponse(t testing.TB, in []byte, r *Response) {
	t.Helper()
	theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(in)), nil)
	if err != nil {
		if !refusedByNetHTTP(err) {
			t.Fatalf("%.300q is taken; by net/http: %v", in, err)
		}
		return
	}
	if theirs.StatusCode != r.Status() {
		t.Fatalf("%.300q: have %d, net/http %d", in, r.Status(), theirs.StatusCode)
	}
	sameFields(t, in, &r.head, theirs.Header, "Connection") // which it drops when it says close
}
