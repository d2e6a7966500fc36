package outcome

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Kind classifies an [Error]. Its text is stable: other programs read it.
type Kind string

// The kinds of errors.
const (
	Usage        Kind = "usage"         // the request itself: an unknown flag, a model that does not exist
	Parse        Kind = "parse"         // malformed input text
	NonFinite    Kind = "non_finite"    // NaN or ±Inf where a number is needed
	BadParameter Kind = "bad_parameter" // a parameter outside its domain
	Shape        Kind = "shape"         // lengths or dimensions that do not fit together
	SingleClass  Kind = "single_class"  // a classification problem with one class
	Limit        Kind = "limit"         // a stated limit would be exceeded
	IO           Kind = "io"            // an error of the operating system
	Internal     Kind = "internal"      // a defect in pare, or a panic in a function of the caller's
)

// Error is what every package returns for input it cannot accept. Fields that
// do not apply are zero. Row, Column and Class are valid if the corresponding Has
// field is true.
type Error struct {
	Kind    Kind
	Message string

	File string // file name, where one is known
	Line int    // 1-based line of a text file
	Byte int64  // 1-based byte within the line

	Part string // of the problem, where it has several: "fold 2", "class 3"

	HasRow, HasColumn bool
	Row, Column       int // 0-based position in a matrix or vector

	HasClass bool
	Class    float64 // label of a class, as in the target

	Flag string // option or flag at fault, in the spelling of flags: "log-lambda"
	Err  error  // cause, reached by errors.Is and errors.As
}

// Error renders "where: message: cause".
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d, byte %d: ", e.Line, e.Byte)
	}
	if e.Part != "" {
		b.WriteString(e.Part)
		b.WriteString(": ")
	}
	if e.HasClass {
		fmt.Fprintf(&b, "class %g: ", e.Class)
	}
	if e.HasRow {
		fmt.Fprintf(&b, "row %d: ", e.Row)
	}
	if e.HasColumn {
		fmt.Fprintf(&b, "column %d: ", e.Column)
	}
	if e.Flag != "" {
		b.WriteString(e.Flag)
		b.WriteString(": ")
	}
	b.WriteString(e.Reason())
	return b.String()
}

// Reason returns the message and its cause, without the position.
func (e *Error) Reason() string {
	if e.Err == nil {
		return e.Message
	}
	cause := e.Err
	if p, ok := errors.AsType[*fs.PathError](cause); ok && p.Path == e.File {
		cause = p.Err // Error has the file's name already
	}
	return e.Message + ": " + cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the [Error] that err is or wraps, "" if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// At returns an error of the given kind about the option or flag named.
func At(kind Kind, flag, format string, args ...any) *Error {
	return &Error{Kind: kind, Flag: flag, Message: fmt.Sprintf(format, args...)}
}

// In returns err as the error of a part of the problem.
func In(part string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", part, err)
	}
	own := *e
	own.Part = part
	return &own
}

// OfClass returns an error of the given kind about the class of a label.
func OfClass(kind Kind, label float64, format string, args ...any) *Error {
	return &Error{Kind: kind, HasClass: true, Class: label, Message: fmt.Sprintf(format, args...)}
}

// Errorf returns an error of the given kind.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
