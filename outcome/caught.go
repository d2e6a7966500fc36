package outcome

import (
	"fmt"
	"runtime/debug"
)

// PanicError is the cause of an error of kind Internal: a panic, mostly in a function of the
// caller.
type PanicError struct {
	Value any    // the value of the panic
	Stack []byte // the stack trace
}

// Error formats the value.
func (p *PanicError) Error() string { return fmt.Sprint(p.Value) }

// Unwrap returns the value if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Caught is to be deferred where a call begins, and on every goroutine that the call starts. It recovers a
// panic and sets err: to the error of the context if an operation ended with its context (the value of the
// panic then has a method Ended, see package kernels), else to an error of kind Internal with a [PanicError].
//
// While a panic runs the deferred calls of a function, the runtime (go1.26 at least) holds a pointer to the
// function's arguments on the stack. If one of them is a large struct whose address is taken, the garbage
// collector scans it again although nothing reads it any more. An object that only the struct refers to, such
// as a function of the caller, may have been freed by then: "found pointer to free object" ends the process.
// A function that takes such a struct therefore begins with
//
//	defer runtime.KeepAlive(&o)
//	defer outcome.Caught(&err)
func Caught(err *error) {
	switch cause := recover().(type) {
	case nil:
	case interface{ Ended() error }:
		*err = cause.Ended()
	default:
		*err = &Error{Kind: Internal, Message: "panic", Err: &PanicError{cause, debug.Stack()}}
	}
}
