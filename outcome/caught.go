package outcome

import (
	"fmt"
	"runtime/debug"
)

// PanicError is the cause of an error of kind Internal: something panicked, mostly a function of
// the caller's.
type PanicError struct {
	Value any    // what it panicked with
	Stack []byte // where
}

// Error renders the value.
func (p *PanicError) Error() string { return fmt.Sprint(p.Value) }

// Unwrap returns the value where it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Caught is to be deferred where a call begins, and on every goroutine that it starts. It sets err
// where an operation ended with its context, whose error it then is (the panic's value has a method Ended,
// see package kernels), and where anything else panicked: to an error of kind Internal with a [PanicError].
func Caught(err *error) {
	switch cause := recover().(type) {
	case nil:
	case interface{ Ended() error }:
		*err = cause.Ended()
	default:
		*err = &Error{Kind: Internal, Message: "panic", Err: &PanicError{cause, debug.Stack()}}
	}
}
