package pare

import (
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
)

// Provenance says where a model comes from, and what its columns and classes are called. It
// is kept with a [Predictor] and changes nothing about what that computes from a matrix.
type Provenance struct {
	Names        []string      `json:"names,omitempty"`        // of the columns of the data; nil: they have none
	Labels       []string      `json:"labels,omitempty"`       // of the classes, ascending, as [Model.Target] has them; nil: numbers
	Schema       *table.Schema `json:"schema,omitempty"`       // how a file becomes those columns; nil: they are its columns
	Standardized bool          `json:"standardized,omitempty"` // fitted with [Config].Standardize
	Offset       bool          `json:"offset,omitempty"`       // fitted with [Config].Offset, which scores lack
	Data         string        `json:"data,omitempty"`         // checksum of the data fitted on
	Program      string        `json:"program,omitempty"`      // that fitted it, and its version
}

// With returns the predictor with a provenance. The error is an [outcome.Error] of kind
// Shape where names or labels are not as many as there are columns or classes, or the
// schema is that of another matrix.
func (p *Predictor) With(from Provenance) (*Predictor, error) {
	if what := p.misfit(from); what != "" {
		return nil, outcome.Errorf(outcome.Shape, "%s do not fit a model of %d columns", what, p.columns)
	}
	own := *p
	own.provenance = from
	return &own, nil
}

// misfit says what of a provenance cannot be that of the predictor, "" for nothing.
func (p *Predictor) misfit(from Provenance) string {
	switch {
	case from.Names != nil && len(from.Names) != p.columns:
		return "its names"
	case from.Labels != nil && len(from.Labels) != len(p.Classes()):
		return "its labels"
	case from.Schema != nil:
		return from.Schema.Check(p.columns)
	default:
		return ""
	}
}

// Provenance returns where the model comes from. Read only.
func (p *Predictor) Provenance() Provenance { return p.provenance }

// Label returns the name of a class, counted as in [Predictor.Classes].
func (p *Predictor) Label(k int) string {
	if p.provenance.Labels != nil {
		return p.provenance.Labels[k]
	}
	return names(p.Classes(), nil)[k]
}

// LogLambda returns the λ that the model was fitted at; nil where that is not known.
func (p *Predictor) LogLambda() []float64 { return slices.Clone(p.logLambda) }

// Status returns how the fit ended, and the relative duality gap that it reached.
func (p *Predictor) Status() (outcome.Status, float64) { return p.status, p.relativeGap }

// Coefficients returns the columns with coefficients other than 0 in score k, ascending,
// their coefficients and the intercept.
func (p *Predictor) Coefficients(k int) (columns []int32, coef []float64, intercept float64) {
	columns, coef = []int32{}, []float64{}
	for at, j := range p.used {
		for _, w := range p.entries[p.start[at]:p.start[at+1]] {
			if int(w.score) == k {
				columns, coef = append(columns, j), append(coef, w.coef)
			}
		}
	}
	return columns, coef, p.intercepts[k]
}
