package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// turns are server-sent events of which each is sent when somebody has asked for
// it on another connection: a client that gets one late waits for ever.
type turns struct{ asked chan struct{} }

const events = 5

func (t *turns) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	c.Flush()
	for i := range events {
		select {
		case <-t.asked:
		case <-r.Context().Done():
			return
		case <-time.After(10 * time.Second):
			return
		}
		fmt.Fprintf(w, "data: %d\n\n", i)
		c.Flush()
	}
}

func (t *turns) next(http.ResponseWriter, *http.Request) { t.asked <- struct{}{} }

// endless sends until the client has gone, and counts that.
func (o *origin) endless(w http.ResponseWriter, r *http.Request) {
	line := strings.Repeat("more ", 1000) + "\n"
	c := http.NewResponseController(w)
	for r.Context().Err() == nil {
		if _, err := fmt.Fprint(w, line); err != nil {
			break
		}
		c.Flush()
		time.Sleep(time.Millisecond)
	}
	o.aborted.Add(1)
}
