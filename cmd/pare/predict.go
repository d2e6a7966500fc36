package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
	"github.com/seed-45b9a24c/pare/table/parquet"
)

// saveFlags are the flags that save the model for pare predict.
type saveFlags struct {
	Save       string `placeholder:"MODEL" help:"Save the model to this file, for pare predict, if it has converged." group:"Output"`
	SaveAnyway bool   `help:"With --save: save the model even if it has not converged." group:"Output"`
}

// keeping checks these flags together with the preparation of the data.
func (f saveFlags) keeping(d dataFlags) interface{ check() error } { return savedFlags{f, d} }

type savedFlags struct {
	saveFlags
	dataFlags
}

func (f savedFlags) check() error {
	if f.Save != "" && f.UnitRows && (f.MinNNZ > 0 || f.Drop != nil || f.Columns != nil) {
		return outcome.At(outcome.Usage, "save", "a saved model scales whole rows, but --min-nnz, --drop and --columns leave out columns before --unit-rows; leave out either --unit-rows or the others")
	}
	if f.Save == "" && f.SaveAnyway {
		return outcome.At(outcome.Usage, "save-anyway", "applies only with --save; give --save MODEL")
	}
	if f.Save == "" {
		return nil
	}
	if err := replaceable("save", f.Save, "cannot save the model"); err != nil {
		return err
	}
	if holdsOther(f.Save) {
		e := &outcome.Error{Kind: outcome.BadParameter, File: f.Save, Flag: "save", Message: "this file exists and is not a saved model, and is not overwritten"}
		return advised{e, "Give --save another name, or remove the file."}
	}
	return nil
}

// holdsOther reports whether a file exists and is not a saved model: it may be the data.
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

// replaceable returns an error if the file of a flag or argument cannot be written, before the work is done.
func replaceable(flag, path, message string) error {
	if path == "-" {
		return outcome.At(outcome.Usage, flag, "- is not a file to write; standard output is for the result: give a file name")
	}
	if err := sealed.Replaceable(path); err != nil {
		return unsaved(flag, &outcome.Error{Kind: outcome.IO, File: path, Flag: flag, Message: message, Err: err})
	}
	return nil
}

func unsaved(flag string, err error) error {
	give := "Give"
	if flag != "" {
		give += " --" + flag
	}
	return advised{err, give + " a file in a directory that can be written and has room."}
}

// keeps reports whether a model is to be saved: a converged one is, any other only with --save-anyway. If not,
// the warning says so.
func (f saveFlags) keeps(fitted *pare.Fitted) (bool, []warning) {
	if f.Save == "" {
		return false, nil
	}
	if fitted != nil && (fitted.Status.OK() || f.SaveAnyway) {
		return true, nil
	}
	return false, []warning{{"not_saved", f.Save + " is left as it was: there is no converged model to save"}}
}

// save saves the model in terms of the original data, before preparation.
func (f saveFlags) save(fitted *pare.Fitted, a asked) error {
	d := a.data
	p, err := fitted.Predictor().Unprepared(d.prepared)
	if err != nil {
		return err
	}
	p, err = p.With(pare.Provenance{
		Names: d.Names, Labels: d.classes, Schema: d.Schema, Standardized: a.Standardize, Offset: d.offset != nil, Data: d.fingerprint(), Program: version(),
	})
	if err != nil {
		return err
	}
	if err := p.Save(f.Save); err != nil {
		return unsaved("save", err)
	}
	return nil
}

// predictCommandLine returns the command that uses a saved model, "" if there is none.
func predictCommandLine(model string) string {
	if model == "" {
		return ""
	}
	return "pare predict " + quote(model) + " FILE"
}

