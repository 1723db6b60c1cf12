//go:build !linux

package cli

import (
	"errors"
	"io"

	"redoubt/proxy/config"
)

func (c *serveCmd) readFront(string, func(string)) (*config.Config, error) {
	return nil, badInput(errors.New("--front needs Linux, as the proxy does"))
}

func startFront(engine, *serveCmd, io.Writer) (engine, []string, error) {
	return nil, nil, errors.ErrUnsupported // readFront has said so
}
