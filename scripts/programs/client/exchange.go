package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"sync"
)

const host = "http://origin.test"

// ofHops are fields of an answer that may differ: they are about a connection,
// added by the proxy, or the time of day.
var ofHops = []string{"Connection", "Keep-Alive", "Date", "Via", "Server-Timing"}

// get asks for a target, and notes the answer.
func (s *side) get(n *note, method, target string) error {
	r, err := http.NewRequest(method, host+target, nil)
	if err != nil {
		return err
	}
	return s.do(n, r)
}

// do sends a request, and notes the answer with all that comes before it.
func (s *side) do(n *note, r *http.Request) error {
	var mu sync.Mutex // the trace runs elsewhere
	trace := &httptrace.ClientTrace{
		Got100Continue: func() { mu.Lock(); n.line("100 Continue"); mu.Unlock() },
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			if code != http.StatusContinue {
				mu.Lock()
				n.line("interim %d", code)
				noteFields(n, http.Header(h))
				mu.Unlock()
			}
			return nil
		},
	}
	answer, err := s.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return noteAnswer(n, answer)
}

// noteAnswer reads the body, and notes that with the head and the trailers.
func noteAnswer(n *note, answer *http.Response) error {
	defer answer.Body.Close()
	n.line("%s", answer.Status)
	noteFields(n, answer.Header)
	n.line("length %d", answer.ContentLength)
	hash := sha256.New()
	size, err := io.Copy(hash, answer.Body)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), err != nil && strings.Contains(err.Error(), "connection reset"):
		n.line("cut after %d bytes", size)
	case err != nil:
		return err
	}
	n.line("body %d %x", size, hash.Sum(nil))
	for _, name := range sorted(answer.Trailer) {
		n.line("trailer %s: %q", name, answer.Trailer[name])
	}
	return nil
}

func noteFields(n *note, h http.Header) {
	for _, name := range sorted(h) {
		if !slices.Contains(ofHops, name) {
			n.line("%s: %q", name, h[name])
		}
	}
}

func sorted(h http.Header) []string {
	var names []string
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// letters are a body of some bytes, none of which says where it is.
func letters(size int) string {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte('a' + i%23 + i/4096%3)
	}
	return string(b)
}

// unsized is a body whose length the client does not know.
func unsized(size int) io.Reader { return io.MultiReader(strings.NewReader(letters(size))) }

func newPost(target string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequest("POST", host+target, body)
	if err == nil {
		r.Header.Set("Content-Type", "application/octet-stream")
	}
	return r, err
}

// post sends a body, and notes what becomes of it.
func (s *side) post(n *note, target string, body io.Reader) error {
	r, err := newPost(target, body)
	if err != nil {
		return err
	}
	return s.do(n, r)
}

// read is the body as a text.
func (s *side) read(target string) (string, error) {
	answer, err := s.client.Get(host + target)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", target, answer.Status)
	}
	return strings.TrimSpace(string(body)), err
}
