//go:build !linux

package cli

import (
	"errors"

	"redoubt/handlers"
)

const (
	defaultEngine = "fasthttp"
	hasNetloop    = false
)

func warningOf(int, bool) string { return "" }

func newLoopEngine(*handlers.API, engineOptions) (engine, error) {
	return nil, errors.ErrUnsupported // checkEngine has said so
}
