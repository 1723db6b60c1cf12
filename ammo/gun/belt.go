//go:build linux

package gun

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"redoubt/netloop/httpconn"
)

// belt is a number of records in a row. It never changes, but for what the
// judge notes, so that all barrels may fire from it, again and again.
type belt struct {
	bytes  []byte // of all requests
	rounds []round
}

// round is a record in its belt.
type round struct {
	from, to int
	record   int // its number in the source
	tag      string
	group    uint8 // of the tag, in the summary
	ask      httpconn.Ask
	closes   bool      // the record asks for its connection to be closed
	want     *expected // nil: any answer will do
}

// load is a belt, or the beginning of one, with a number for each shot.
type load struct {
	*belt
	rounds []round
	first  int64 // the number of the first
}

const (
	beltRounds = 64
	beltBytes  = 64 << 10 // a belt ends with the record that reaches this
	// keepBytes is how much ammo stays in memory to be fired again. Ammo beyond
	// that is read anew in every pass.
	keepBytes = 64 << 20
	// beltsAhead is how many belts of a barrel wait to be fired.
	beltsAhead = 16

	otherGroup = maxGroups
	otherTags  = "(other tags)"
	roundBytes = 96 // that a round takes besides its request
)

// feeder packs a source's records into belts and deals them to barrels.
type feeder struct {
	source  Source
	answers Answers // nil: nothing is expected
	shots   int64   // to deal; negative: no end
	passes  int64   // over the source; 0: no end
	deal    func(l load) bool

	dealt   int64
	total   atomic.Int64 // of shots, when all are dealt; negative before
	refused bool         // deal has: there would be more
	groups  map[string]uint8
	kept    []*belt // of a pass, if they are all of it
	size    int     // of the belts kept
	most    int     // ... at most
	keep    bool

	mu   sync.Mutex // of tags, which grow while barrels fire
	tags []string   // by group
}

func newFeeder(source Source, shots, passes int64, deal func(load) bool) *feeder {
	f := &feeder{source: source, shots: shots, passes: passes, deal: deal, groups: make(map[string]uint8), most: keepBytes, keep: true}
	f.total.Store(-1)
	f.answers, _ = source.(Answers)
	return f
}

// run deals until there is nothing more to deal, deal refuses, or an error of
// the source.
func (f *feeder) run() error {
	defer func() {
		if !f.refused {
			f.total.Store(f.dealt)
		}
	}()
	more, err := f.read()
	if err != nil || !more {
		return err
	}
	if f.dealt == 0 {
		return ErrNoAmmo
	}
	var long *belt // short ammo several times
	var times int64
	if f.keep {
		long, times = f.stretch()
	}
	for pass := int64(1); f.passes == 0 || pass < f.passes; {
		switch {
		case times > 1 && (f.passes == 0 || f.passes-pass >= times):
			more = f.give(long)
			pass += times
		case f.keep:
			more = f.again()
			pass++
		default:
			if err := f.source.Rewind(); err != nil {
				return fmt.Errorf("%w: %w", ErrRewind, err)
			}
			dealt := f.dealt
			more, err = f.read()
			if more && f.dealt == dealt { // it has been emptied since
				return ErrNoAmmo
			}
			pass++
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// again deals the belts of the first pass. It is false where no more are
// wanted.
func (f *feeder) again() bool {
	for _, b := range f.kept {
		if !f.give(b) {
			return false
		}
	}
	return true
}

// stretch makes a full belt of ammo that fills less than half of one: a belt
// for each pass would keep feeder and barrels busy with each other.
func (f *feeder) stretch() (long *belt, times int64) {
	if len(f.kept) != 1 {
		return nil, 1
	}
	short := f.kept[0]
	times = int64(beltRounds / len(short.rounds))
	return &belt{bytes: short.bytes, rounds: slices.Repeat(short.rounds, int(times))}, times
}

func (f *feeder) give(b *belt) bool {
	rounds := b.rounds
	if left := f.shots - f.dealt; f.shots >= 0 && int64(len(rounds)) > left {
		rounds = rounds[:left]
	}
	if len(rounds) > 0 && !f.deal(load{belt: b, rounds: rounds, first: f.dealt}) {
		f.refused = true
		return false
	}
	f.dealt += int64(len(rounds))
	return f.shots < 0 || f.dealt < f.shots
}

// read deals one pass over the source.
func (f *feeder) read() (more bool, err error) {
	for {
		b, err := f.pack()
		if len(b.rounds) > 0 {
			f.remember(b)
			if !f.give(b) {
				return false, nil
			}
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

func (f *feeder) remember(b *belt) {
	f.size += len(b.bytes) + roundBytes*len(b.rounds)
	for i := range b.rounds {
		if b.rounds[i].group == otherGroup { // others share theirs
			f.size += len(b.rounds[i].tag)
		}
	}
	if f.size > f.most {
		f.keep, f.kept = false, nil
	}
	if f.keep {
		f.kept = append(f.kept, b)
	}
}

// pack reads records into a belt until it is full, or an error.
func (f *feeder) pack() (*belt, error) {
	b := &belt{rounds: make([]round, 0, beltRounds)}
	for len(b.rounds) < beltRounds && len(b.bytes) < beltBytes {
		record, err := f.source.Next()
		if err != nil {
			return b, err
		}
		from := len(b.bytes)
		b.bytes = append(b.bytes, record.Bytes...)
		method, _ := record.MethodTarget()
		r := round{record: record.Number, from: from, to: len(b.bytes), ask: httpconn.AskOf(method), closes: record.Closes()}
		r.tag, r.group = f.tag(record.Tag)
		if f.answers != nil {
			want := f.answers.Answer()
			r.want = &expected{status: want.Status, from: len(b.bytes), to: len(b.bytes) + len(want.Body)}
			b.bytes = append(b.bytes, want.Body...)
		}
		b.rounds = append(b.rounds, r)
	}
	return b, nil
}

// tag finds a tag's group. Ammo may have a tag of its own for every record, so
// there is an end to groups.
func (f *feeder) tag(tag []byte) (string, uint8) {
	if group, ok := f.groups[string(tag)]; ok {
		return f.tags[group], group
	}
	text := string(tag)
	if len(f.tags) == maxGroups {
		return text, otherGroup
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	group := uint8(len(f.tags))
	f.tags = append(f.tags, text)
	f.groups[text] = group
	return text, group
}

// tagOf is the name of a group.
func (f *feeder) tagOf(group int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if group < len(f.tags) {
		return f.tags[group]
	}
	return otherTags
}
