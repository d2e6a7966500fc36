package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/seed-45b9a24c/pare/search"
)

// progress shows what is being done: on a terminal in one line, rewritten in place; with --progress and no
// terminal, in one line per evaluation; otherwise not at all.
type progress struct {
	w     io.Writer // nil: silent
	plain bool
	notes io.Writer // for unsolicited notes, if there is no terminal
	width int
	began time.Time

	mu     sync.Mutex
	doing  string // what is being done
	of     string // how far it is
	best   string // the best evaluation so far
	value  float64
	count  int     // evaluations
	budget int     // largest number of evaluations; 0: not known
	limit  float64 // time limit of the search, in seconds; 0: none
	ended  chan struct{}
	last   sync.WaitGroup
}

const (
	patience = 200 * time.Millisecond // shorter work shows no progress
	renewed  = 100 * time.Millisecond
)

// newProgress shows progress on standard error, if that is a terminal or lines are asked for.
func newProgress(stderr io.Writer, out outputFlags) *progress {
	p := &progress{began: time.Now(), value: math.Inf(1), doing: "starting", notes: io.Discard}
	file, ok := stderr.(*os.File)
	switch terminal := ok && term.IsTerminal(int(file.Fd())); {
	case out.Quiet:
	case terminal:
		p.w, p.width = stderr, screen(stderr)
		p.ended = make(chan struct{})
		p.last.Go(p.renew)
	case out.Progress:
		p.w, p.plain, p.notes = stderr, true, stderr
	default:
		p.notes = stderr
	}
	return p
}

// renew rewrites the line until stop is called.
func (p *progress) renew() {
	wait := time.NewTimer(patience)
	defer wait.Stop()
	for {
		select {
		case <-p.ended:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-wait.C:
			fmt.Fprint(p.w, "\r\x1b[K"+p.line())
			wait.Reset(renewed)
		}
	}
}

// stop ends the progress and clears its line on a terminal.
func (p *progress) stop() {
	if p.ended != nil {
		close(p.ended)
		p.last.Wait()
		p.ended = nil
	}
}

// line shows what is being done, how far it is, the best value so far, and the time elapsed.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := slices.DeleteFunc([]string{p.doing, p.of, p.best}, func(s string) bool { return s == "" })
	elapsed := fmt.Sprintf("; %.1f s", time.Since(p.began).Seconds())
	if p.limit > 0 {
		elapsed = fmt.Sprintf("; %.1f of %g s", time.Since(p.began).Seconds(), p.limit)
	}
	runes := []rune(strings.Join(parts, "; "))
	if most := p.width - 1 - len(elapsed); len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return string(runes) + elapsed
}

// begin sets what is being done from now on.
func (p *progress) begin(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.of, p.limit = fmt.Sprintf(format, args...), "", 0
}

// stopping says that a signal has come, since the work may take a while to end.
func (p *progress) stopping() {
	const text = "stopping; interrupt again to end at once"
	p.begin(text)
	fmt.Fprintln(p.notes, "pare:", text)
}

// expect sets the largest number of evaluations, and the time limit in seconds; 0 means unknown or none.
func (p *progress) expect(budget int, seconds float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budget, p.limit = budget, seconds
}

// inner reports inner problems of an evaluation, or of a path; top is ln αmax.
func (p *progress) inner(top []float64) func(done, of int, logLambda []float64) {
	if p.w == nil {
		return nil
	}
	return func(done, of int, logLambda []float64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.of = fmt.Sprintf("%d of %d solved at %s", done, of, strengthIn(logLambda, top))
	}
}

// strengthIn formats a λ in few characters.
func strengthIn(logLambda, top []float64) string {
	name := "α/αmax"
	if len(top) == 0 || math.IsNaN(top[0]) {
		name = "C"
	}
	return name + " " + spread(ratios(logLambda, top), "%.3g", "%.2g")
}

// evaluation reports one evaluation of the criterion; top is ln αmax.
func (p *progress) evaluation(e search.Evaluation, top []float64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	p.of = ""
	at := fmt.Sprintf("%.6g at %s", e.Value, strengthIn(e.LogLambda, top))
	if p.plain {
		fmt.Fprintf(p.w, "%4d: %s; support %d; %.2f s\n", p.count, at, e.Support, time.Since(p.began).Seconds())
	}
	if e.Value < p.value {
		p.value, p.best = e.Value, "best "+at
	}
	p.doing = fmt.Sprintf("evaluation %d", p.count+1)
	if p.budget > 0 {
		p.doing += fmt.Sprintf(" of at most %d", p.budget)
	}
}
