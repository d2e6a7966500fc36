package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// fail reports an error, as JSON or as text, and returns the exit status.
func fail(err error, asJSON bool, stdout, stderr io.Writer) int {
	e := classify(err)
	if asJSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(failure{newErrorReport(e)}); err != nil {
			fmt.Fprintln(stderr, "pare:", writeError(err))
		}
	} else {
		text := visible("pare: " + explain(e, advice(err, e)))
		if onTerminal(stderr) {
			text = strings.Join(wrap(text, screen(stderr)), "\n")
		}
		fmt.Fprintln(stderr, text)
	}
	if e.Kind == outcome.Usage || e.Flag != "" && e.File == "" {
		return exitUsage
	}
	return exitFailed
}

// classify returns err as a typed error, with messages of the command line for errors that have no type.
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

// message returns what is wrong, without the place.
func message(e *outcome.Error) string {
	if e.Kind == outcome.Internal {
		return e.Message
	}
	return e.Reason()
}

// explain returns the text of an error and what to do about it.
func explain(e *outcome.Error, advice string) string {
	own := *e
	if own.Kind == outcome.Parse && slices.Contains([]string{"one-hot", "missing", "categories", "drop", "decimal-comma", "zero-based"}, own.Flag) {
		own.Flag = "" // the flag would help; it is not what is wrong
	}
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

// advised is an error with advice from the place that returns it.
type advised struct {
	error
	advice string
}

func (a advised) Unwrap() error { return a.error }

// advice returns what to do about an error, "" if that is obvious. Errors that are not advised concern the data
// or the command line.
func advice(err error, e *outcome.Error) string {
	if a, ok := errors.AsType[advised](err); ok {
		return a.advice
	}
	switch {
	case e.Kind == outcome.Internal:
		return "This is a defect of pare. Please report it with the command that shows it and what pare --version prints."
	case errors.Is(e, io.ErrUnexpectedEOF):
		return "The compressed file is incomplete: copy or download it again."
	case e.Kind == outcome.IO && (e.Line > 0 || e.File != "" && e.Err != nil) && !errors.As(e, new(*fs.PathError)):
		return "The file is damaged or could not be read to the end: copy or download it again."
	case e.Flag == "missing" && e.Line == 1:
		return "--missing mean, zero or drop-rows says how to treat such cells; if this line is the header, give --header."
	case e.Flag == "missing" && e.File != "":
		return "--missing mean, zero or drop-rows says how to treat such cells."
	case e.Flag == "one-hot" && e.Line == 1:
		return "--one-hot makes a column for each category, --drop leaves the column out; if this line is the header, give --header."
	case e.Flag == "one-hot" && e.File != "":
		return "--one-hot makes a column for each category, --drop leaves the column out."
	case e.Flag == "decimal-comma" && e.Line > 0:
		return "--decimal-comma reads all commas in numbers as decimal commas."
	case e.Flag == "zero-based" && e.Line > 0:
		return "--zero-based counts indices from 0."
	case e.Flag == "drop" && e.HasRow:
		return "--drop leaves the column out, --categories makes each time a category; for a trend write numbers."
	case e.Flag == "drop" && e.Kind == outcome.Parse:
		return "--drop leaves the column out, by name or number."
	case e.Flag == "categories" && e.File != "":
		return "--categories treats the whole column as text, --drop leaves it out."
	case e.Kind == outcome.Parse && e.Line > 0:
		return "Correct that line or write the file again; \"pare help formats\" says what pare reads."
	case e.Kind == outcome.Parse && e.File != "":
		return "\"pare help formats\" says what pare reads."
	case e.Kind == outcome.Usage && (e.Flag == "target" || e.Flag == "drop" || e.Flag == "columns" || e.Flag == "categories"):
		return "\"pare info FILE\" shows the columns."
	case e.Kind == outcome.BadParameter && e.Flag == "model":
		return ""
	case e.Kind == outcome.IO && e.File != "":
		return "Check the path and its permissions; without a file pare uses its built-in diabetes data."
	case e.Flag == "features" && e.Line > 0:
		return "Give the actual number of columns, or correct that line."
	case errors.Is(e, sparse.ErrScale) && e.File != "":
		return "--unit-columns scales every column to norm 1."
	case e.Kind == outcome.BadParameter && e.HasRow && e.File != "" && strings.HasPrefix(e.Message, "the label "):
		return "svm and logreg need two classes, --model multiclass takes any number of classes, and lasso, enet and ridge take numbers."
	case e.Kind == outcome.NonFinite && e.HasRow && e.File != "":
		return "All values of a matrix must be finite: leave the row or column out, or write another value."
	case e.Kind == outcome.SingleClass:
		return "\"pare info\" shows the labels. Every fold must train on every class: --split stratified gives each fold its share; if a class has few rows, use fewer --folds."
	case (e.Kind == outcome.Shape || e.Kind == outcome.BadParameter) && e.File != "" && !e.HasColumn && !e.HasRow:
		return "\"pare info\" shows what is in the file."
	default:
		return ""
	}
}

func writeError(err error) error {
	return &outcome.Error{Kind: outcome.IO, Message: "the result cannot be written", Err: err}
}