type predictCommand struct {
	Saved     string `arg:"" name:"model" help:"A file that select or fit wrote with --save."`
	File      string `arg:"" optional:"" help:"Data in any form that select reads, with the columns that the model uses; - is standard input. Without it: the diabetes data that pare carries."`
	Target    string `placeholder:"COLUMN" help:"The column to compare predictions with (default: the target of the fit, if the file has it)." group:"Data"`
	Decimal   bool   `name:"decimal-comma" help:"Numbers of CSV files have commas where others have points, and perhaps points between thousands." group:"Data"`
	Header    *bool  `negatable:"" help:"The first line has the names of the columns (default: if none of its cells is a number)." group:"Data"`
	ZeroBased *bool  `negatable:"" help:"svmlight indices count from 0 (default: as in the data of the fit)." group:"Data"`
	Offset    string `placeholder:"COLUMN|FILE" help:"One number per row that is added to its score, as in the fit (default: 0)." group:"Data"`
	Scores    bool   `help:"Print the scores of the row after each prediction; for multiclass and multinomial the probabilities of the classes, for logreg that of the second alone, in the order in which \"pare inspect\" lists them." group:"Output"`
	Output    string `placeholder:"FILE" help:"Write the predictions to this file." group:"Output"`
	JSON      bool   `name:"json" help:"Print one JSON object on standard output." group:"Output"`
	Quiet     bool   `help:"Print only the predictions." group:"Output"`
}

func (c *predictCommand) output() outputFlags { return outputFlags{JSON: c.JSON, Quiet: c.Quiet} }

func (c *predictCommand) run(ctx context.Context, env environment) (result, error) {
	p, err := loadModel(c.Saved)
	if err != nil {
		return nil, advised{err, "\"pare select FILE --save MODEL\" makes one."}
	}
	began := time.Now()
	out, err := c.open(env)
	if err != nil {
		return nil, err
	}
	defer out.abandon()
	r := &predictResult{Model: p.Model(), P: p.Columns(), Predictions: []any{}}
	if own, err := (pare.Config{Model: p.Model()}).Traits(); err == nil && own.Loss != p.Loss() {
		r.Loss = p.Loss()
	}
	if c.Scores && c.JSON && p.Classes() != nil {
		for k := range p.Classes() {
			r.Labels = append(r.Labels, labelled(p.Label(k)))
		}
	}
	if err := c.each(ctx, env, p, r, out); err != nil {
		return nil, c.explain(err, p)
	}
	if err := out.keep(); err != nil {
		return nil, unsaved("output", err)
	}
	r.finish()
	r.Seconds = fitSeconds{Solve: time.Since(began).Seconds()}
	fmt.Fprintf(env.notes, "pare: %s of %s%s; %s%s\n", plural(r.N, "prediction"), visible(c.name()), unless(c.Output == "", ", in "+c.Output), r.quality(), visible(c.scored(p)))
	for _, w := range r.Warnings {
		fmt.Fprintf(env.notes, "pare: warning: %s\n", visible(w.Message))
	}
	return r, nil
}

// scored explains a single score for two classes, "" if no such score is printed.
func (c *predictCommand) scored(p *pare.Predictor) string {
	classes := p.Classes()
	if !c.Scores || len(classes) < 2 || p.Scores() > 1 {
		return ""
	}
	kind := "a score above 0 is that of "
	if p.Link() == loss.Logit {
		kind = "the score is the probability of "
	}
	return "; " + kind + p.Label(len(classes)-1)
}

// explain rewords errors about the data in terms of the model.
func (c *predictCommand) explain(err error, p *pare.Predictor) error {
	e, ok := errors.AsType[*outcome.Error](err)
	if !ok {
		return err
	}
	switch {
	case e.Flag == "features":
		e.Kind, e.Flag = outcome.Limit, ""
		e.Message = fmt.Sprintf("there is a column beyond the %d that the model was fitted on", p.Columns())
		return advised{e, "Leave such columns out, or fit the model on data that has them."}
	case e.Kind == outcome.Shape && e.File != "":
		return advised{e, "\"pare inspect MODEL\" shows the columns of the model."}
	default:
		return err
	}
}

// name returns the name of the data.
func (c *predictCommand) name() string { return dataFlags{File: c.File}.name() }

// rows yields the rows of the data as they are read.
func (c *predictCommand) rows(ctx context.Context, env environment, p *pare.Predictor) iter.Seq2[table.Row, error] {
	o := table.Options{Name: c.name(), Target: c.Target, DecimalComma: c.Decimal, Header: c.Header, ZeroBased: c.ZeroBased, Formats: []table.Format{parquet.Format()}, Aside: []string{c.Offset}}
	schema := p.Provenance().Schema
	if c.File == "" {
		return schema.ReadRows(ctx, embedded.DiabetesFile(), p.Columns(), o)
	}
	return schema.Rows(ctx, c.File, env.stdin, p.Columns(), o)
}

