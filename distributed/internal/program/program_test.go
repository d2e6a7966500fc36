package program_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/distributed/internal/program"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestExitStatuses checks that exit statuses are those of the command pare, and distinguish
// errors that a retry cannot remedy.
func TestExitStatuses(t *testing.T) {
	for _, c := range []struct {
		args   []string
		err    error
		status int
		says   string
	}{
		{nil, nil, 0, ""},
		{[]string{"--none"}, nil, 2, "--none"},
		{nil, outcome.At(outcome.Usage, "job", "belongs to another"), 2, "another"},
		{nil, outcome.At(outcome.BadParameter, "folds", "too few"), 2, "too few"},
		{nil, outcome.At(outcome.IO, "runner", "no connection"), 1, "no connection"},
		{nil, errors.New("amiss"), 1, "amiss"},
		{nil, program.ErrUntrusted, 3, ""},
	} {
		var flags struct{}
		var said bytes.Buffer
		got := program.Main("p", "", &flags, c.args, &said, func(context.Context) error { return c.err })
		if got != c.status || !strings.Contains(said.String(), c.says) || c.says == "" && said.Len() > 0 {
			t.Errorf("%v, %v: %d, %s", c.args, c.err, got, said.String())
		}
	}
}

// TestInterruptsEndTheContext checks that interrupts end the context and are not reported as
// errors of the program.
func TestInterruptsEndTheContext(t *testing.T) {
	var flags struct{}
	var said bytes.Buffer
	got := program.Main("p", "", &flags, nil, &said, func(ctx context.Context) error {
		own, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := own.Signal(os.Interrupt); err != nil {
			t.Skip(err) // the system does not send interrupts
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if got != 1 || !strings.Contains(said.String(), "interrupted") {
		t.Errorf("%d, %s", got, said.String())
	}
}
