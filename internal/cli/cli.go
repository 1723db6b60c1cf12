// Package cli holds the commands of redoubt, one thin file each: flags,
// wiring and exit codes. The work itself is done in the packages below; this
// one alone knows all of them.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes, the same for every command.
const (
	exitFine   = 0 // the run ended well
	exitFailed = 1 // the run or a check failed
	exitInput  = 2 // wrong usage, configuration or input
)

// commands is the whole command line, in the order that --help shows it.
type commands struct {
	Demo  demoCmd  `cmd:"" help:"Show everything at once: generate data, serve it, shell it, check every answer."`
	Serve serveCmd `cmd:"" help:"Serve the Travels API from memory."`
	Gen   genCmd   `cmd:"" help:"Generate a Travels data set with ammo and answers."`
	Check checkCmd `cmd:"" help:"Fire the ammo of all three phases at a server and compare every answer."`

	Profile profileFlag `placeholder:"KIND" help:"Write a profile of this run to the current folder: cpu, mem, allocs, heap, block, mutex, goroutine, thread or trace."`
}

// streams is what a command may read from the world besides its flags.
type streams struct {
	ctx      context.Context // ends on SIGINT or SIGTERM
	out, err io.Writer
}

// inputError marks an error the user mends by changing flags, files or
// configuration; it exits with 2.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// badInput wraps err so that the process exits with 2.
func badInput(err error) error {
	if err == nil {
		return nil
	}
	return inputError{err}
}

// Main runs the command line args (without the program's name) and returns
// the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return run(ctx, args, stdout, stderr)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cmds commands
	code := -1
	parser, err := kong.New(&cmds,
		kong.Name("redoubt"),
		kong.Description("An HTTP server that stands up to shelling, and the guns to test it.\n\nNew here? Run `redoubt demo`."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err) // the tags of commands are wrong: no input can cause this
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if code >= 0 { // --help has been printed
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "redoubt: %v\nRun redoubt --help for the commands and their flags.\n", err)
		return exitInput
	}
	defer cmds.Profile.start(stderr)()
	if err := parsed.Run(&streams{ctx: ctx, out: stdout, err: stderr}); err != nil {
		fmt.Fprintf(stderr, "redoubt %s: %v\n", parsed.Selected().Name, err)
		if errors.As(err, &inputError{}) {
			return exitInput
		}
		return exitFailed
	}
	return exitFine
}
