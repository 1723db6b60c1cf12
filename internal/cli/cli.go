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
	"runtime/debug"
	"slices"
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
	Demo  demoCmd  `cmd:"" help:"Show everything at once: generate data, serve it, fire at it, check every answer."`
	Serve serveCmd `cmd:"" help:"Serve the Travels API from memory."`
	Gen   genCmd   `cmd:"" help:"Generate a Travels data set with ammo and answers."`
	Check checkCmd `cmd:"" help:"Fire the ammo of all three phases at a server and compare every answer."`
	Fire  fireCmd  `cmd:"" help:"Fire ammo at a server on a load profile, and measure."`
	Proxy proxyCmd `cmd:"" help:"Filter and rewrite what clients and servers say to each other."`
	Subst substCmd `cmd:"" help:"Replace by many expressions at once in a file or a stream."`

	Version kong.VersionFlag `help:"Print the version."`
	Profile profileFlag      `placeholder:"KIND" help:"Write a profile of this run to the current folder: cpu, mem, allocs, heap, block, mutex, goroutine, thread or trace."`
}

// streams is what a command may read from the world besides its flags.
type streams struct {
	ctx      context.Context // ends on SIGINT or SIGTERM
	out, err io.Writer
}

// output remembers that something could not be written: a report that nobody
// got must not pass for a good one.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// errInterrupted ends a command whose user has lost patience.
var errInterrupted = errors.New("interrupted")

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

// version tells what this program was built from, as far as the build knows.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "redoubt, of unknown version"
	}
	text := "redoubt " + info.Main.Version + ", " + info.GoVersion
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += ", " + s.Value
		}
	}
	return text
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var cmds commands
	code := -1
	out := &output{Writer: stdout}
	parser, err := kong.New(&cmds,
		kong.Name("redoubt"),
		kong.Description("A server for the HighloadCup 2017 Travels API, all in memory, and what tests it.\n\nNew here? Run `redoubt demo`."),
		kong.Vars{"version": version(), "engine": defaultEngine},
		kong.Writers(out, stderr),
		kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		panic(err) // the tags of commands are wrong: no input can cause this
	}
	if len(args) == 0 || args[0] == "help" {
		args = append(slices.Clone(args[min(1, len(args)):]), "--help")
	}
	parsed, err := parser.Parse(args)
	if code >= 0 || out.failed != nil { // --help has been printed
		if out.failed != nil {
			fmt.Fprintf(stderr, "redoubt: cannot write the output: %v\n", out.failed)
			return exitFailed
		}
		return code
	}
	if err != nil {
		help := "redoubt --help"
		if p := (*kong.ParseError)(nil); errors.As(err, &p) && p.Context.Selected() != nil {
			help = "redoubt " + p.Context.Selected().Name + " --help"
		}
		fmt.Fprintf(stderr, "redoubt: %v\nSee %s.\n", err, help)
		return exitInput
	}
	defer cmds.Profile.start(stderr)()
	err = parsed.Run(&streams{ctx: ctx, out: out, err: stderr})
	if err == nil && out.failed != nil {
		err = fmt.Errorf("cannot write the output: %w", out.failed)
	}
	if err != nil {
		fmt.Fprintf(stderr, "redoubt %s: %v\n", parsed.Selected().Name, err)
		if errors.As(err, &inputError{}) {
			return exitInput
		}
		return exitFailed
	}
	return exitFine
}
