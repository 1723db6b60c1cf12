//go:build linux

package gun

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"redoubt/ammo"
	"redoubt/netloop/httpconn"
)

const (
	// showWrong is how many wrong answers a summary shows.
	showWrong = 10
	shownText = 4 << 10 // bytes of each
)

// expected is the answer that a round should get.
type expected struct {
	status   int
	from, to int                    // the JSON in the belt's bytes; empty: any will do
	same     atomic.Pointer[[]byte] // a body that is the expected one, written otherwise
}

// most is how long a body may be that could be the expected one: so much for
// blanks, and for other ways to write the same text.
func (e *expected) most() int { return 16*(e.to-e.from) + 64<<10 }

// right tells whether a body is the expected one to the byte, or as one that
// the judge has found to be the same. A barrel has time for that.
func (b *belt) right(r *round, body []byte) bool {
	if r.want.from == r.want.to || r.ask == httpconn.Head || bytes.Equal(body, b.bytes[r.want.from:r.want.to]) {
		return true
	}
	same := r.want.same.Load()
	return same != nil && bytes.Equal(body, *same)
}

// doubt is an answer that is not the expected one to the byte.
type doubt struct {
	belt   *belt
	round  *round
	number int64 // of the shot
	status int
	body   []byte
}

// judge compares answers as JSON, which takes too long for a barrel.
type judge struct {
	mu     sync.Mutex
	come   sync.Cond // doubts have, or the end
	queue  []doubt
	bytes  int // of their bodies
	closed bool
	ended  chan struct{}

	wrong    int64
	shown    []doubt
	unjudged int64 // for want of time
}

// The most that waits for the judge. What comes beyond that is not compared: a
// barrel has its shots to see to.
const (
	judgeQueue = 4096
	judgeBytes = 64 << 20
)

func newJudge() *judge {
	j := &judge{ended: make(chan struct{})}
	j.come.L = &j.mu
	return j
}

// put brings an answer whose body is l's own.
func (j *judge) put(d doubt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) >= judgeQueue || j.bytes+len(d.body) > judgeBytes {
		j.unjudged++
		return
	}
	d.body = bytes.Clone(d.body)
	j.queue = append(j.queue, d)
	j.bytes += len(d.body)
	j.come.Signal()
}

// take returns the next that waits; false: no more will come.
func (j *judge) take() (d doubt, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.queue) == 0 {
		if j.closed {
			return doubt{}, false
		}
		j.come.Wait()
	}
	d, j.queue = j.queue[0], j.queue[1:]
	j.bytes -= len(d.body)
	return d, true
}

func (j *judge) run() {
	defer close(j.ended)
	for d, ok := j.take(); ok; d, ok = j.take() {
		if d.reason() == "" {
			if most := 4*(d.round.want.to-d.round.want.from) + 256; len(d.body) <= most { // it stays as long as the belt
				d.round.want.same.Store(&d.body)
			}
			continue
		}
		j.wrong++
		if len(j.shown) < showWrong {
			j.shown = append(j.shown, d)
		}
	}
}

// close waits for what is still to be compared, unless ctx ends.
func (j *judge) close(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.unjudged += int64(len(j.queue))
		j.queue = nil
		j.come.Signal()
	})()
	j.mu.Lock()
	j.closed = true
	j.come.Signal()
	j.mu.Unlock()
	<-j.ended
}

// differences are the first of what all found wrong.
func differences(doubts []doubt) (shown []ammo.Difference) {
	slices.SortFunc(doubts, func(a, b doubt) int { return cmp.Compare(a.number, b.number) })
	for _, d := range doubts[:min(len(doubts), showWrong)] {
		shown = append(shown, d.difference(d.reason()))
	}
	return shown
}

// reason says what is wrong, or nothing.
func (d doubt) reason() string {
	switch {
	case d.status != d.round.want.status:
		return fmt.Sprintf("got status %d, want %d", d.status, d.round.want.status)
	case len(d.body) > d.round.want.most():
		return fmt.Sprintf("the answer's body is over %d bytes, %d are expected", d.round.want.most(), d.round.want.to-d.round.want.from)
	}
	return ammo.CompareJSON(d.body, d.want())
}

func (d doubt) want() []byte { return d.belt.bytes[d.round.want.from:d.round.want.to] }

func (d doubt) difference(why string) ammo.Difference {
	record := ammo.Record{Bytes: d.belt.bytes[d.round.from:d.round.to]}
	return ammo.Difference{
		Shot: &d.number, Record: d.round.record, Tag: ammo.Decoded([]byte(d.round.tag), shownText),
		Request:     ammo.Decoded(record.Line(), shownText),
		RequestBody: ammo.Decoded(bytes.TrimSpace(record.Body()), shownText),
		Reason:      why,
		WantStatus:  d.round.want.status, Want: ammo.Decoded(d.want(), shownText),
		GotStatus: d.status, Got: ammo.Decoded(d.body, shownText),
	}
}
