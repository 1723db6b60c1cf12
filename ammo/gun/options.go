package gun

import (
	"errors"
	"io"
	"net/netip"
	"time"

	"redoubt/ammo"
	"redoubt/ammo/schedule"
)

// Source is where records come from, one pass after another.
type Source interface {
	Next() (ammo.Record, error) // io.EOF at the end of a pass
	Rewind() error
}

// Answers is a Source that knows what should be answered. Answers that come
// whole are compared then: the status, and the body as JSON by value.
type Answers interface {
	Source
	Answer() ammo.Answer // to the record that Next returned last
}

// Options say what is fired, when, and how.
type Options struct {
	Target    netip.AddrPort
	Source    Source // Fire's own until it returns, and a tenth of a second longer if it hangs in Next
	Plan      schedule.Plan
	Passes    int64         // over the source at most; 0: as many as the plan takes
	Limit     int64         // shots at most; 0: no limit
	Instances int           // connections at a time in a scheduled run; 0: DefaultInstances. A flood's plan says its own
	Pipeline  int           // shots in flight on a connection of a flood; 0: 1
	Loops     int           // threads that fire; 0: 1. GOMAXPROCS should be two more
	Busy      bool          // they never sleep
	Timeout   time.Duration // of a shot, from the sent instant to the last byte; 0: DefaultTimeout

	Phout    io.Writer    // gets a line for each shot; nil: nobody does
	Numbered bool         // tags in Phout are TAG#N
	OnSecond func(Second) // is told of each second of the run, on a goroutine of its own
}

// Defaults of Options.
const (
	DefaultInstances = 1000
	DefaultTimeout   = 2 * time.Second
)

func (o *Options) defaults() {
	if o.Instances <= 0 {
		o.Instances = DefaultInstances
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.Pipeline = max(o.Pipeline, 1)
	o.Loops = max(o.Loops, 1)
}

// ErrNoAmmo says that a source has no records.
var ErrNoAmmo = errors.New("there is no record in it")

// ErrRewind says that a source cannot begin again, and the plan takes more than
// one pass. All that the first has brought has been fired.
var ErrRewind = errors.New("the ammo is over before the plan, and cannot begin again")

// ErrLateAmmo says that a source has been waited for until the plan was over.
var ErrLateAmmo = errors.New("the ammo has come too slowly: the plan is over, and shots of it were never there")
