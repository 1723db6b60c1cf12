//go:build linux

package gun

import (
	"bytes"
	"errors"
	"slices"
	"syscall"
	"time"

	"redoubt/ammo/phout"
	"redoubt/netloop"
	"redoubt/netloop/http1"
	"redoubt/netloop/httpconn"
)

// link is a connection with the shots that are in flight on it. It implements
// httpconn.ClientHandler.
type link struct {
	barrel *barrel
	client httpconn.Client
	timer  netloop.Timer

	shots []shot // a ring
	first int    // the oldest
	count int

	place     int // in barrel.idle; -1: not there
	connected bool
	closing   bool   // takes no more shots
	parting   bool   // another may be opened in its place
	resting   bool   // before it gives back its room
	overdue   bool   // the time-out has passed; what has arrived is read before it counts
	gaveUp    bool   // ... and now it does
	unsent    bool   // the youngest shot has not been taken whole by the system
	status    int    // of the answer under way
	body      []byte // ... if it is to be compared
}

// shot is a round in flight. Its instants are the loop's clock.
type shot struct {
	belt   *belt
	round  *round
	number int64

	planned   time.Duration
	sent      time.Duration // when the gun acted: the request was sent, or the connection dialled
	connected time.Duration
	written   time.Duration
	begun     time.Duration // the first byte of the answer; 0: none yet
}

// keepBody is how much room for bodies that are compared a link keeps.
const keepBody = 64 << 10

// rest is for how long a connection of a flood that could not be made is not
// tried again.
const rest = 10 * time.Millisecond

func newLink(b *barrel) *link {
	l := &link{barrel: b, shots: make([]shot, b.gun.options.Pipeline), place: -1}
	l.timer.Func = l.timeUp
	return l
}

// fire sends a round, over a new connection where there is none.
func (l *link) fire(from *belt, r *round, number int64, planned time.Duration) {
	b := l.barrel
	s := &l.shots[(l.first+l.count)%len(l.shots)]
	*s = shot{belt: from, round: r, number: number, planned: planned}
	l.count++
	l.closing = r.closes
	if l.count == 1 {
		l.overdue = false
		b.loop.Arm(&l.timer, b.gun.options.Timeout)
	}
	if l.place >= 0 && (l.closing || l.count == len(l.shots)) {
		l.leaveIdle()
	}
	s.sent = b.loop.Clock()
	b.tick(s.sent)
	if planned == atOnce {
		s.planned = s.sent
	}
	if l.connected {
		s.connected = s.sent
		l.send(s)
	} else {
		l.client.Dial(b.loop, b.gun.options.Target, httpconn.ClientOptions{}, l)
		b.tally.opened++
		if b.tally.open++; b.tally.open > b.tally.most {
			b.tally.most = b.tally.open
		}
	}
	b.tally.countSent(r.group, s.sent-s.planned)
	b.interval.sent++
}

func (l *link) send(s *shot) {
	request := s.belt.bytes[s.round.from:s.round.to]
	if len(l.shots) > 1 {
		l.client.Conn().Cork()
	}
	l.barrel.request[0] = request
	l.client.Send(s.round.ask, l.barrel.request[:])
	s.written = l.barrel.loop.Clock()
	l.unsent = l.client.Conn().Pending() > 0
	l.barrel.tally.out += int64(len(request))
	l.barrel.interval.out += int64(len(request))
}

func (l *link) oldest() *shot { return &l.shots[l.first] }

func (l *link) youngest() *shot { return &l.shots[(l.first+l.count-1)%len(l.shots)] }

// land takes the oldest shot out.
func (l *link) land(o Outcome, net, received int, end time.Duration) {
	s := l.oldest()
	status := l.status
	l.first = (l.first + 1) % len(l.shots)
	l.count--
	l.status, l.overdue = 0, false
	l.barrel.landed(s, o, net, status, received, end)
}

// part leaves the place of a connection to another: the server is about to
// close it. Where servers do not keep their word, there are not more of these
// than there are places.
func (l *link) part() {
	b := l.barrel
	if len(b.parting) == b.most {
		b.parting[0].client.Conn().Abort() // it has its answer
		b.parting[0].parted()
	}
	l.parting = true
	b.parting = append(b.parting, l)
	b.room++
}

func (l *link) parted() {
	b := l.barrel
	l.parting = false
	b.parting = slices.DeleteFunc(b.parting, func(other *link) bool { return other == l })
	b.room--
}

func (l *link) enterIdle() {
	if l.place < 0 {
		l.place = len(l.barrel.idle)
		l.barrel.idle = append(l.barrel.idle, l)
	}
}

func (l *link) leaveIdle() {
	if l.place < 0 {
		return
	}
	idle := l.barrel.idle
	last := len(idle) - 1
	idle[l.place] = idle[last]
	idle[l.place].place = l.place
	l.barrel.idle, l.place = idle[:last], -1
}

// OnConnect sends what has waited, and the methods below are httpconn's, too.
func (l *link) OnConnect(*httpconn.Client) {
	l.connected = true
	s := l.oldest()
	s.connected = l.barrel.loop.Clock()
	l.send(s)
	if l.count < len(l.shots) && !l.closing {
		l.enterIdle()
		l.barrel.freed()
	}
}

// OnDrain notes when a long request has been sent.
func (l *link) OnDrain(*httpconn.Client) {
	if l.unsent && l.count > 0 {
		l.unsent = false
		l.youngest().written = l.barrel.loop.Clock()
	}
}

