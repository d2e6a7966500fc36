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
)

// modelFile is how a predictor is kept.
var modelFile = sealed.Kind{Key: "pare_model", Noun: "saved model", Version: 1, Most: 1 << 28}

// savedModel is a predictor in a file. Columns count from 0.
type savedModel struct {
	Model       Model          `json:"model"`
	Loss        string         `json:"loss,omitempty"` // where it is not the model's
	Link        loss.Link      `json:"link,omitempty"` // with it
	Columns     int            `json:"columns"`
	UnitRows    bool           `json:"unit_rows"`
	Status      outcome.Status `json:"status"`
	RelativeGap sealed.Number  `json:"relative_gap"`
	Classes     sealed.Vector  `json:"classes"` // where each has a score
	Scores      []savedScore   `json:"scores"`
	LogLambda   sealed.Vector  `json:"log_lambda,omitempty"`
	Provenance
}

type savedScore struct {
	Intercept sealed.Number `json:"intercept"`
	Index     []int32       `json:"index"`
	Value     sealed.Vector `json:"value"`
}

// Write writes the predictor as JSON with a version and a checksum.
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

// Save writes the predictor to a file, in place of an old one. Whatever happens, the
// file is the old one or the new one; a symbolic link stays one. The error is an [outcome.Error] of kind IO.
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

// Read reads what [Predictor.Write] wrote, to the end of r. Anything else, be it one bit,
// is an [outcome.Error] of kind Parse; where r fails, it is one of kind IO; beyond 256 MiB it is
// one of kind Limit.
func Read(r io.Reader) (*Predictor, error) {
	var s savedModel
	if err := modelFile.Read(r, &s); err != nil {
		return nil, err
	}
	return s.predictor()
}

// Load reads the file of a predictor. The errors are those of [Read], with the
// file's name.
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

// predictor checks what the checksum cannot: that the numbers make a model.
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
		if scores = len(s.Classes); scores < 2 || !slices.IsSorted(s.Classes) {
			return bad("its classes")
		}
	}
	if family.state == nil || !s.Link.Known() || s.Columns < 0 || s.Columns > math.MaxInt32 || len(s.Scores) != scores {
		return bad("its model and shape")
	}
	fitted := make([]*Fitted, scores)
	for k, score := range s.Scores {
		for i, j := range score.Index {
			if j < 0 || int(j) >= s.Columns || (i > 0 && j <= score.Index[i-1]) {
				return bad("its columns")
			}
		}
		if len(score.Index) != len(score.Value) {
			return bad("its coefficients")
		}
		for _, v := range append(slices.Clone(score.Value), float64(score.Intercept)) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return bad("a coefficient that is not finite")
			}
		}
		fitted[k] = &Fitted{Support: score.Index, Coef: score.Value, Intercept: float64(score.Intercept)}
	}
	p := &Predictor{model: s.Model, loss: s.Loss, link: s.Link, columns: s.Columns, classes: s.Classes, unitRows: s.UnitRows, status: s.Status, relativeGap: float64(s.RelativeGap), logLambda: s.LogLambda}
	p.gather(fitted)
	p.provenance = s.Provenance
	if what := p.misfit(p.provenance); what != "" {
		return bad(what)
	}
	return p, nil
}
