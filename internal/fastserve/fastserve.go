// Package fastserve runs the Travels API on fasthttp. It works on any system,
// and its HTTP code is not ours: what both engines say alike is likely right.
package fastserve

import (
	"bytes"
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"redoubt/handlers"
	"redoubt/internal/machine"
)

// Options are the limits of a server. Zero times mean no limit.
type Options struct {
	MaxConns     int           // connections at a time; 0: as many as there are descriptors for
	HeadTimeout  time.Duration // from the first byte of a head to its end
	BodyTimeout  time.Duration
	IdleTimeout  time.Duration // between requests
	WriteTimeout time.Duration
	ShortHeads   bool // no Date
}

const (
	maxHead   = 32 << 10
	maxTarget = 8 << 10
	maxBody   = 1 << 20
)

// Server answers HTTP requests from an API.
type Server struct {
	api      *handlers.API
	http     fasthttp.Server
	maxConns int

	large atomic.Int64  // bytes of large bodies on their way
	lists chan struct{} // a place for each list of visits that is being made

	mu       sync.Mutex
	listener *listener
	ended    bool // by Shutdown
	idle     []*handlers.Worker
}

// New returns a server that listens to nobody yet.
func New(api *handlers.API, o Options) *Server {
	s := &Server{api: api, maxConns: o.MaxConns, lists: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
	// A connection keeps the memory of its last request and answer: not of
	// long ones, please. This is a setting of the whole library.
	fasthttp.SetBodySizePoolLimit(keptBody, keptBody)
	if most := machine.OpenFiles() - keptFiles; s.maxConns <= 0 || s.maxConns > most {
		s.maxConns = max(1, most)
	}
	s.http = fasthttp.Server{
		Handler:      s.serve,
		ErrorHandler: refuse,
		HeaderReceived: func(*fasthttp.RequestHeader) fasthttp.RequestConfig {
			return fasthttp.RequestConfig{ReadTimeout: o.BodyTimeout}
		},
		Concurrency:                   s.maxConns + 1024, // the listener keeps count, and never gives as many
		ReadBufferSize:                maxHead,
		MaxRequestBodySize:            maxBody,
		ReadTimeout:                   o.HeadTimeout,
		IdleTimeout:                   o.IdleTimeout,
		WriteTimeout:                  o.WriteTimeout,
		NoDefaultServerHeader:         true,
		NoDefaultDate:                 o.ShortHeads,
		NoDefaultContentType:          true,
		DisablePreParseMultipartForm:  true,
		DisableHeaderNamesNormalizing: false,
		CloseOnShutdown:               true,
		Logger:                        quiet{},
	}
	return s
}

// quiet drops fasthttp's log: it speaks of peers' faults only, and they have
// been answered.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// keptFiles is how many descriptors are not for connections: standard streams,
// the listener, the poller, the runtime's and a profile's.
const keptFiles = 24

// Serve answers on the listener, and closes it, until Shutdown or a failure. A
// server serves one listener.
func (s *Server) Serve(l net.Listener) error {
	own := newListener(l, s.maxConns)
	s.mu.Lock()
	ended := s.ended
	s.listener = own
	s.mu.Unlock()
	if ended {
		return own.Close()
	}
	err := s.http.Serve(own)
	if errors.Is(err, net.ErrClosed) { // by Shutdown, before fasthttp knew of it
		return nil
	}
	return err
}

// ErrBusy says that requests were still under way when the time to drain was
// over. They may go on using the API.
var ErrBusy = errors.New("some connections were still busy when the time to drain was over")

// Shutdown stops listening and waits, until ctx ends, for the requests under
// way: with ErrBusy if they do not end in time.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	l := s.listener
	s.ended = true
	s.mu.Unlock()
	if l == nil { // Serve has not been called, and will return at once
		return nil
	}
	l.hurry.Store(true)
	if err := l.Close(); err != nil {
		return err
	}
	err := s.http.ShutdownWithContext(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrBusy
	}
	// All requests are answered; who has not read the last one gets a moment.
	ctx, cancel := context.WithTimeout(ctx, lingerTime)
	defer cancel()
	l.empty(ctx)
	return err
}

