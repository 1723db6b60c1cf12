//go:build linux

package gun

import (
	"bytes"
	"fmt"
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

// right tells whether an answer is the expected one to the byte, or as one that
// the judge has found to be the same. A barrel has time for that.
func (b *belt) right(r *round, status int, body []byte) bool {
	if status != r.want.status {
		return false
	}
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
	in    chan doubt
	ended chan struct{}
	wrong int64
	shown []ammo.Difference
}

func newJudge() *judge { return &judge{in: make(chan doubt, 1024), ended: make(chan struct{})} }

func (j *judge) run() {
	defer close(j.ended)
	for d := range j.in {
		why := d.reason()
		if why == "" {
			d.round.want.same.Store(&d.body)
			continue
		}
		j.wrong++
		if len(j.shown) < showWrong {
			j.shown = append(j.shown, d.difference(why))
		}
	}
}

// close returns how many answers were wrong, and the first of them.
func (j *judge) close() (int64, []ammo.Difference) {
	close(j.in)
	<-j.ended
	return j.wrong, j.shown
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
