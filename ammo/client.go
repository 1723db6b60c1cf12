package ammo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// reach makes sure that something listens at the target, waiting for it if the
// options say so.
func reach(ctx context.Context, opts CheckOptions) error {
	const pause = 50 * time.Millisecond
	dialer := net.Dialer{Timeout: opts.Timeout}
	for until := time.Now().Add(opts.Wait); ; {
		conn, err := dialer.DialContext(ctx, "tcp", opts.Target)
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().Add(pause).After(until) {
			return fmt.Errorf("%w to %s: %w", ErrUnreachable, opts.Target, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// client asks one request after another over at most one connection.
type client struct {
	opts CheckOptions
	conn *wire // nil: none open
	in   *bufio.Reader
	resp fasthttp.Response

	hasLength bool // the answer in resp came with Content-Length
}

func newClient(opts CheckOptions) *client {
	return &client{opts: opts, in: bufio.NewReaderSize(nil, 1<<16)} // the buffer bounds an answer's head
}

// wire counts what a connection receives and remembers why it stopped, which
// the layers above wrap beyond recognition.
type wire struct {
	net.Conn
	received int
	err      error
	release  func() bool // of the context's hold on it
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.received += n
	w.err = err
	return n, err
}

// try asks one shot and notes what is wrong with the answer.
func (c *client) try(ctx context.Context, s *shot, phase string) {
	reason := c.ask(ctx, s.record)
	answered := reason == ""
	if ctx.Err() != nil && !answered {
		s.canceled = true
		c.close()
		return
	}
	s.unanswered = !answered && (c.conn == nil || c.conn.received == 0 || isTimeout(c.conn.err))
	if answered {
		reason = c.judge(s)
	}
	if reason != "" {
		s.wrong = c.difference(s, phase, reason, answered)
	}
	if !answered || s.record.Closes() || c.resp.ConnectionClose() || c.in.Buffered() > 0 {
		c.close()
	}
}

// ask sends the record's bytes and reads one answer into resp. It returns ""
// or the reason why there is none.
func (c *client) ask(ctx context.Context, r Record) (reason string) {
	deadline := time.Now().Add(c.opts.Timeout)
	for {
		reused := c.conn != nil
		if !reused {
			if err := c.dial(ctx, deadline); err != nil {
				return "no connection: " + plainly(err)
			}
		}
		reason = c.exchange(r, deadline)
		// A server may close an idle connection whenever it likes, and a
		// request that crosses this on its way is asked once more. Only GET
		// and HEAD, and only if nothing came back.
		method, _ := r.MethodTarget()
		again := reason != "" && reused && c.conn.received == 0 && !isTimeout(c.conn.err) &&
			(string(method) == "GET" || string(method) == "HEAD")
		if !again {
			return reason
		}
		c.close()
	}
}

func (c *client) dial(ctx context.Context, deadline time.Time) error {
	dialer := net.Dialer{Deadline: deadline}
	conn, err := dialer.DialContext(ctx, "tcp", c.opts.Target)
	if err != nil {
		return err
	}
	c.conn = &wire{Conn: conn}
	c.conn.release = context.AfterFunc(ctx, func() { conn.Close() })
	c.in.Reset(c.conn)
	return nil
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.release()
		c.conn.Close()
		c.conn = nil
	}
}

// exchange sends one request over the open connection and reads one answer.
func (c *client) exchange(r Record, deadline time.Time) (reason string) {
	c.conn.received, c.conn.err = 0, nil
	c.conn.SetDeadline(deadline)
	// A server may answer and close before it has read everything, so that the
	// answer counts even where sending failed.
	_, sendError := c.conn.Write(r.Bytes)

	c.resp.Reset()
	c.resp.SkipBody = true // the head first: ReadBody makes up a Content-Length where there is none
	err := c.resp.ReadLimitBody(c.in, c.opts.MaxBody)
	if err == nil {
		c.hasLength = c.resp.Header.ContentLength() >= 0
		c.resp.Header.SetNoDefaultContentType(true)
		err = c.readBody(r)
	}
	if err == nil {
		return ""
	}
	return c.failure(err, sendError)
}

// readBody reads what follows the head in resp.
func (c *client) readBody(r Record) error {
	method, _ := r.MethodTarget()
	status := c.resp.StatusCode()
	if string(method) == "HEAD" || status == 204 || status == 304 {
		return nil
	}
	c.resp.SkipBody = false
	chunked := c.resp.Header.ContentLength() == -1
	if err := c.resp.ReadBody(c.in, c.opts.MaxBody); err != nil || !chunked {
		return err
	}
	return c.resp.Header.ReadTrailer(c.in)
}

// failure names why there is no whole answer.
func (c *client) failure(err, sendError error) string {
	got, lost := c.conn.received, c.conn.err
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		return fmt.Sprintf("the answer's body is over %d bytes", c.opts.MaxBody)
	case lost == nil:
		return fmt.Sprintf("malformed answer: %.300v", err)
	case got == 0 && isTimeout(lost):
		return fmt.Sprintf("no answer within %v", c.opts.Timeout)
	case got == 0 && sendError != nil:
		return "the request could not be sent: " + plainly(sendError)
	case got == 0 && lost == io.EOF:
		return "the server closed the connection without an answer"
	case got == 0:
		return "no answer: " + plainly(lost)
	case isTimeout(lost):
		return fmt.Sprintf("the answer stopped after %d bytes and was not whole within %v", got, c.opts.Timeout)
	case lost == io.EOF:
		return fmt.Sprintf("the server closed the connection in the middle of the answer, after %d bytes", got)
	default:
		return fmt.Sprintf("the answer broke off after %d bytes: %s", got, plainly(lost))
	}
}

// judge compares the answer in resp with the expected one and returns what is
// wrong, or "".
func (c *client) judge(s *shot) string {
	status := c.resp.StatusCode()
	head := string(s.answer.Method) == "HEAD"
	body := c.resp.Body()
	switch {
	case status != s.answer.Status:
		return fmt.Sprintf("got status %d, want %d", status, s.answer.Status)
	case c.in.Buffered() > 0:
		return fmt.Sprintf("%d bytes follow the end of the answer", c.in.Buffered())
	case status >= 400 && len(body) > 0:
		return fmt.Sprintf("status %d with a body of %d bytes, want it empty", status, len(body))
	case status == 200 && !isJSON(c.resp.Header.ContentType()):
		return fmt.Sprintf("got Content-Type %q, want application/json", c.resp.Header.ContentType())
	case status == 200 && !c.hasLength:
		return "the answer has no Content-Length"
	case head || status != 200 && len(s.answer.Body) == 0:
		return ""
	case len(s.answer.Body) > 0:
		return CompareJSON(body, s.answer.Body)
	default: // only the status is known, but what is sent as JSON must be some
		if why := checkJSON(body); why != "" {
			return "got " + why
		}
		return ""
	}
}

func (c *client) difference(s *shot, phase, reason string, answered bool) *Difference {
	d := &Difference{
		Phase:       phase,
		Record:      s.record.Number,
		Tag:         Decoded(s.record.Tag, shownBytes),
		Request:     Decoded(s.record.Line(), shownBytes),
		RequestBody: Decoded(bytes.TrimSuffix(s.record.Body(), []byte("\r\n")), shownBytes),
		Reason:      reason,
		WantStatus:  s.answer.Status,
		Want:        Decoded(s.answer.Body, shownBytes),
	}
	if answered {
		d.GotStatus = c.resp.StatusCode()
		d.Got = Decoded(c.resp.Body(), shownBytes)
	}
	return d
}

// isJSON takes the media type with or without parameters.
func isJSON(contentType []byte) bool {
	media, _, _ := bytes.Cut(contentType, []byte(";"))
	return bytes.EqualFold(bytes.TrimSpace(media), []byte("application/json"))
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// plainly is the innermost reason of a network error, without addresses: they
// are the same for all.
func plainly(err error) string {
	var number syscall.Errno
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	}
	return err.Error()
}
