package handlers

import (
	"errors"

	"redoubt/data"
	"redoubt/store"
)

// Reply is what an engine sends. It also sends Content-Type: application/json,
// Content-Length, and no body to HEAD.
type Reply struct {
	Status int
	Allow  string // the Allow header of a 405, else empty
	Body   []byte // JSON; empty for errors. A view of the store or the worker: valid until Exit or the next Serve
}

// API answers requests from one store.
type API struct{ store *store.Store }

// New returns the API of a store.
func New(s *store.Store) *API { return &API{s} }

// Worker answers one request at a time. Serving a GET allocates nothing.
type Worker struct {
	store    *store.Store
	reader   *store.Reader
	json     data.Reader
	user     store.User
	location store.Location
	visit    store.Visit
	query    query
}

// NewWorker returns a worker. Close it when it is not needed any more.
func (a *API) NewWorker() *Worker {
	return &Worker{store: a.store, reader: a.store.NewReader()}
}

// Close ends the worker, which must have left its read section.
func (w *Worker) Close() { w.reader.Close() }

// Enter begins the read section in which Serve may be called: once for a
// request, or once for all requests of a loop's iteration.
func (w *Worker) Enter() { w.reader.Enter() }

// Exit ends the read section and with it the replies' bodies.
func (w *Worker) Exit() { w.reader.Exit() }

var empty = []byte("{}")

func status(code int) Reply { return Reply{Status: code} }

func notAllowed(allow string) Reply { return Reply{Status: 405, Allow: allow} }

// found is the reply of a query that came too late to fail.
func found(body []byte, exists bool) Reply {
	if !exists {
		return status(404)
	}
	return Reply{Status: 200, Body: body}
}

// Serve answers a request. method is as in the request line; path and query
// are the two sides of the target's first question mark, as they were sent.
// The checks come in this order: path, method, existence, then parameters or
// body. Nothing that is passed in is kept.
//
// A request that writes leaves the read section and enters it anew: writers
// wait for each other, and would hold back memory while they do. So earlier
// replies of the section must have been sent or copied before Serve is called
// with a method that Writes.
func (w *Worker) Serve(method, path, query, body []byte) Reply {
	r, known := parsePath(path)
	if !known {
		return status(404)
	}
	get := string(method) == "GET" || string(method) == "HEAD"
	post := Writes(method)
	switch {
	case r.part == newRecord && get:
		return status(404) // GET of a record whose id is "new": there is none
	case r.part == newRecord && post:
		return w.create(r.kind, body)
	case r.part == newRecord:
		return notAllowed("POST")
	case r.part == record && !get && !post:
		return notAllowed("GET, HEAD, POST")
	case r.part != record && !get:
		return notAllowed("GET, HEAD")
	case post:
		if !w.exists(r) {
			return status(404)
		}
		return w.update(r, body)
	case r.part == visitsOf:
		return w.userVisits(r.id, query)
	case r.part == averageOf:
		return w.locationAverage(r.id, query)
	}
	switch r.kind {
	case users:
		return found(w.reader.User(r.id))
	case locations:
		return found(w.reader.Location(r.id))
	default:
		return found(w.reader.Visit(r.id))
	}
}

// Writes tells whether a request with this method may change the store.
func Writes(method []byte) bool { return string(method) == "POST" }

func (w *Worker) exists(r route) bool {
	switch r.kind {
	case users:
		return w.reader.HasUser(r.id)
	case locations:
		return w.reader.HasLocation(r.id)
	default:
		return w.reader.HasVisit(r.id)
	}
}

func (w *Worker) create(kind kind, body []byte) Reply {
	switch kind {
	case users:
		if w.json.User(body, &w.user) != nil || w.user.Has != store.WholeUser {
			return status(400)
		}
		return written(w.write(func() error { return w.store.CreateUser(&w.user) }))
	case locations:
		if w.json.Location(body, &w.location) != nil || w.location.Has != store.WholeLocation {
			return status(400)
		}
		return written(w.write(func() error { return w.store.CreateLocation(&w.location) }))
	default:
		if w.json.Visit(body, &w.visit) != nil || w.visit.Has != store.WholeVisit {
			return status(400)
		}
		return written(w.write(func() error { return w.store.CreateVisit(&w.visit) }))
	}
}

func (w *Worker) update(r route, body []byte) Reply {
	switch r.kind {
	case users:
		if w.json.User(body, &w.user) != nil || w.user.Has&store.ID != 0 {
			return status(400)
		}
		return written(w.write(func() error { return w.store.UpdateUser(r.id, &w.user) }))
	case locations:
		if w.json.Location(body, &w.location) != nil || w.location.Has&store.ID != 0 {
			return status(400)
		}
		return written(w.write(func() error { return w.store.UpdateLocation(r.id, &w.location) }))
	default:
		if w.json.Visit(body, &w.visit) != nil || w.visit.Has&store.ID != 0 {
			return status(400)
		}
		return written(w.write(func() error { return w.store.UpdateVisit(r.id, &w.visit) }))
	}
}

// write writes outside of the read section.
func (w *Worker) write(do func() error) error {
	w.reader.Exit()
	defer w.reader.Enter()
	return do()
}

// written is the reply to a write.
func written(err error) Reply {
	switch {
	case err == nil:
		return Reply{Status: 200, Body: empty}
	case errors.Is(err, store.ErrMissing):
		return status(404)
	case errors.Is(err, store.ErrBusy), errors.Is(err, store.ErrFull):
		return status(503)
	default:
		return status(400)
	}
}
