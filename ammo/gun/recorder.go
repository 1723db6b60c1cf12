//go:build linux

package gun

import (
	"math"
	"slices"

	"redoubt/ammo/phout"
)

// rowsAtOnce is how many rows of phout.txt a barrel hands over at once.
const rowsAtOnce = 4096

// parcel is what a barrel hands over.
type parcel struct {
	barrel int       // whose
	done   *interval // nil: no second has ended
	last   bool      // the barrel's last
	rows   []phout.Row
}

// recorder puts together what the barrels hand over, on a goroutine of its
// own, so that they never wait for a disk or a terminal.
type recorder struct {
	in     chan parcel
	free   chan []phout.Row // rows to be used again
	failed chan error       // phout.txt could not be written
	ended  chan struct{}

	rows     *phout.Writer
	err      error
	onSecond func(Second)
	under    map[int]*interval // seconds that not all barrels have handed over
	reached  []int             // by barrel: its youngest second
	next     int
	seconds  []Second
}

func newRecorder(o Options, barrels int) *recorder {
	const buffers = 8 // for each barrel: some 30,000 shots
	r := &recorder{
		in: make(chan parcel, barrels*buffers), free: make(chan []phout.Row, barrels*(buffers+1)),
		failed: make(chan error, 1), ended: make(chan struct{}),
		onSecond: o.OnSecond, under: make(map[int]*interval), reached: make([]int, barrels),
	}
	for i := range r.reached {
		r.reached[i] = -1
	}
	if o.Phout != nil {
		r.rows = phout.NewWriter(o.Phout, o.Numbered)
		for range barrels * buffers {
			r.free <- make([]phout.Row, 0, rowsAtOnce)
		}
	}
	return r
}

func (r *recorder) run() {
	defer close(r.ended)
	for p := range r.in {
		if r.rows != nil {
			r.write(p.rows)
			r.free <- p.rows[:0]
		}
		if p.done != nil {
			if sum := r.under[p.done.second]; sum == nil {
				r.under[p.done.second] = p.done
			} else {
				sum.add(p.done)
			}
			r.reached[p.barrel] = p.done.second
		}
		if p.last {
			r.reached[p.barrel] = math.MaxInt
		}
		for r.next <= slices.Min(r.reached) && r.under[r.next] != nil {
			r.tell(r.under[r.next])
			delete(r.under, r.next)
			r.next++
		}
	}
}

func (r *recorder) write(rows []phout.Row) {
	if r.err != nil {
		return
	}
	if r.err = r.rows.Write(rows); r.err != nil {
		r.failed <- r.err
	}
}

func (r *recorder) tell(i *interval) {
	s := Second{
		Second: i.second, Sent: i.sent, Answered: i.answered, Errors: i.failed, Dropped: i.drops, In: i.in, Out: i.out,
		Latency: newLatency(i.times),
	}
	r.seconds = append(r.seconds, s)
	if r.onSecond != nil {
		r.onSecond(s)
	}
}

// close returns what the seconds have brought, and whether all of phout.txt is
// written. No barrel hands over anything any more.
func (r *recorder) close() ([]Second, error) {
	close(r.in)
	<-r.ended
	if r.rows != nil && r.err == nil {
		r.err = r.rows.Flush()
	}
	return r.seconds, r.err
}
