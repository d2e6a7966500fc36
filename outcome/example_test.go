package outcome_test

import (
	"errors"
	"fmt"

	"github.com/seed-45b9a24c/pare/outcome"
)

// An error says what kind it is, and where.
func ExampleError() {
	var err error = &outcome.Error{Kind: outcome.Parse, File: "data.svm", Line: 3, Byte: 7, Message: "the index repeats"}
	fmt.Println(err)
	fmt.Println(outcome.KindOf(err))
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		fmt.Println(e.Line)
	}
	// Output:
	// data.svm: line 3, byte 7: the index repeats
	// parse
	// 3
}
