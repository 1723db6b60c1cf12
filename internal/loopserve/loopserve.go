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
	Metrics      bool          // requests are counted, and timed, which takes two looks at the clock for each
	KeepFiles    int           // descriptors that others in the process will need
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
	api      *handlers.API
	group    *netloop.Group
	servers  []*httpconn.Server // by loop
	workers  []*handlers.Worker
	counters []*counters // by loop; none without Options.Metrics
}

// New returns a server that listens to nobody yet.
func New(api *handlers.API, o Options) (*Server, error) {
	o.Workers = max(o.Workers, 1)
	if most := machine.OpenFiles() - keptFiles - o.KeepFiles - 3*o.Workers; o.MaxConns <= 0 || o.MaxConns > most {
		o.MaxConns = max(1, most)
	}
	group, err := netloop.New(netloop.Options{
		Loops: o.Workers, Wait: o.Wait, Memory: machine.BufferMemory(), MaxConns: o.MaxConns,
		WriteTimeout: o.WriteTimeout, MaxInput: maxInput,
	})
	if err != nil {
		return nil, err
	}
	s := &Server{api: api, group: group}
	for _, l := range group.Loops() {
		h := &handler{worker: api.NewWorker(), loop: l}
		var refused func(*httpconn.Session, int)
		if o.Metrics {
			h.counters = new(counters)
			s.counters = append(s.counters, h.counters)
			refused = h.counters.noteRefused
		}
		s.workers = append(s.workers, h.worker)
		s.servers = append(s.servers, httpconn.NewServer(l, httpconn.ServerOptions{
			HeadTimeout: o.HeadTimeout, BodyTimeout: o.BodyTimeout, IdleTimeout: o.IdleTimeout,
			MaxBody: maxBody, WholeBodies: true,
			Fields: "Content-Type: application/json\r\n", NoDate: o.ShortHeads, Refused: refused,
		}, func(*httpconn.Session) httpconn.Handler { return h }))
	}
	return s, nil
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
	worker   *handlers.Worker
	loop     *netloop.Loop
	counters *counters         // nil: nothing is counted
	allow    map[string]string // "GET, HEAD" → its field line
}

// OnRequest answers at once. Reply has sent or copied the body when it returns,
// so that the read section can end, and a POST can find its end.
func (h *handler) OnRequest(s *httpconn.Session, r *http1.Request) {
	if h.counters == nil {
		h.answer(s, r)
		return
	}
	begin := h.loop.Clock()
	k := kindOf(r.Method(), r.Path()) // which end with the answer
	status := h.answer(s, r)
	h.counters.note(k, status, h.loop.Clock()-begin)
}

func (h *handler) answer(s *httpconn.Session, r *http1.Request) (status int) {
	h.worker.Enter()
	defer h.worker.Exit()
	reply := h.worker.Serve(r.Method(), r.Path(), r.Query(), s.WholeBody())
	if len(reply.Body) > largeBody && !h.roomFor(len(reply.Body)) {
		s.Spend(len(reply.Body))
		reply = handlers.Reply{Status: 503}
	}
	s.Reply(reply.Status, h.allowField(reply.Allow), reply.Body)
	return reply.Status
}

// largeBody is above what a socket takes at once: the rest waits in memory
// until the peer has read.
const largeBody = 256 << 10

// roomFor tells whether a whole body could wait in memory, with as much left
// for others. An answer that has begun could not be taken back.
func (h *handler) roomFor(n int) bool {
	return h.loop.Group().Memory().Stats().Free >= 2*int64(n)
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
