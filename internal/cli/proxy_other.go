//go:build !linux

package cli

import (
	"errors"

	"redoubt/proxy/config"
)

func runProxy(*streams, *proxyCmd, *config.Config) error {
	return badInput(errors.New("the proxy needs Linux; --check and --schema run anywhere"))
}
