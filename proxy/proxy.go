//go:build linux

package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"redoubt/internal/machine"
	"redoubt/netloop"
	"redoubt/proxy/accesslog"
	"redoubt/proxy/coding"
	"redoubt/proxy/config"
	"redoubt/proxy/filter"
)

// Options are what a configuration does not say.
type Options struct {
	Workers int  // loops; 0: 1
	Busy    bool // loops never sleep: see netloop.Busy
	Files   int  // descriptors that a connection of a client may take, with all that comes of it; 0: 2
	// Warn hears of what an operator should know. It may be called from any
	// goroutine. nil: nobody does.
	Warn func(text string)
}

// Proxy is a filtering reverse proxy.
type Proxy struct {
	options Options
	group   *netloop.Group
	workers []*worker
	conns   *filter.Conns
	log     *accesslog.Log // nil: none
	lookup  lookup
	codings *coding.Pool // for bodies in a coding

	running sync.Mutex // held by Run

	reloading sync.Mutex // held by Run while it begins and ends, and by those who reload

	mu   sync.Mutex // of plan, which changes while reloading is held
	plan *plan
	care *care // of those who hold reloading
}

// keptFiles is how many descriptors are not for connections: standard streams,
// the runtime's, a profile's, the log's, the admin listener's. Each loop has three
// more.
const keptFiles = 64

// New returns a proxy that listens to nobody yet.
func New(c *config.Config, o Options) (*Proxy, error) {
	o.Workers = max(o.Workers, 1)
	p := &Proxy{options: o, conns: filter.NewConns(), lookup: net.DefaultResolver.LookupNetIP}
	first, err := newPlan(c, nil, o.Workers)
	if err != nil {
		return nil, err
	}
	wait := netloop.Block
	if o.Busy {
		wait = netloop.Busy
	}
	if o.Files <= 0 {
		o.Files = 2 // its own, and one to a server
	}
	most := max(1, (machine.OpenFiles()-keptFiles-3*o.Workers)/o.Files)
	conns := c.Limits.Connections
	if conns <= 0 || conns > most {
		conns = most
	}
	memory := int(c.Limits.Memory)
	if memory <= 0 {
		memory = machine.BufferMemory()
	}
	p.group, err = netloop.New(netloop.Options{
		Loops: o.Workers, Wait: wait, Memory: memory, MaxConns: conns, WriteTimeout: c.Timeouts.Write,
	})
	if err != nil {
		return nil, err
	}
	if c.Log != nil {
		p.log, err = accesslog.Open(accesslog.Options{File: c.Log.File, Format: c.Log.Format, OnError: p.logFailed})
		if err != nil {
			p.group.Close()
			return nil, err
		}
	}
	p.plan = first
	p.codings = coding.NewPool(codedLimits(c))
	for _, l := range p.group.Loops() {
		w := newWorker(p, l, first)
		if p.log != nil {
			w.sink = p.log.NewSink()
		}
		p.workers = append(p.workers, w)
	}
	return p, nil
}

func codedLimits(c *config.Config) coding.Options {
	return coding.Options{Memory: c.Limits.CodedMemory, Window: c.Limits.CodedWindow}
}

func (p *Proxy) warn(format string, args ...any) {
	if p.options.Warn != nil {
		p.options.Warn(fmt.Sprintf(format, args...))
	}
}

func (p *Proxy) logFailed(err error) { p.warn("access log: %v", err) }

// Listen opens the configuration's addresses and returns where it listens, in
// their order. Clients that come before Run wait.
func (p *Proxy) Listen() ([]netip.AddrPort, error) {
	var addrs []netip.AddrPort
	for _, addr := range p.plan.config.Listen {
		l, err := p.group.Listen(addr, func(c *netloop.Conn) netloop.Handler {
			return p.workers[c.Loop().Index()].server.Accept(c)
		})
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, l.Addr())
	}
	return addrs, nil
}

// Run serves until Shutdown or a failure.
func (p *Proxy) Run() error {
	p.running.Lock()
	defer p.running.Unlock()
	p.reloading.Lock()
	p.find(p.plan)
	p.care = p.takeCare(p.plan)
	p.reloading.Unlock()
	err := p.group.Run()
	p.reloading.Lock()
	p.care.stop()
	p.reloading.Unlock()
	p.codings.Close()
	if p.log != nil {
		for _, w := range p.workers {
			w.flushLog()
		}
		err = errors.Join(err, p.log.Close())
	}
	return err
}

