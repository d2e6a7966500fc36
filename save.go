package pare

import (
	"errors"
	"io"
	"math"
	"os"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
)

// modelFile is the file format of a saved predictor.
var modelFile = sealed.Kind{Key: "pare_model", Noun: "saved model", Version: 1, Most: 1 << 28}

// savedModel is a predictor in a file. Columns count from 0.
type savedModel struct {
	Model       Model          `json:"model"`
	Loss        string         `json:"loss,omitempty"` // only if it is not the model's own loss
	Link        loss.Link      `json:"link,omitempty"` // only with Loss
	Columns     int            `json:"columns"`
	UnitRows    bool           `json:"unit_rows"`
	Status      outcome.Status `json:"status"`
	RelativeGap sealed.Number  `json:"relative_gap"`
	Classes     sealed.Vector  `json:"classes"` // the labels if each class has its own score
	Scores      []savedScore   `json:"scores"`
	LogLambda   sealed.Vector  `json:"log_lambda,omitempty"`
	Provenance
}

type savedScore struct {
	Intercept sealed.Number `json:"intercept"`
	Index     []int32       `json:"index"`
	Value     sealed.Vector `json:"value"`
}

// Write writes the predictor as JSON with a version and a checksum. The error is an
// [outcome.Error] of kind IO.
func (p *Predictor) Write(w io.Writer) error {
	data, err := p.encode()
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return &outcome.Error{Kind: outcome.IO, Message: "cannot write the model", Err: err}
	}
	return nil
}

// Save writes the predictor to a file. It replaces an existing file atomically: after a failure the
// old file is intact. A symbolic link is followed. The error is an [outcome.Error] of kind IO.
func (p *Predictor) Save(path string) error {
	data, err := p.encode()
	if err != nil {
		return err
	}
	sealed.Sweep(path)
	if err := sealed.Replace(path, data); err != nil {
		return &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot save the model", Err: err}
	}
	return nil
}

func (p *Predictor) encode() ([]byte, error) {
	s := savedModel{
		Model: p.model, Columns: p.columns, UnitRows: p.unitRows, Classes: p.classes,
		Status: p.status, RelativeGap: sealed.Number(p.relativeGap),
		LogLambda: p.logLambda, Provenance: p.provenance,
	}
	if p.loss != p.model.family().lossName() {
		s.Loss, s.Link = p.loss, p.link
	}
	for _, b := range p.intercepts {
		s.Scores = append(s.Scores, savedScore{Intercept: sealed.Number(b), Index: []int32{}, Value: sealed.Vector{}})
	}
	for at, j := range p.used {
		for _, w := range p.entries[p.start[at]:p.start[at+1]] {
			score := &s.Scores[w.score]
			score.Index, score.Value = append(score.Index, j), append(score.Value, w.coef)
		}
	}
	return modelFile.Encode(s)
}

// Read reads what [Predictor.Write] wrote, to the end of r. The error is an [outcome.Error]: Parse
// if anything differs, even by a bit, IO if r fails, and Limit beyond 256 MiB.
func Read(r io.Reader) (*Predictor, error) {
	var s savedModel
	if err := modelFile.Read(r, &s); err != nil {
		return nil, err
	}
	return s.predictor()
}

// Load reads a file written by [Predictor.Save]. The errors are those of [Read], with the name of
// the file.
func Load(path string) (*Predictor, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, File: path, Message: "the saved model cannot be opened", Err: err}
	}
	defer file.Close()
	p, err := Read(file)
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		e.File = path
	}
	return p, err
}