// each predicts every row.
func (c *predictCommand) each(ctx context.Context, env environment, p *pare.Predictor, r *predictResult, out *destination) error {
	if c.Offset != "" && !p.Model().Traits().Offset {
		return outcome.At(outcome.Usage, "offset", "%s does not take an offset", p.Model())
	}
	offsets := offsets{flag: c.Offset, data: c.name()}
	scores := make([]float64, p.Scores())
	for row, err := range c.rows(ctx, env, p) {
		offset := 0.0
		if err == nil {
			offset, err = offsets.of(row)
		}
		if err == nil {
			err = c.one(p, row, offset, scores, r, out)
		}
		if err != nil {
			return err
		}
	}
	if err := offsets.end(); err != nil {
		return err
	}
	if p.Provenance().Offset && c.Offset == "" {
		r.Warnings = append(r.Warnings, warning{"no_offset", "the model was fitted with an offset; without --offset the offset of every row is 0"})
	}
	return nil
}

// one predicts one row from its scores.
func (c *predictCommand) one(p *pare.Predictor, row table.Row, offset float64, scores []float64, r *predictResult, out *destination) error {
	r.N++
	r.unknown += row.Unknown
	if row.Incomplete {
		r.incomplete++
		return r.add(c, out, nil, nil)
	}
	if err := p.DecideRow(row.Columns, row.Values, scores); err != nil {
		return (&dataset{name: c.name()}).blame(err)
	}
	if c.Offset != "" {
		scores[0] += offset
	}
	prediction := r.judge(p, row, scores)
	if c.Scores && p.Link() == loss.Logit {
		if err := p.Probabilities(scores); err != nil {
			return err
		}
	}
	return r.add(c, out, &prediction, scores)
}

// offsets are the values of --offset, one per row: from a column of the data, or else from a file.
type offsets struct {
	flag, data string
	file       []float64 // nil: not read
	next       int       // row, from 0
}

// of returns the offset of the next row, 0 without the flag.
func (o *offsets) of(row table.Row) (float64, error) {
	if o.flag == "" {
		return 0, nil
	}
	i := o.next
	o.next++
	if text, ok := row.Aside[o.flag]; ok {
		v, err := parseOffset(text)
		if err != nil && !row.Incomplete {
			return 0, badCell(o.data, "offset", o.flag, text, i, err)
		}
		return v, nil
	}
	if o.file == nil {
		if _, err := os.Stat(o.flag); err != nil && row.Aside != nil {
			return 0, neither(o.data, "offset", o.flag)
		}
		var err error
		if o.file, err = readLines("offset", o.flag, parseOffset); err != nil {
			return 0, err
		}
	}
	if i >= len(o.file) {
		return 0, badFile("offset", o.flag, outcome.Errorf(outcome.Shape, "%d values, but there are more rows; there must be one per row", len(o.file)))
	}
	return o.file[i], nil
}

// end refuses a file with more offsets than rows.
func (o *offsets) end() error {
	if o.next < len(o.file) {
		return badFile("offset", o.flag, outcome.Errorf(outcome.Shape, "%d values for %d rows; there must be one per row", len(o.file), o.next))
	}
	return nil
}

// predictResult is what pare predict prints; as text, one line per row.
type predictResult struct {
	Model       pare.Model `json:"model"`
	Loss        string     `json:"loss,omitempty"` // if the model's name does not imply it
	N           int        `json:"n"`
	P           int        `json:"p"`
	Predictions []any      `json:"predictions"`        // numbers, or names of classes; null for a row with missing cells
	Scores      [][]number `json:"scores,omitempty"`   // with --scores, of each row
	Labels      []any      `json:"labels,omitempty"`   // with --scores, their names if there are any
	Accuracy    *number    `json:"accuracy,omitempty"` // share of the file's labels predicted
	Error       *number    `json:"mean_squared_error,omitempty"`
	Warnings    []warning  `json:"warnings,omitempty"`
	Seconds     fitSeconds `json:"seconds"`

	classes             bool
	judged, right       int // rows with a target, and rows whose class was predicted correctly
	squares             float64
	known               []string // labels of the model, set once a label of the file differs from its prediction
	strange             []string // the first labels of the file that the model does not have
	strangers           int      // rows with such a label
	unknown, incomplete int
}

