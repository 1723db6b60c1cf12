//go:build linux

package gun

import (
	"bytes"
	"cmp"
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
	maxBody   = 16 << 20
)

// expected is the answer that a round should get.
type expected struct {
	status   int
	from, to int                    // the JSON in the belt's bytes; empty: any will do
	same     atomic.Pointer[[]byte] // a body that is the expected one, written otherwise
}

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
	change sync.Cond // of what follows
	queue  []doubt
	bytes  int // of their bodies
	closed bool
	ended  chan struct{}

	wrong int64
	shown []doubt
}

// The most that waits for the judge. A barrel that brings more waits as well.
const (
	judgeQueue = 4096
	judgeBytes = 64 << 20
)

func newJudge() *judge {
	j := &judge{ended: make(chan struct{})}
	j.change.L = &j.mu
	return j
}

// put brings an answer, which is the judge's from now on.
func (j *judge) put(d doubt) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.queue) >= judgeQueue || j.bytes >= judgeBytes {
		j.change.Wait()
	}
	j.queue = append(j.queue, d)
	j.bytes += len(d.body)
	j.change.Broadcast()
}

// take returns all that waits; nil: no more will come.
func (j *judge) take() []doubt {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.queue) == 0 && !j.closed {
		j.change.Wait()
	}
	queue := j.queue
	j.queue, j.bytes = nil, 0
	j.change.Broadcast()
	return queue
}

func (j *judge) run() {
	defer close(j.ended)
	for queue := j.take(); queue != nil; queue = j.take() {
		for _, d := range queue {
			if d.reason() == "" {
				d.round.want.same.Store(&d.body)
				continue
			}
			j.wrong++
			if len(j.shown) < showWrong {
				j.shown = append(j.shown, d)
			}
		}
	}
}

// close returns how many bodies were wrong, and the first of them.
func (j *judge) close() (int64, []doubt) {
	j.mu.Lock()
	j.closed = true
	j.change.Broadcast()
	j.mu.Unlock()
	<-j.ended
	return j.wrong, j.shown
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
	case len(d.body) > maxBody:
		return fmt.Sprintf("the answer's body is over %d bytes", maxBody)
	}
	return ammo.CompareJSON(d.body, d.want())
}

func (d doubt) want() []byte { return d.belt.bytes[d.round.want.from:d.round.want.to] }

func (d doubt) difference(why string) ammo.Difference {
	record := ammo.Record{Bytes: d.belt.bytes[d.round.from:d.round.to]}
	return ammo.Difference{
		Record: int(d.number) + 1, Tag: ammo.Decoded([]byte(d.round.tag), shownText),
		Request:     ammo.Decoded(record.Line(), shownText),
		RequestBody: ammo.Decoded(bytes.TrimSpace(record.Body()), shownText),
		Reason:      why,
		WantStatus:  d.round.want.status, Want: ammo.Decoded(d.want(), shownText),
		GotStatus: d.status, Got: ammo.Decoded(d.body, shownText),
	}
}
