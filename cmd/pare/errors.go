package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-45b9a24c/pare/outcome"
)

// fail reports an error in the form asked for and returns the exit status.
func fail(err error, asJSON bool, stdout, stderr io.Writer) int {
	e := classify(err)
	if asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(failure{newErrorReport(e)}); err != nil {
			fmt.Fprintln(stderr, "pare:", writeError(err))
		}
	} else {
		fmt.Fprintln(stderr, "pare: "+explain(e, advice(err, e)))
	}
	if e.Kind == outcome.Usage || e.Flag != "" && e.File == "" {
		return exitUsage
	}
	return exitFailed
}

// classify returns err as a typed error in the command line's own words.
func classify(err error) *outcome.Error {
	var e *outcome.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &outcome.Error{Kind: outcome.IO, Message: "interrupted before there was a result"}
	case errors.As(err, &e):
		return e
	default:
		return &outcome.Error{Kind: outcome.Internal, Message: err.Error(), Err: err}
	}
}

// message is what is wrong, without where.
func message(e *outcome.Error) string {
	if e.Err == nil || e.Kind == outcome.Internal {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// explain is an error and what to do about it, for people.
func explain(e *outcome.Error, advice string) string {
	own := *e
	if own.Flag != "" {
		own.Flag = "--" + own.Flag
	}
	if own.HasRow || own.HasColumn {
		own.Row, own.Column = own.Row+1, own.Column+1 // people count from 1, as files do
	}
	if own.Kind == outcome.Internal {
		own.Err = nil
	}
	if advice == "" {
		return own.Error()
	}
	return own.Error() + ". " + advice
}

// advised is an error with what to do about it, from where that is known.
type advised struct {
	error
	advice string
}

func (a advised) Unwrap() error { return a.error }

// advice is what to do about an error, "" where that goes without saying. Errors that
// are not advised are of the data or of the command line.
func advice(err error, e *outcome.Error) string {
	if a, ok := errors.AsType[advised](err); ok {
		return a.advice
	}
	switch {
	case e.Kind == outcome.Internal:
		return "This is a defect of pare. Please report it with the command that shows it."
	case errors.Is(e, io.ErrUnexpectedEOF):
		return "The compressed file is not whole: copy or download it again."
	case e.Kind == outcome.Parse:
		return "pare reads svmlight text: a sample a line, \"label index:value ...\", indices from 1 and increasing. Correct that line and try again."
	case e.Kind == outcome.IO && e.File != "":
		return "Check the path and its permissions; without a file pare uses the diabetes data it carries."
	case e.Flag == "features" && e.Line > 0:
		return "State as many columns as there are, or correct that line."
	case e.Kind == outcome.BadParameter && e.HasRow && e.File != "":
		return "svm and logreg tell -1 from 1: write -1 for 0. --model multiclass takes labels of any kind, lasso, enet and ridge take numbers."
	case e.Kind == outcome.SingleClass:
		return "\"pare info\" shows the labels. Every fold must train on each class: --split stratified gives it a share, fewer --folds help where a class has few rows."
	case (e.Kind == outcome.Shape || e.Kind == outcome.BadParameter) && e.File != "":
		return "\"pare info\" shows what is in the file."
	case e.Kind == outcome.Usage:
		return "\"pare --help\" lists the commands, \"pare COMMAND --help\" its flags."
	default:
		return ""
	}
}

func writeError(err error) error {
	return &outcome.Error{Kind: outcome.IO, Message: "the result cannot be written", Err: err}
}

// flagPattern finds the flag in the parser's messages.
var flagPattern = regexp.MustCompile(`--([a-z][a-z-]*)`)

// meantPattern finds what the parser thinks was meant.
var meantPattern = regexp.MustCompile(`did you mean "([^"]*)"`)

// usageError turns the parser's complaint into one that names what there is.
func usageError(app *kong.Application, err error) error {
	text := err.Error()
	var command *kong.Node
	var parsed *kong.ParseError
	if errors.As(err, &parsed) && parsed.Context != nil {
		command = parsed.Context.Selected()
	}
	flag := ""
	if found := flagPattern.FindStringSubmatch(text); found != nil {
		flag = found[1]
	}
	meant := ""
	if found := meantPattern.FindStringSubmatch(text); found != nil {
		meant = ", perhaps " + found[1]
	}
	switch {
	case command == nil && !strings.HasPrefix(text, "unknown flag"):
		if argument, ok := strings.CutPrefix(text, "unexpected argument "); ok {
			argument, _, _ = strings.Cut(argument, ",")
			return outcome.Errorf(outcome.Usage, "no command %q; there are %s%s", argument, children(app.Node), meant)
		}
		return outcome.Errorf(outcome.Usage, "no command given; there are %s", children(app.Node))
	case command == nil:
		return outcome.At(outcome.Usage, flag, "the flags follow a command; there are %s", children(app.Node))
	case strings.HasPrefix(text, "unknown flag"):
		state := "there is no such flag"
		if owners := having(app, flag); owners != "" {
			state = "belongs to " + owners
		} else if meant != "" {
			return outcome.At(outcome.Usage, flag, "%s", state+meant)
		}
		return outcome.At(outcome.Usage, flag, "%s; pare %s has %s", state, command.Name, flags(command))
	case text == `expected "<model>"`:
		return outcome.Errorf(outcome.Usage, "predict needs a saved model: pare predict MODEL FILE; pare select FILE --save MODEL makes one")
	case strings.Contains(text, "but got \"EOL\"") || strings.Contains(text, "flag); perhaps"):
		return outcome.At(outcome.Usage, flag, "the value is missing")
	default:
		return outcome.At(outcome.Usage, flag, "%s", strings.TrimPrefix(text, "--"+flag+": "))
	}
}

func children(node *kong.Node) string {
	names := make([]string, len(node.Children))
	for i, c := range node.Children {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// having lists the commands that have a flag.
func having(app *kong.Application, flag string) string {
	var names []string
	for _, c := range app.Children {
		for _, f := range c.Flags {
			if f.Name == flag {
				names = append(names, c.Name)
			}
		}
	}
	return strings.Join(names, ", ")
}

func flags(command *kong.Node) string {
	names := make([]string, len(command.Flags))
	for i, f := range command.Flags {
		names[i] = "--" + f.Name
	}
	return strings.Join(names, ", ")
}