// Shutdown stops listening, and waits for exchanges under way until ctx ends:
// then they are cut, and the error is netloop.ErrCut. It returns when Run does,
// with the access log whole.
func (p *Proxy) Shutdown(ctx context.Context) error {
	err := p.group.Shutdown(ctx)
	p.running.Lock() // Run closes the log behind the loops
	defer p.running.Unlock()
	return err
}

// Reload puts another configuration in force, whole, or returns why it cannot,
// and all stays as it was. Requests that come after it has returned meet the new
// one; those under way end as they have begun, and no connection of a client is
// closed. What only a restart can change must be as it was.
func (p *Proxy) Reload(c *config.Config) error {
	p.reloading.Lock()
	defer p.reloading.Unlock()
	if err := fixed(p.plan.config, c); err != nil {
		return err
	}
	next, err := newPlan(c, p.plan, len(p.workers))
	if err != nil {
		return err
	}
	if p.care == nil { // not run yet: nobody would take it
		for _, w := range p.workers {
			w.use(next)
		}
		p.inForce(next)
		return nil
	}
	p.find(next)
	taken := make(chan struct{}, len(p.workers))
	for _, w := range p.workers {
		w.loop.Post(func() { w.use(next); taken <- struct{}{} })
	}
	ended := false
	for range p.workers {
		select {
		case <-taken:
		case <-p.group.Ended(): // loops that have ended take nothing
			ended = true
		}
	}
	p.care.stop()
	for _, u := range next.upstreams {
		for _, o := range u.origins {
			if u.Health == nil {
				o.sick.Store(false) // nobody would ever say otherwise
			}
		}
	}
	if p.inForce(next); !ended {
		p.care = p.takeCare(next)
	}
	return nil
}

func (p *Proxy) inForce(next *plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = next
	p.codings.SetLimits(codedLimits(next.config))
}

// fixed tells what a reload may not change.
func fixed(was, is *config.Config) error {
	name := ""
	switch {
	case !slices.Equal(was.Listen, is.Listen):
		name = "listen"
	case was.Admin != is.Admin:
		name = "admin"
	case (was.Log == nil) != (is.Log == nil) || was.Log != nil && *was.Log != *is.Log:
		name = "log"
	case was.Limits.Connections != is.Limits.Connections:
		name = "limits.connections"
	case was.Limits.Memory != is.Limits.Memory:
		name = "limits.memory"
	case was.Timeouts.Write != is.Timeouts.Write:
		name = "timeouts.write"
	default:
		return nil
	}
	return fmt.Errorf("%s has changed, which takes a restart; nothing of the file is in force", name)
}

// ReopenLog opens the access log anew, after its file was moved away.
func (p *Proxy) ReopenLog() error {
	if p.log == nil {
		return nil
	}
	return p.log.Reopen()
}

// Healthy is nil if the proxy can do its work: every upstream has a server that
// is well.
func (p *Proxy) Healthy() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.group.Draining() {
		return errors.New("shutting down")
	}
	for _, u := range p.plan.upstreams {
		if !slices.ContainsFunc(u.origins, func(o *origin) bool { return !o.sick.Load() }) {
			return fmt.Errorf("upstream %s has no server that is well", u.Name)
		}
	}
	return nil
}

// care is the goroutines that look after a plan's servers.
type care struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
}

func (c *care) stop() {
	c.cancel()
	c.group.Wait()
}

// takeCare resolves names, connects to servers before they are needed, and
// checks their health.
func (p *Proxy) takeCare(pl *plan) *care {
	ctx, cancel := context.WithCancel(context.Background())
	c := &care{cancel: cancel}
	c.group.Go(func() { p.watchFailures(ctx, pl) })
	for _, u := range pl.upstreams {
		for _, o := range u.origins {
			if o.fixed {
				p.makeReady(o)
			} else {
				c.group.Go(func() { p.resolve(ctx, o, func() { p.makeReady(o) }) })
			}
			if u.Health != nil {
				c.group.Go(func() { p.checkHealth(ctx, u.Upstream, o) })
			}
		}
	}
	return c
}

func (p *Proxy) makeReady(o *origin) {
	for _, w := range p.workers {
		w.loop.Post(func() { w.makeReady(o) })
	}
}
