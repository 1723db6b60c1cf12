//go:build linux

package loopserve

import (
	"context"
	"net/netip"
	"time"

	"redoubt/handlers"
	"redoubt/internal/machine"
	"redoubt/netloop"
	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
)

// Options are the limits of a server. Zero times mean no limit.
type Options struct {
	Workers      int // loops; 0: 1
	Wait         netloop.Wait
	MaxConns     int // connections at a time; 0: as many as there are descriptors for
	HeadTimeout  time.Duration
	BodyTimeout  time.Duration
	IdleTimeout  time.Duration
	WriteTimeout time.Duration // for the next 64 KB of an answer, or its rest
	ShortHeads   bool          // no Date
}

const (
	maxBody = 1 << 20
	// maxInput has room for the longest head with the longest body.
	maxInput = 2 << 20

	// keptFiles is how many descriptors are not for connections: standard
	// streams, the runtime's and a profile's. Each loop has three more.
	keptFiles = 24
)

// Server answers HTTP requests from an API.
type Server struct {
	api     *handlers.API
	group   *netloop.Group
	servers []*httpconn.Server // by loop
	workers []*handlers.Worker
}

// New returns a server that listens to nobody yet.
func New(api *handlers.API, o Options) (*Server, error) {
	o.Workers = max(o.Workers, 1)
	if most := machine.OpenFiles() - keptFiles - 3*o.Workers; o.MaxConns <= 0 || o.MaxConns > most {
		o.MaxConns = max(1, most)
	}
	group, err := netloop.New(netloop.Options{
		Loops: o.Workers, Wait: o.Wait, Memory: bufferMemory(), MaxConns: o.MaxConns,
		WriteTimeout: o.WriteTimeout, MaxInput: maxInput,
	})
	if err != nil {
		return nil, err
	}
	s := &Server{api: api, group: group}
	for _, l := range group.Loops() {
		h := &handler{worker: api.NewWorker(), group: group}
		s.workers = append(s.workers, h.worker)
		s.servers = append(s.servers, httpconn.NewServer(l, httpconn.ServerOptions{
			HeadTimeout: o.HeadTimeout, BodyTimeout: o.BodyTimeout, IdleTimeout: o.IdleTimeout,
			MaxBody: maxBody, WholeBodies: true,
			Fields: "Content-Type: application/json\r\n", NoDate: o.ShortHeads,
		}, func(*httpconn.Session) httpconn.Handler { return h }))
	}
	return s, nil
}

// bufferMemory is the most that buffers may take: an eighth of what the
// machine has to spare, from 64 MB to 1 GB.
func bufferMemory() int {
	const least, most = 64 << 20, 1 << 30
	m := machine.AvailableMemory()
	if !m.Known() {
		return most / 4
	}
	return int(min(max(m.Bytes/8, least), most))
}

// Listen opens addr, HOST:PORT or :PORT, and returns where it listens. Clients
// that come before Serve wait.
func (s *Server) Listen(addr string) (netip.AddrPort, error) {
	l, err := s.group.Listen(addr, func(c *netloop.Conn) netloop.Handler {
		return s.servers[c.Loop().Index()].Accept(c)
	})
	if err != nil {
		return netip.AddrPort{}, err
	}
	return l.Addr(), nil
}

// Serve answers until Shutdown or a failure. Nobody uses the API any more when
// it returns.
func (s *Server) Serve() error {
	err := s.group.Run()
	for _, w := range s.workers {
		w.Close()
	}
	return err
}

// Shutdown stops listening, and waits for what is under way until ctx ends:
// then it is cut, and the error is netloop.ErrCut. It returns when Serve does.
func (s *Server) Shutdown(ctx context.Context) error { return s.group.Shutdown(ctx) }

// handler answers the requests of one loop.
type handler struct {
	httpconn.WholeOnly
	worker *handlers.Worker
	group  *netloop.Group
	allow  map[string]string // "GET, HEAD" → its field line
}

// OnRequest answers at once. Reply has sent or copied the body when it returns,
// so that the read section can end, and a POST can find its end.
func (h *handler) OnRequest(s *httpconn.Session, r *http1.Request) {
	h.worker.Enter()
	defer h.worker.Exit()
	reply := h.worker.Serve(r.Method(), r.Path(), r.Query(), s.WholeBody())
	if len(reply.Body) > largeBody && !h.roomFor(len(reply.Body)) {
		s.Spend(len(reply.Body))
		reply = handlers.Reply{Status: 503}
	}
	s.Reply(reply.Status, h.allowField(reply.Allow), reply.Body)
}

// largeBody is above what a socket takes at once: the rest waits in memory
// until the peer has read.
const largeBody = 256 << 10

// roomFor tells whether a whole body could wait in memory, with as much left
// for others. An answer that has begun could not be taken back.
func (h *handler) roomFor(n int) bool {
	return h.group.Memory().Stats().Free >= 2*int64(n)
}

func (h *handler) allowField(methods string) string {
	if methods == "" {
		return ""
	}
	field, ok := h.allow[methods]
	if !ok {
		if h.allow == nil {
			h.allow = make(map[string]string)
		}
		field = "Allow: " + methods + "\r\n"
		h.allow[methods] = field
	}
	return field
}