// predictor returns the saved predictor, after checks that the checksum does not make: that the
// numbers form a valid model.
func (s *savedModel) predictor() (*Predictor, error) {
	bad := func(what string) (*Predictor, error) {
		return nil, outcome.Errorf(outcome.Parse, "the saved model is damaged: %s", what)
	}
	family := s.Model.family()
	if s.Loss == "" {
		s.Loss, s.Link = family.lossName(), family.link()
	}
	scores := 1
	if family.classes {
		scores = len(s.Classes)
	}
	if family.classes != (s.Classes != nil) || family.classes && (scores < 2 || !isAscending(s.Classes, -math.MaxFloat64, math.MaxFloat64)) {
		return bad("its classes are invalid")
	}
	if family.newProblem == nil || !s.Link.Known() || s.Columns < 0 || s.Columns > math.MaxInt32 || len(s.Scores) != scores {
		return bad("its model or shape is invalid")
	}
	fitted := make([]*Fitted, scores)
	for k, score := range s.Scores {
		if what := score.damage(s.Columns); what != "" {
			return bad(what)
		}
		fitted[k] = &Fitted{Support: score.Index, Coef: score.Value, Intercept: float64(score.Intercept)}
	}
	p := &Predictor{model: s.Model, loss: s.Loss, link: s.Link, columns: s.Columns, classes: s.Classes, unitRows: s.UnitRows, status: s.Status, relativeGap: float64(s.RelativeGap), logLambda: s.LogLambda}
	p.gather(fitted)
	p.provenance = s.Provenance
	if what := p.mismatch(p.provenance); what != "" {
		return bad(what + " do not fit the model")
	}
	return p, nil
}

// damage names the part of s that is invalid in a model with this number of columns; "" if none is.
func (s savedScore) damage(columns int) string {
	switch {
	case !isAscending(s.Index, 0, int32(columns-1)):
		return "its columns are invalid"
	case len(s.Index) != len(s.Value):
		return "its coefficients do not match its columns"
	case notFinite(float64(s.Intercept)) || slices.ContainsFunc(s.Value, notFinite):
		return "a coefficient is not finite"
	default:
		return ""
	}
}

// isAscending reports whether values lie in [least, most], each larger than the one before.
func isAscending[T int32 | float64](values []T, least, most T) bool {
	for k, v := range values {
		if inside := least <= v && v <= most; !inside || k > 0 && v <= values[k-1] { // NaN is not inside
			return false
		}
	}
	return true
}

func notFinite(v float64) bool { return !(math.Abs(v) <= math.MaxFloat64) }

// Provenance says where a model comes from, and names its columns and classes. A [Predictor] keeps
// it for information: what it computes from a matrix does not depend on it.
type Provenance struct {
	Names        []string      `json:"names,omitempty"`        // the names of the columns; nil: they have none
	Labels       []string      `json:"labels,omitempty"`       // the names of the classes, as [Model.Target] returns them; nil: numbers
	Schema       *table.Schema `json:"schema,omitempty"`       // how the columns are made from a file; nil: they are the file's own
	Standardized bool          `json:"standardized,omitempty"` // the model was fitted with [Config].Standardize
	Offset       bool          `json:"offset,omitempty"`       // the model was fitted with [Config].Offset, which scores do not include
	Data         string        `json:"data,omitempty"`         // a checksum of the data that the model was fitted on
	Program      string        `json:"program,omitempty"`      // the program that fitted the model, with its version
}

// With returns a copy of the predictor with another provenance. The error is an [outcome.Error] of
// kind Shape if the number of names or labels differs from the number of columns or classes, or if
// the schema makes a different number of columns.
func (p *Predictor) With(from Provenance) (*Predictor, error) {
	if what := p.mismatch(from); what != "" {
		return nil, outcome.Errorf(outcome.Shape, "%s do not fit a model with %d columns", what, p.columns)
	}
	own := *p
	own.provenance = from
	return &own, nil
}

// mismatch names the part of a provenance that does not fit the predictor; "" if all parts fit.
func (p *Predictor) mismatch(from Provenance) string {
	switch {
	case from.Names != nil && len(from.Names) != p.columns:
		return "the names"
	case from.Labels != nil && len(from.Labels) != len(p.Classes()):
		return "the labels"
	case from.Schema != nil:
		return from.Schema.Check(p.columns)
	default:
		return ""
	}
}

// Provenance returns where the model comes from. Its slices must not be modified.
func (p *Predictor) Provenance() Provenance { return p.provenance }
