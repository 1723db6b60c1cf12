package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"redoubt/proxy"
	"redoubt/proxy/config"
)

// signalTaker does what signals ask of a process with a proxy.
type signalTaker struct {
	who, file string // the command; what its configuration is in, or ""
	accessLog *config.Log
	proxy     *proxy.Proxy
	log       io.Writer
	read      func() (*config.Config, error)
}

// take opens the access log again or reads the file again, says what came of it,
// and returns a configuration that is newly in force.
func (t *signalTaker) take(sig os.Signal) *config.Config {
	if sig == syscall.SIGUSR1 {
		t.say("SIGUSR1: %s", t.reopen())
		return nil
	}
	next, err := t.reload()
	if err != nil {
		t.say("SIGHUP: %v", err)
		return nil
	}
	t.say("SIGHUP: %s is in force, %s", t.file, summary(next))
	return next
}

func (t *signalTaker) say(format string, args ...any) {
	fmt.Fprintf(t.log, "%s: %s\n", t.who, fmt.Sprintf(format, args...)) // in one Write
}

// reopen says what came of it. Which log there is no reload changes.
func (t *signalTaker) reopen() string {
	switch {
	case t.accessLog == nil:
		return "there is no access log to open again"
	case t.accessLog.File == "-":
		return "the access log goes to standard error, and stays there"
	}
	if err := t.proxy.ReopenLog(); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("access log %s reopened", t.accessLog.File)
}

// readTime is how long a file may take to be read again. Other signals wait for it.
const readTime = 10 * time.Second

func (t *signalTaker) reload() (*config.Config, error) {
	if t.file == "" {
		return nil, errors.New("there is no file to read again; start with --config FILE")
	}
	limited, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	next, err := await(limited, t.read)
	if limited.Err() != nil {
		err = fmt.Errorf("%s cannot be read within %v", t.file, readTime)
	}
	if err == nil {
		err = t.proxy.Reload(next)
	}
	if err != nil {
		return nil, fmt.Errorf("the old configuration stays: %w", err)
	}
	return next, nil
}
