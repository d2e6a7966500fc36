// Command pare fits sparse linear models to a file of data and chooses
// their regularisation by gradient descent on a validation criterion.
//
//	pare select FILE   choose λ, refit, print the choice
//	pare fit FILE      solve at one λ
//	pare grad FILE     criterion value and hypergradient at one λ
//	pare report FILE   choose λ, and write a page with charts
//	pare path FILE     solve along a grid of λ
//	pare predict MODEL FILE   predict by a model that select or fit has saved
//	pare inspect MODEL   what is in a saved model
//	pare convert FILE OUT   write data to a file that is mapped into memory
//	pare info FILE     what is in the file
//
// Without FILE it uses the diabetes data it carries. `pare select --help` lists
// the flags. Results go to standard output, as text or with --json as one JSON
// object; progress goes to standard error, on a terminal only. The exit status
// is 0 for a result, 1 for a failure, 2 for a faulty command line, and 3 for a
// result that is printed but not converged or not to be trusted.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	collectInTime()
	ctx, cancel := context.WithCancel(context.Background())
	asked := newInterrupt(cancel)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, ending...)
	go func() {
		<-signals
		signal.Stop(signals) // the second signal kills
		asked.hear()
	}()
	os.Exit(run(ctx, asked, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
