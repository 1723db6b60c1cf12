package config

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"redoubt/internal/jsonc"
)

// How single values are read: functions for the tables.
type read = func(jsonc.Value) error

// object is a field that is an object of its own; without it its defaults are
// read.
func object(name, help string, inner []jsonc.Field) jsonc.Field {
	return jsonc.Field{Name: name, Help: help, Default: `{}`, Inner: func() []jsonc.Field { return inner },
		Read: func(v jsonc.Value) error { return v.Fields(strconv.Quote(name), inner) }}
}

func text(to *string) read {
	return func(v jsonc.Value) (err error) {
		*to, err = v.Text()
		return err
	}
}

func boolean(to *bool) read {
	return func(v jsonc.Value) (err error) {
		*to, err = v.Bool()
		return err
	}
}

func count(to *int, most int64) read {
	return func(v jsonc.Value) error {
		n, err := v.Int(0, most)
		*to = int(n)
		return err
	}
}

func size(name string, to *int64, least int64) read {
	return func(v jsonc.Value) (err error) {
		*to, err = v.Size(name, least, maxBytes)
		return err
	}
}

func duration(to *time.Duration, least time.Duration) read {
	return func(v jsonc.Value) (err error) {
		*to, err = v.Duration(least, maxTime)
		return err
	}
}

func oneOf(to *string, words ...string) read {
	return func(v jsonc.Value) (err error) {
		if *to, err = v.Text(); err == nil && !slices.Contains(words, *to) {
			err = v.Errorf("want %s, got %.40q", `"`+strings.Join(words, `" or "`)+`"`, *to)
		}
		return err
	}
}

// each reads the strings of a list.
func each(read func(text string, v jsonc.Value) error) read {
	return func(v jsonc.Value) error {
		return v.Elements(func(_ int, v jsonc.Value) error {
			text, err := v.Text()
			if err == nil {
				err = read(text, v)
			}
			return err
		})
	}
}

// quote is JSON of what has been strings before.
func quote(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always have one
	}
	return string(text)
}
