//go:build linux

package proxy

import (
	"math/rand/v2"
	"time"

	"redoubt/netloop"
	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
	"redoubt/netloop/slab"
	"redoubt/proxy/accesslog"
	"redoubt/proxy/body"
	"redoubt/proxy/rewrite"
)

// worker is the proxy on one loop. All of it is the loop's thread's.
type worker struct {
	proxy *Proxy
	loop  *netloop.Loop
	index int

	server    *httpconn.Server
	exchanges *slab.Objects[exchange]
	links     *slab.Objects[link]

	memory *body.Memory // of rules that apply to files

	plan  *plan
	turns []int // by upstream of the plan: whose turn it is

	out       http1.Segments    // an answer's head, and what follows it in one turn
	gathering *httpconn.Session // whose it is; nil: nobody's
	edited    edited            // a rewritten body's pieces
	up        http1.Segments    // a request's head, or a piece of its body
	again     http1.Request     // a head that is read once more
	taken     [][]byte          // of a coded body
	trailers  []byte
	target    []byte
	rewritten []byte
	vars      rewrite.Vars
	line      []byte
	dated     int64  // the second of
	dateText  []byte // what Date says
	ids       uint64

	sink     *accesslog.Sink // nil: no log
	entry    accesslog.Entry // of the line under way; here, for it would be moved to the heap
	logTimer netloop.Timer
	logArmed bool

	copied   int64 // bytes of heads and frames that were made, or kept; see netloop.Loop.Copied
	counts   *counts
	scarce   bool          // memory for buffers is running out
	lookedAt time.Duration // when that was found out
}

func newWorker(p *Proxy, l *netloop.Loop, first *plan) *worker {
	w := &worker{
		proxy: p, loop: l, index: l.Index(),
		exchanges: slab.NewObjects[exchange](0), links: slab.NewObjects[link](0),
		counts: newCounts(), ids: rand.Uint64(), memory: body.NewMemory(rememberedFiles),
	}
	w.exchanges.Warm(warm)
	w.links.Warm(warm)
	w.server = httpconn.NewServer(l, serverOptions(first, w.refused), w.open)
	w.logTimer.Func = w.flushLog
	w.edited.emit = w.emitPart
	w.use(first)
	w.look()
	return w
}

// rememberedFiles is of how many files a worker knows which rules apply: they take 2 MB.
const rememberedFiles = 1 << 15

// warm is how many exchanges and links there are before the first connection.
const warm = 64

func serverOptions(p *plan, refused func(*httpconn.Session, int)) httpconn.ServerOptions {
	t := &p.config.Timeouts
	return httpconn.ServerOptions{
		HeadTimeout: t.Head, BodyTimeout: t.Body, IdleTimeout: t.Idle,
		MaxBody: p.config.Limits.Body, Refused: refused,
	}
}

// use puts a plan in force. Exchanges under way keep theirs; connections to
// servers that the plan does not have close when they are free.
func (w *worker) use(next *plan) {
	before := w.plan
	w.plan = next
	w.memory.Clear() // it is of rules, and routes, that may be others now
	w.server.SetLimits(serverOptions(next, nil))
	w.turns = make([]int, len(next.upstreams))
	var kept = make(map[*pool]bool)
	for i, u := range next.upstreams {
		w.turns[i] = w.index // loops do not all begin with the same server
		for _, o := range u.origins {
			p := o.pools[w.index]
			p.worker, p.upstream = w, u
			p.most = share(u.Connections, w.index, len(o.pools))
			kept[p] = true
			for len(p.idle) > u.Keepalive {
				k := p.idle[0]
				p.remove(k)
				k.Close()
			}
		}
	}
	w.counts.use(next)
	if before == nil {
		return
	}
	for _, u := range before.upstreams {
		for _, o := range u.origins {
			if p := o.pools[w.index]; !kept[p] {
				p.retire()
			}
		}
	}
}

// makeReady connects to the servers before the first request.
func (w *worker) makeReady(o *origin) {
	if p := o.pools[w.index]; p.upstream != nil {
		p.ready()
	}
}

// flush sends what has been gathered of an answer.
func (w *worker) flush() {
	if w.gathering != nil {
		w.copied += int64(w.out.Made())
		w.gathering.Flush()
		w.gathering = nil
		w.edited.forget()
	}
}

// largeRead is how much is read at once where there is plenty, and readShare what
// part of what is free one read may bring: by the time that one notices, more have
// read.
const (
	largeRead = 256 << 10
	readShare = 32
)

// Of memory for buffers a quarter is left for exchanges that are under way: when
// less is free, new ones are turned away.
const reserve = 4

// smallRead is how much is read at once then: what one exchange may have to keep
// each way.
const smallRead = 4 << 10

// short tells whether memory for buffers is running out, as of a millisecond
// ago.
func (w *worker) short() bool {
	if w.loop.Now()-w.lookedAt >= time.Millisecond {
		w.look()
	}
	return w.scarce
}

// look finds it out, and has as much be read at once as there is room for.
func (w *worker) look() {
	w.lookedAt = w.loop.Now()
	s := w.loop.Group().Memory().Stats()
	free := s.Free + s.Cached.Bytes
	w.scarce = free < s.Quota/reserve
	size := min(max(free/readShare, smallRead), largeRead)
	if w.scarce {
		size = smallRead
	}
	w.loop.SetReadSize(int(size))
}

// nextID is a number that no other request has: a permutation of a counter,
// so that neighbours do not look alike.
func (w *worker) nextID() uint64 {
	w.ids += 0x9e3779b97f4a7c15
	z := w.ids
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// logEvery is how long a line may wait before it is written.
const logEvery = 100 * time.Millisecond

func (w *worker) flushLog() {
	w.logArmed = false
	if w.sink != nil {
		w.sink.Flush()
	}
}
