// Package handlers is the Travels API of HighloadCup 2017: method, path, query
// and body in, status and body out. It knows no socket and no HTTP library, so
// any engine can stand in front of it.
//
// An [API] belongs to a store. Each thread of an engine has a [Worker], whose
// replies are valid until it leaves its read section:
//
//	w := api.NewWorker()
//	w.Enter()
//	reply := w.Serve(method, path, query, body)
//	... send or copy reply.Body ...
//	w.Exit()
package handlers
