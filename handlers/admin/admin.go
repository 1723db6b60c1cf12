// Package admin is the listener for those who run a server: whether it is
// well, what it counts, and what it spends its time and memory on. It has no
// password, so it listens on an address of its own, which should be one that
// only they can reach.
package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/netip"
	"sync"
	"time"

	process "github.com/VictoriaMetrics/metrics"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/pprofhandler"

	"redoubt/internal/metrics"
)

// Options are what the server tells. All may be left out.
type Options struct {
	Name    string                // of the server, for people
	Health  func() error          // why it is not well, or nil
	Metrics func(*metrics.Writer) // writes what it counts; those of the process follow
}

const (
	patience = 10 * time.Second // for a request, and for an idle client
	// A profile is taken before the first byte of its answer is due, and this is
	// for the time from there on.
	writeTimeout = 30 * time.Second
)

// MostClients is how many connections there may be at a time.
const MostClients = 64

// Server answers GET and HEAD.
type Server struct {
	options Options
	http    fasthttp.Server

	mu       sync.Mutex
	listener net.Listener
	ended    bool
}

// New returns a server that listens to nobody yet.
func New(o Options) *Server {
	s := &Server{options: o}
	s.http = fasthttp.Server{
		Handler:               s.serve,
		Concurrency:           MostClients,
		ReadTimeout:           patience,
		IdleTimeout:           patience,
		WriteTimeout:          writeTimeout,
		MaxRequestBodySize:    4 << 10,
		NoDefaultServerHeader: true,
		CloseOnShutdown:       true,
		Logger:                quiet{},
	}
	return s
}

// quiet drops fasthttp's log: it speaks of clients' faults only.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Listen opens addr, HOST:PORT, and returns where it listens. Without a host
// that is the machine itself, not all of its addresses.
func (s *Server) Listen(addr string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return netip.AddrPort{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = l
	return l.Addr().(*net.TCPAddr).AddrPort(), nil
}

// Serve answers until Shutdown or a failure.
func (s *Server) Serve() error {
	s.mu.Lock()
	l, ended := s.listener, s.ended
	s.mu.Unlock()
	switch {
	case ended:
		return nil
	case l == nil:
		return errors.New("admin: Serve before Listen")
	}
	err := s.http.Serve(l)
	if errors.Is(err, net.ErrClosed) { // by Shutdown, before fasthttp knew of it
		return nil
	}
	return err
}

// Shutdown stops listening, ends profiles that are being taken, and waits for
// requests under way until ctx ends: then its error is returned, and they may
// go on.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	l := s.listener
	s.ended = true
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	err := s.http.ShutdownWithContext(ctx)
	if errors.Is(err, net.ErrClosed) { // the listener: it is, yes
		return nil
	}
	return err
}

func (s *Server) serve(ctx *fasthttp.RequestCtx) {
	if !ctx.IsGet() && !ctx.IsHead() {
		ctx.Error("only GET and HEAD\n", fasthttp.StatusMethodNotAllowed)
		ctx.Response.Header.Set("Allow", "GET, HEAD")
		return
	}
	path := ctx.Path()
	switch {
	case string(path) == "/":
		ctx.SetContentType("text/html; charset=utf-8")
		fmt.Fprintf(ctx, page, html.EscapeString(s.options.Name))
	case string(path) == "/health":
		s.health(ctx)
	case string(path) == "/metrics":
		ctx.SetContentType(metrics.ContentType)
		s.metrics(ctx)
	case string(path) == "/debug/pprof":
		ctx.Redirect("/debug/pprof/", fasthttp.StatusMovedPermanently)
	case bytes.HasPrefix(path, []byte("/debug/pprof/")):
		pprofhandler.PprofHandler(ctx)
	default:
		ctx.Error("not found\n", fasthttp.StatusNotFound)
	}
}

const page = `<!doctype html>
<title>%[1]s: admin</title>
<h1>%[1]s</h1>
<ul>
<li><a href="/health">/health</a>: 200 if all is well, else 503 with the reason
<li><a href="/metrics">/metrics</a>: what it counts, for Prometheus
<li><a href="/debug/pprof/">/debug/pprof/</a>: profiles, for <code>go tool pprof</code>
</ul>
`

func (s *Server) health(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/plain; charset=utf-8")
	if s.options.Health != nil {
		if err := s.options.Health(); err != nil {
			ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
			fmt.Fprintf(ctx, "%v\n", err)
			return
		}
	}
	ctx.WriteString("ok\n")
}

func (s *Server) metrics(ctx *fasthttp.RequestCtx) {
	if s.options.Metrics != nil {
		s.options.Metrics(metrics.NewWriter(ctx))
	}
	process.WriteProcessMetrics(ctx)
}
