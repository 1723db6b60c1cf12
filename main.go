// Redoubt is an HTTP server and filtering proxy that stand up to shelling,
// and the guns to test them. Everything it does is a command of its own; see
// README.md, or run it with --help.
package main

import (
	"os"

	"redoubt/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
