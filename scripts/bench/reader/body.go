package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// body is that of a 200, decoded.
func (r *reader) body(response *http.Response) (io.Reader, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", r.url, response.Status)
	}
	coding := response.Header.Get("Content-Encoding")
	switch {
	case !r.coded && coding != "":
		return nil, fmt.Errorf("%s: the answer is in %s, which nobody asked for", r.url, coding)
	case !r.coded:
		return response.Body, nil
	case coding != "gzip":
		return nil, fmt.Errorf("%s: the answer is in %q and not in gzip", r.url, coding)
	}
	return gzip.NewReader(response.Body)
}

// follow reads a body to its end, no faster than it may, and compares it. begun is
// called with its first byte.
func (r *reader) follow(body io.Reader, buffer []byte, begun func()) error {
	if r.rate > 0 { // in steps of a few milliseconds
		buffer = buffer[:min(len(buffer), max(1, int(r.rate/200)))]
	}
	begin, at := time.Now(), 0
	for {
		n, err := body.Read(buffer)
		if n > 0 && at == 0 {
			begun()
		}
		if err := r.compare(buffer[:n], at); err != nil {
			return err
		}
		at += n
		switch {
		case errors.Is(err, io.EOF) && at < len(r.page):
			return fmt.Errorf("it ends with byte %d of %d", at, len(r.page))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if r.rate > 0 {
			time.Sleep(time.Until(begin.Add(time.Duration(float64(at) / r.rate * 1e9))))
		}
	}
}
