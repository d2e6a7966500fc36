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
//
// While deferred calls of a function run in a panic, the runtime (go1.26 at least) has a pointer to where its arguments
// are on the stack. If a large struct is there whose address is taken, the garbage collector follows it again
// although nothing reads it any more, and what it alone referred to, such as a function of the caller's, may be freed by then:
// "found pointer to free object" ends the process. So a function that is given such a struct begins with
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