// OnBegin notes when an answer begins.
func (l *link) OnBegin(*httpconn.Client) { l.oldest().begun = l.barrel.loop.Clock() }

// OnTurn has nothing to note, and neither has OnInterim.
func (l *link) OnTurn(*httpconn.Client) {}

// OnInterim is httpconn's.
func (l *link) OnInterim(*httpconn.Client, *http1.Response) {}

// OnResponse notes the status.
func (l *link) OnResponse(_ *httpconn.Client, r *http1.Response) { l.status = r.Status() }

// OnBody keeps what is to be compared.
func (l *link) OnBody(_ *httpconn.Client, piece []byte) {
	if want := l.oldest().round.want; want != nil && len(l.body) <= want.most() {
		l.body = append(l.body, piece...)
	}
}

// OnDone counts an answer.
func (l *link) OnDone(c *httpconn.Client, _ *http1.Body, reusable bool) {
	b := l.barrel
	outcome := Answered
	if c.Surplus() {
		outcome = Surplus
	} else {
		l.compare()
	}
	l.land(outcome, outcome.Net(), c.Received(), b.loop.Clock())
	switch {
	case !reusable:
		l.closing = true
		l.leaveIdle()
	case l.closing && l.count == 0:
		c.Close()
	case !l.closing:
		l.enterIdle()
	}
	if l.closing && l.count == 0 {
		l.part()
	}
	b.freed()
	b.finish()
}

// compare hands an answer to the judge that is not clearly the expected one.
func (l *link) compare() {
	s, b := l.oldest(), l.barrel
	if s.round.want == nil {
		return
	}
	switch {
	case l.status != s.round.want.status:
		b.tally.wrong++
		if len(b.doubts) < showWrong {
			b.doubts = append(b.doubts, doubt{s.belt, s.round, s.number, l.status, bytes.Clone(l.body)})
		}
	case !s.belt.right(s.round, l.body):
		b.gun.judge.put(doubt{s.belt, s.round, s.number, l.status, l.body})
	}
	l.dropBody()
}

func (l *link) dropBody() {
	if l.body = l.body[:0]; cap(l.body) > keepBody {
		l.body = nil
	}
}

// timeUp looks whether the oldest shot has been in flight for too long.
func (l *link) timeUp() {
	b := l.barrel
	if l.resting {
		l.resting = false
		l.release()
		return
	}
	if l.count == 0 || l.gaveUp {
		return
	}
	left := l.oldest().sent + b.gun.options.Timeout - b.loop.Now()
	switch {
	case left > 0:
		l.overdue = false
		b.loop.Arm(&l.timer, left)
	case !l.overdue:
		// The answer may have arrived, and the gun have had no time to read it.
		l.overdue = true
		b.loop.Arm(&l.timer, 1)
	default:
		l.gaveUp = true
		l.client.Close()
	}
}

// OnClose counts what was in flight.
func (l *link) OnClose(_ *httpconn.Client, reason error) {
	b := l.barrel
	l.leaveIdle()
	if l.count == 0 && errors.Is(reason, httpconn.ErrUnasked) {
		b.tally.strays++
	}
	end := b.loop.Clock()
	received := l.client.Received() // of the oldest's answer
	for first := true; l.count > 0; first = false {
		outcome := Lost
		if first {
			outcome = l.verdict(reason)
		}
		net := outcome.Net()
		if number := syscall.Errno(0); outcome == Other && errors.As(reason, &number) {
			net = int(number)
		}
		l.land(outcome, net, received, end)
		received = 0
	}
	b.loop.Disarm(&l.timer)
	failed := !l.connected
	l.first, l.status = 0, 0
	l.dropBody()
	l.connected, l.closing, l.gaveUp, l.unsent = false, false, false, false
	if failed && b.gun.flood && !b.stopped {
		l.resting = true
		b.loop.Arm(&l.timer, rest)
		return
	}
	l.release()
}

// verdict is what has become of the oldest shot of a connection that has
// ended.
func (l *link) verdict(reason error) Outcome {
	switch {
	case l.gaveUp && l.connected:
		return Timeout
	case l.gaveUp:
		return ConnectTimeout
	}
	outcome := outcomeOf(reason, l.connected)
	if outcome == Cut && l.oldest().begun == 0 { // an answer before it had said that it was the last
		return Closed
	}
	return outcome
}

// release makes the link another connection's.
func (l *link) release() {
	if l.parting {
		l.parted()
	}
	l.barrel.room++
	l.barrel.tally.open--
	l.barrel.spare = append(l.barrel.spare, l)
	l.barrel.freed()
	l.barrel.finish()
}

// row is the shot's line of phout.txt.
func (s *shot) row(wall int64, net, status, received int, end time.Duration) phout.Row {
	// What a failed shot has not reached took no time; what it was at took the
	// rest.
	connected, written, begun := s.connected, s.written, s.begun
	if connected == 0 {
		connected = end
	}
	if written == 0 {
		written = end
	}
	if begun == 0 {
		begun = end
	}
	written = max(written, connected)
	begun = max(begun, written) // an answer may come before the request is sent
	out := int64(s.round.to - s.round.from)
	if s.connected == 0 {
		out = 0
	}
	return phout.Row{
		Sent: wall + int64(s.sent), Tag: s.round.tag, Number: s.number,
		Connect: connected - s.sent, Send: written - connected, Latency: begun - written, Receive: end - begun,
		Out: out, In: int64(received), Net: net, Status: status,
	}
}
