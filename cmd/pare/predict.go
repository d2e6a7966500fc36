package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// saveFlags keep the model for pare predict.
type saveFlags struct {
	Save string `placeholder:"MODEL" help:"Keep the model in this file, for pare predict." group:"Output"`
}

// keeping checks the flag beside the preparation of the data.
func (f saveFlags) keeping(d dataFlags) interface{ check() error } { return savedFlags{f, d} }

type savedFlags struct {
	saveFlags
	dataFlags
}

func (f savedFlags) check() error {
	if f.Save != "" && f.UnitRows && f.MinNNZ > 0 {
		return outcome.At(outcome.Usage, "save", "a saved model scales whole rows, and --min-nnz has dropped columns before --unit-rows; leave out one of them")
	}
	if f.Save == "" {
		return nil
	}
	if err := replaceable("save", f.Save, "cannot save the model"); err != nil {
		return err
	}
	if holdsOther(f.Save) {
		e := &outcome.Error{Kind: outcome.BadParameter, File: f.Save, Flag: "save", Message: "this file holds something else than a saved model, and stays as it is"}
		return advised{e, "Give --save another name, or remove the file."}
	}
	return nil
}

// holdsOther reports whether a file holds something that is no saved model: it may be the
// data.
func holdsOther(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	const mark = `{"pare_model":`
	head := make([]byte, len(mark))
	n, _ := io.ReadFull(file, head)
	return n > 0 && string(head[:n]) != mark
}

// replaceable refuses work that could not be kept in the file of a flag.
func replaceable(flag, path, message string) error {
	if err := sealed.Replaceable(path); err != nil {
		return unsaved(flag, &outcome.Error{Kind: outcome.IO, File: path, Flag: flag, Message: message, Err: err})
	}
	return nil
}

func unsaved(flag string, err error) error {
	return advised{err, "Give --" + flag + " a file in a directory that can be written."}
}

// save keeps the model for data as they are in the file.
func (f saveFlags) save(fitted *pare.Fitted, d *dataset) error {
	if f.Save == "" {
		return nil
	}
	p, err := fitted.Predictor().Unprepared(d.prepared)
	if err != nil {
		return err
	}
	if err := p.Save(f.Save); err != nil {
		return unsaved("save", err)
	}
	return nil
}

// predictCommandLine is how to use a saved model, none where there is none.
func predictCommandLine(model string) string {
	if model == "" {
		return ""
	}
	return "pare predict " + quote(model) + " FILE"
}

type predictCommand struct {
	Saved  string `arg:"" name:"model" help:"The file that select or fit kept with --save."`
	File   string `arg:"" optional:"" help:"svmlight text, also as .gz, .bz2 or .zst; - is standard input. Without it: the diabetes data that pare carries."`
	Scores bool   `help:"After each prediction the scores it is made from; probabilities for logreg and multiclass, a class each, labels ascending." group:"Output"`
	JSON   bool   `name:"json" help:"One JSON object on standard output." group:"Output"`
	Quiet  bool   `help:"Nothing but the predictions." group:"Output"`
}

func (c *predictCommand) output() outputFlags { return outputFlags{JSON: c.JSON, Quiet: c.Quiet} }

func (c *predictCommand) run(ctx context.Context, env environment) (result, error) {
	p, err := pare.Load(c.Saved)
	if err != nil {
		return nil, advised{err, "\"pare select FILE --save MODEL\" makes one."}
	}
	d, err := dataFlags{File: c.File, Features: p.Columns()}.load(ctx, env, true)
	if e, ok := errors.AsType[*outcome.Error](err); ok && e.Flag == "features" {
		e.Kind, e.Flag = outcome.Limit, ""
		e.Message = fmt.Sprintf("a column beyond the %d that the model was fitted on", p.Columns())
		return nil, advised{e, "Leave such columns out, or fit the model on data that has them."}
	}
	if err != nil {
		return nil, err
	}
	began := time.Now()
	n, columns := d.x.Dims()
	r := &predictResult{Model: p.Model(), N: n, P: columns, Predictions: []number{}}
	if own, err := (pare.Config{Model: p.Model()}).Traits(); err == nil && own.Loss != p.Loss() {
		r.Loss = p.Loss()
	}
	scores := make([]float64, n*p.Scores())
	if err := p.Decide(d.x, scores); err != nil {
		return nil, d.blame(err)
	}
	targets := make([]float64, n)
	for i := range targets {
		targets[i] = p.Target(scores[i*p.Scores() : (i+1)*p.Scores()])
	}
	r.Predictions = append(r.Predictions, numbers(targets)...)
	r.judge(p, d.y, targets)
	if c.Scores {
		if p.Link() == loss.Logit {
			if err := p.Probabilities(scores); err != nil {
				return nil, err
			}
		}
		for i := range n {
			r.Scores = append(r.Scores, numbers(scores[i*p.Scores():(i+1)*p.Scores()]))
		}
		r.Labels = numbers(p.Classes())
	}
	r.Seconds = fitSeconds{Load: d.loadSeconds, Solve: time.Since(began).Seconds()}
	fmt.Fprintf(env.notes, "pare: %s of %s; %s\n", plural(n, "prediction"), d.name, r.quality())
	return r, nil
}

// predictResult is what pare predict prints: as text, a line for each row.
type predictResult struct {
	Model       pare.Model `json:"model"`
	Loss        string     `json:"loss,omitempty"` // where the model does not say it
	N           int        `json:"n"`
	P           int        `json:"p"`
	Predictions []number   `json:"predictions"`
	Scores      [][]number `json:"scores,omitempty"`   // with --scores, of each row
	Labels      []number   `json:"labels,omitempty"`   // with --scores, those there are
	Accuracy    *number    `json:"accuracy,omitempty"` // share of the file's labels predicted
	Error       *number    `json:"mean_squared_error,omitempty"`
	Seconds     fitSeconds `json:"seconds"`
}

// judge compares the predictions with the targets of the file.
func (r *predictResult) judge(p *pare.Predictor, y, targets []float64) {
	if len(y) == 0 {
		return
	}
	if p.Classes() != nil {
		right := 0
		for i, t := range targets {
			if t == y[i] {
				right++
			}
		}
		share := number(float64(right) / float64(len(y)))
		r.Accuracy = &share
		return
	}
	rows := make([]int32, len(y))
	for i := range rows {
		rows[i] = int32(i)
	}
	loss := number(criterion.MeanSquaredError{}.Eval(rows, y, targets, nil, nil))
	r.Error = &loss
}

// quality says how the predictions compare with the targets of the file.
func (r *predictResult) quality() string {
	switch {
	case r.Accuracy != nil:
		return percent(float64(*r.Accuracy)) + " equal the labels of the file"
	case r.Error != nil:
		return fmt.Sprintf("mean squared error %.6g against the targets of the file", float64(*r.Error))
	default:
		return "there was no row"
	}
}

func (r *predictResult) trusted() bool { return true }

func (r *predictResult) text(p *page) {
	for i, v := range r.Predictions {
		p.out.WriteString(short(float64(v)))
		if r.Scores != nil {
			for _, s := range r.Scores[i] {
				p.out.WriteByte(' ')
				p.out.WriteString(short(float64(s)))
			}
		}
		p.out.WriteByte('\n')
	}
}