func (s *Server) serve(ctx *fasthttp.RequestCtx) {
	target := ctx.Request.Header.RequestURI()
	header := &ctx.Response.Header
	header.SetContentType("application/json")
	if !ctx.Request.Header.ConnectionClose() {
		header.Set("Connection", "keep-alive")
	}
	if len(target) > maxTarget {
		ctx.SetStatusCode(fasthttp.StatusRequestURITooLong)
		header.Del("Connection")
		ctx.SetConnectionClose()
		return
	}
	path, query, _ := bytes.Cut(origin(target), []byte{'?'})
	if bytes.HasSuffix(path, visitsPath) { // the one kind of answer that can be long
		s.lists <- struct{}{}
		defer func() { <-s.lists }()
	}
	w := s.worker()
	w.Enter()
	reply := w.Serve(ctx.Method(), path, query, ctx.Request.Body())
	if !s.setBody(ctx, reply.Body) {
		reply = handlers.Reply{Status: fasthttp.StatusServiceUnavailable}
	}
	ctx.SetStatusCode(reply.Status)
	if reply.Allow != "" {
		header.Set("Allow", reply.Allow)
	}
	w.Exit()
	s.put(w)
}

// setBody copies the body, since the reply ends at Exit and fasthttp sends
// later. fasthttp keeps the memory of bodies, so a large one gets its own,
// which ends when it is sent; all large ones together are limited, as readers
// may be slow. It is false if there is no room.
func (s *Server) setBody(ctx *fasthttp.RequestCtx, body []byte) bool {
	if ctx.IsHead() {
		ctx.Response.SkipBody = true
		ctx.Response.Header.SetContentLength(len(body))
		return true
	}
	if len(body) <= largeBody {
		ctx.Response.SetBody(body)
		return true
	}
	if s.large.Add(int64(len(body))) > largeBodies {
		s.large.Add(-int64(len(body)))
		return false
	}
	ctx.Response.SetBodyStream(&largeReader{Reader: *bytes.NewReader(bytes.Clone(body)), size: int64(len(body)), large: &s.large}, len(body))
	return true
}

var visitsPath = []byte("/visits")

const (
	keptBody    = 64 << 10
	largeBody   = 256 << 10
	largeBodies = 128 << 20
)

// largeReader is a large body while it is sent.
type largeReader struct {
	bytes.Reader
	size  int64
	large *atomic.Int64
}

// Close gives the room back.
func (r *largeReader) Close() error {
	r.large.Add(-r.size)
	r.size = 0
	return nil
}

// origin cuts scheme and authority off a target in absolute form.
func origin(target []byte) []byte {
	for _, scheme := range []string{"http://", "https://"} {
		if len(target) < len(scheme) || !strings.EqualFold(string(target[:len(scheme)]), scheme) {
			continue
		}
		target = target[len(scheme):]
		if i := bytes.IndexAny(target, "/?"); i >= 0 {
			return target[i:]
		}
		return []byte("/")
	}
	return target
}

// refuse answers a request that could not be read.
func refuse(ctx *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	var netErr net.Error
	code := fasthttp.StatusBadRequest
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		code = fasthttp.StatusRequestEntityTooLarge
	case errors.As(err, &small):
		code = fasthttp.StatusRequestHeaderFieldsTooLarge
	case errors.As(err, &netErr) && netErr.Timeout():
		code = fasthttp.StatusRequestTimeout
		if c, ok := ctx.Conn().(*conn); ok {
			c.silent.Store(true)
		}
	}
	ctx.Response.Reset()
	ctx.Response.Header.SetContentType("application/json")
	ctx.SetStatusCode(code)
	ctx.SetConnectionClose()
}

// worker takes an idle worker, or makes one.
func (s *Server) worker() *handlers.Worker {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		w := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.mu.Unlock()
		return w
	}
	s.mu.Unlock()
	return s.api.NewWorker()
}

// put keeps as many workers as processors could use at once, and some for
// requests that wait.
func (s *Server) put(w *handlers.Worker) {
	s.mu.Lock()
	keep := len(s.idle) < 8*runtime.GOMAXPROCS(0)
	if keep {
		s.idle = append(s.idle, w)
	}
	s.mu.Unlock()
	if !keep {
		w.Close()
	}
}