// judge makes the prediction of a row and compares it with the target of the file.
func (r *predictResult) judge(p *pare.Predictor, row table.Row, scores []float64) string {
	target := p.Target(scores)
	if r.classes = p.Classes() != nil; r.classes {
		k, _ := slices.BinarySearch(p.Classes(), target)
		name := p.Label(k)
		if row.HasTarget {
			r.judged++
			if row.Target == name {
				r.right++
			} else {
				r.meet(p, row.Target)
			}
		}
		return name
	}
	if row.HasTarget {
		y, err := parseNumber(row.Target)
		if err != nil {
			r.meet(p, row.Target)
			return short(target)
		}
		r.judged++
		r.squares += float64((y - target) * (y - target))
	}
	return short(target)
}

// meet records a label of the file that is not one of the model's classes, or that is not a number.
func (r *predictResult) meet(p *pare.Predictor, label string) {
	if r.known == nil {
		for k := range p.Classes() {
			r.known = append(r.known, p.Label(k))
		}
	}
	if slices.Contains(r.known, label) {
		return
	}
	r.strangers++
	if len(r.strange) < mostStrange && !slices.Contains(r.strange, label) {
		r.strange = append(r.strange, label)
	}
}

// mostStrange is the largest number of labels that a warning lists.
const mostStrange = 4

// add prints a prediction, or keeps it for the JSON; nil: the row has none.
func (r *predictResult) add(c *predictCommand, out *destination, prediction *string, scores []float64) error {
	if c.JSON {
		var value any
		if prediction != nil {
			value = labelled(*prediction)
		}
		r.Predictions = append(r.Predictions, value)
		if c.Scores {
			r.Scores = append(r.Scores, numbers(slices.Clone(scores)))
		}
		if c.Output == "" {
			return nil
		}
	}
	line := out.line[:0]
	if prediction == nil {
		line = append(line, "NA"...)
	} else {
		line = append(line, *prediction...)
	}
	if c.Scores {
		for _, s := range scores {
			line = append(line, ' ')
			line = strconv.AppendFloat(line, s, 'g', -1, 64)
		}
	}
	line = append(line, '\n')
	out.line = line
	return out.write()
}

// finish computes the summary.
func (r *predictResult) finish() {
	if r.judged > 0 && r.classes {
		share := number(float64(r.right) / float64(r.judged))
		r.Accuracy = &share
	} else if r.judged > 0 {
		loss := number(r.squares / float64(r.judged))
		r.Error = &loss
	}
	if r.strangers > 0 {
		listed := strings.Join(r.strange[:min(len(r.strange), mostStrange-1)], ", ") + unless(len(r.strange) < mostStrange, ", ...")
		what := fmt.Sprintf("%s with targets that are not numbers (%s), which are not compared", plural(r.strangers, "row"), listed)
		if r.classes {
			what = fmt.Sprintf("%s with labels that are unknown to the model (%s), which count as wrong: the model has %s", plural(r.strangers, "row"), listed, enumerated(r.known))
		}
		r.Warnings = append(r.Warnings, warning{"unknown_labels", what})
	}
	if r.unknown > 0 {
		r.Warnings = append(r.Warnings, warning{"unknown_categories", plural(r.unknown, "cell") + " with categories that are unknown to the model; their columns are 0"})
	}
	if r.incomplete > 0 {
		r.Warnings = append(r.Warnings, warning{"missing_cells", plural(r.incomplete, "row") + " with missing cells, for which there is no prediction (NA)"})
	}
}

// quality says how the predictions compare with the targets of the file.
func (r *predictResult) quality() string {
	switch {
	case r.Accuracy != nil:
		return percent(float64(*r.Accuracy)) + " equal the labels of the file"
	case r.Error != nil:
		return fmt.Sprintf("mean squared error %.6g against the targets of the file", float64(*r.Error))
	case r.N == 0:
		return "there were no rows"
	case r.strangers > 0:
		return "the target in the file is text, but the model predicts numbers"
	default:
		return "the file has no target to compare with"
	}
}

func (r *predictResult) trusted() bool { return true }

// text prints nothing: each prediction was printed when its row was read.
func (r *predictResult) text(*page) {}
