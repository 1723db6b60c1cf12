//go:build linux

package httpconn

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// Ready heads are what the simple way renders, whatever was asked for before.
func TestHeads(t *testing.T) {
	const fields, more = "Content-Type: text/plain\r\nServer: x\r\n", "Allow: GET\r\n"
	naive := func(unix int64, dated bool, status, length int, close bool, more string) string {
		extra := fields + more
		if dated {
			extra += "Date: " + time.Unix(unix, 0).UTC().Format(http.TimeFormat) + "\r\n"
		}
		return plainHead(status, length, close, extra)
	}
	lengths := []int{0, 9, 10, readyLengths - 1, readyLengths, 123456789}
	for _, dated := range []bool{true, false} {
		h := newHeads(fields, dated)
		for _, unix := range []int64{0, 1700000000, 1700000000, 1700000001, 1699999999} {
			for status := 200; status < 600; status++ {
				for _, length := range lengths {
					for _, close := range []bool{false, true} {
						for _, m := range []string{"", more} {
							got := string(h.get(unix, status, length, close, m))
							if want := naive(unix, dated, status, length, close, m); got != want {
								t.Fatalf("%d, %d bytes, close %t:\n%s\nwant\n%s", status, length, close, got, want)
							}
						}
					}
				}
			}
			for length := range readyLengths + 10 {
				if got, want := string(h.get(unix, 200, length, false, "")), naive(unix, dated, 200, length, false, ""); got != want {
					t.Fatalf("200, %d bytes:\n%s\nwant\n%s", length, got, want)
				}
			}
		}
	}
}

func TestHeadsAllocateNothingWhenWarm(t *testing.T) {
	h := newHeads("Server: x\r\n", true)
	unix, more := int64(0), strings.Repeat("X: y\r\n", 3)
	round := func() {
		unix++
		h.get(unix, 200, 100, false, "")
		h.get(unix, 404, 0, true, "")
		h.get(unix, 200, 100, false, more)
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
