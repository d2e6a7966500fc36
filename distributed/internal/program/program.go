// Package program has the common parts of the commands: flags, signals, and exit statuses, which are the same
// as those of pare.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/seed-45b9a24c/pare/outcome"
)

// ErrUntrusted is the error of a result that is printed but has not converged or cannot be trusted.
var ErrUntrusted = errors.New("not to be trusted")

// Exit statuses.
const (
	failed    = 1 // another try may help
	usage     = 2 // a faulty command line
	untrusted = 3 // there is a result, with ErrUntrusted
)

// Main parses flags, calls run with a context that the first interrupt or SIGTERM ends, and returns the exit
// status. A second signal kills the process.
func Main(name, about string, flags any, args []string, stderr io.Writer, run func(context.Context) error) int {
	parser, err := kong.New(flags, kong.Name(name), kong.Description(about))
	if err == nil {
		_, err = parser.Parse(args)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v; see %s --help\n", name, err, name)
		return usage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err = run(ctx)
	switch {
	case err == nil, errors.Is(err, ErrUntrusted):
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		fmt.Fprintln(stderr, name+": interrupted before there was a result")
	default:
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
	}
	return status(err)
}

// status returns the exit status for an error.
func status(err error) int {
	e, _ := errors.AsType[*outcome.Error](err)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrUntrusted):
		return untrusted
	case e != nil && e.Kind != outcome.IO && (e.Kind == outcome.Usage || e.Flag != "" && e.File == ""):
		return usage
	default:
		return failed
	}
}
