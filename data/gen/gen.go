// Package gen generates data sets of the Travels contest, with ammo for the
// three phases and the answers to it.
//
// The data looks like the contest's: the same shapes of records and files, as
// many different names, cities and countries, the same spread of dates, marks
// and distances, and visits that pile up on the first users and locations. The
// requests have the contest's mix, parameters and shares of errors; a few per
// cent beyond that are hard cases of the contract, tagged "hard:...". Answers
// come from package model.
//
// Everything is determined by Options: the same options give the same bytes.
package gen

import (
	"context"
	"errors"
	"fmt"
)

// Options say what to generate. They are kept in generated.json.
type Options struct {
	Users     int    `json:"users"`     // at least 1
	Locations int    `json:"locations"` // at least 1
	Visits    int    `json:"visits"`
	Seed      uint64 `json:"seed"`
	Requests  int    `json:"requests"` // over the three phases, 3:3:5; 0 writes no ammo and needs little memory
	Gaps      int    `json:"gaps"`     // per cent of ids left out, 0 to 90
	Far       int    `json:"far"`      // records of each entity (as far as there are so many) whose ids are scattered up to 4294967295
}

// DefaultOptions is a set of the size of the contest's training set.
func DefaultOptions() Options {
	return Options{Users: 10_000, Locations: 7_600, Visits: 100_000, Seed: 1, Requests: 11_000}
}

// Check returns what is wrong with the options, or nil.
func (o Options) Check() error {
	const most = 1 << 30 // dense ids with 90 % gaps would no longer fit far above this
	switch {
	case o.Users < 1 || o.Locations < 1:
		return errors.New("at least one user and one location are needed")
	case o.Visits < 0 || o.Requests < 0 || o.Far < 0:
		return errors.New("visits, requests and far cannot be negative")
	case o.Gaps < 0 || o.Gaps > 90:
		return errors.New("gaps is a percentage from 0 to 90")
	}
	for _, n := range []int{o.Users, o.Locations, o.Visits} {
		if float64(n)/(1-float64(o.Gaps)/100) > most {
			return fmt.Errorf("%d records with %d %% gaps do not fit into 32-bit ids", n, o.Gaps)
		}
	}
	return nil
}

// Progress is how far Write has come: Done of Total records or requests of a
// Step ("users", "locations", "visits", "phase_1_get", ...).
type Progress struct {
	Step        string
	Done, Total int
}

// Summary counts what was written.
type Summary struct {
	Users     int            `json:"users"`
	Locations int            `json:"locations"`
	Visits    int            `json:"visits"`
	JSONBytes int64          `json:"json_bytes"` // of records, in the plain files
	Phases    []PhaseSummary `json:"phases"`
}

// PhaseSummary counts a phase's requests by the status of their answers.
type PhaseSummary struct {
	Name     string         `json:"name"`
	Requests int            `json:"requests"`
	Hard     int            `json:"hard"` // of these are hard cases
	Statuses map[string]int `json:"statuses"`
}

// Now is the "now" of generated sets: 1 September 2017, 09:41:23 UTC.
const Now = 1504258883

// Write generates into dir: data/ (users_N.json, locations_N.json,
// visits_N.json, options.txt, and data.zip with all of these), ammo/ and
// answers/ (phase_1_get, phase_2_post, phase_3_get), and generated.json, which
// tells how.
//
// dir may be missing, empty, or the outcome of an earlier run, whose data, ammo
// and answers folders are then replaced; anything else is ErrNotOurs. Files
// come into place only after all are written: on an error the folder is as
// before, or the error says what is left.
//
// progress may be nil. It is called every few thousand records, on the
// caller's goroutine.
func Write(ctx context.Context, dir string, opts Options, progress func(Progress)) (Summary, error) {
	if err := opts.Check(); err != nil {
		return Summary{}, err
	}
	target, err := claim(dir)
	if err != nil {
		return Summary{}, err
	}
	g := &run{ctx: ctx, opts: opts, folder: target, progress: progress}
	summary, err := g.all()
	if err != nil {
		return Summary{}, target.abandon(err)
	}
	return summary, target.install(marker{generator, opts, summary})
}
