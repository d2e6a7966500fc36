package main

import (
	"encoding/json"
	"math"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// The JSON of every command. Its names are part of the interface. Indices count
// from 0, in the numbering of the file.

// number is a float64 for JSON: values that are not finite become null. For example, ln αmax of a target that
// correlates with no column is −Inf, and null.
type number float64

// MarshalJSON implements [json.Marshaler].
func (v number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(v))
}

// labelled returns the name of a class for JSON: as a number if it is one.
func labelled(name string) any {
	if v, err := parseNumber(name); err == nil && short(v) == name {
		return number(v)
	}
	return name
}

func labelledAll(names []string) []any {
	all := make([]any, len(names))
	for k, name := range names {
		all[k] = labelled(name)
	}
	return all
}

func numbers(values []float64) []number {
	if values == nil {
		return nil
	}
	out := make([]number, len(values))
	for i, v := range values {
		out[i] = number(v)
	}
	return out
}

// sparseVector holds the entries of a vector that are not zero.
type sparseVector struct {
	Index []int32  `json:"index"`
	Value []number `json:"value"`
	Name  []string `json:"name,omitempty"` // names of the columns, if the file has names
}

// dimensions are the dimensions of the prepared design matrix.
type dimensions struct {
	N   int   `json:"n"`
	P   int   `json:"p"`
	NNZ int64 `json:"nnz"`
}

func (d *dataset) dimensions() dimensions {
	n, p := d.x.Dims()
	return dimensions{N: n, P: p, NNZ: d.nnz}
}

// A solution's certificate, [outcome.Certificate], in three extents: the relative gap, with the optimality
// conditions, and all of it.
type (
	relativeGap struct {
		GapRelative number `json:"gap_relative"`
	}
	optimality struct {
		relativeGap
		KKT number `json:"kkt"`
	}
	certificate struct {
		Gap number `json:"gap"`
		optimality
	}
)

func newCertificate(c outcome.Certificate) certificate {
	return certificate{number(c.Gap), optimality{relativeGap{number(c.RelativeGap)}, number(c.KKT)}}
}

type fitResult struct {
	Model pare.Model `json:"model"`
	Loss  string     `json:"loss,omitempty"` // if the model's name does not imply it
	dimensions
	LogLambda    []number `json:"log_lambda"`
	LogLambdaMax []number `json:"log_lambda_max"`
	Objective    number   `json:"objective"`
	certificate
	Support    int            `json:"support"`            // svm: samples on the margin
	AtBound    *int           `json:"at_bound,omitempty"` // svm: samples within the margin; with bounds: coefficients at a bound
	Unique     *bool          `json:"unique"`             // null: not known
	Certified  *bool          `json:"support_certified"`  // null: not attempted; so for the margin
	DualMargin number         `json:"dual_margin"`
	Epochs     int            `json:"epochs"`
	Passes     int            `json:"passes"`
	Status     outcome.Status `json:"status"`
	Intercept  number         `json:"intercept"`
	Kernels    string         `json:"kernels"`
	Threads    int            `json:"threads"`
	Seconds    fitSeconds     `json:"seconds"`
	Warnings   []warning      `json:"warnings,omitempty"`
	Coef       *sparseVector  `json:"coef,omitempty"`    // with --coef
	Classes    []classResult  `json:"classes,omitempty"` // multiclass; then Intercept and Coef are here
	Relaxed    *relaxedResult `json:"relaxed,omitempty"`
	Labels     []any          `json:"labels,omitempty"` // names of −1 and 1, if they have others

	fitted *pare.Fitted
	asked  asked
	saved  string // the file of the model
	report reportFlags
}

// classResult is the predictor of one class.
type classResult struct {
	Label     any    `json:"label"` // a number, or text
	LogLambda number `json:"log_lambda"`
	Objective number `json:"objective"`
	relativeGap
	Support   int            `json:"support"`
	Status    outcome.Status `json:"status"`
	Intercept number         `json:"intercept"`
	Coef      *sparseVector  `json:"coef,omitempty"` // with --coef
}

type fitSeconds struct {
	Load    float64 `json:"load"`
	Solve   float64 `json:"solve"`
	Certify float64 `json:"certify,omitempty"` // fit: time of the proofs, apart from solving
}

type gradResult struct {
	Model pare.Model `json:"model"`
	Loss  string     `json:"loss,omitempty"`
	dimensions
	LogLambda    []number       `json:"log_lambda"`
	LogLambdaMax []number       `json:"log_lambda_max"`
	Criterion    pare.Criterion `json:"criterion"`
	Value        number         `json:"value"`
	Gradient     any            `json:"gradient"` // []number, wlasso: sparseVector
	optimality
	Support           int            `json:"support"`
	Method            string         `json:"method"`
	OneSided          *oneSided      `json:"one_sided,omitempty"` // if a column is about to enter or to leave
	ErrorBound        number         `json:"error_bound"`
	Bound             pare.Bound     `json:"bound"`
	InjectivityMargin number         `json:"injectivity_margin"` // null for forward and backward
	SupportCertified  *bool          `json:"support_certified"`  // null: not attempted
	CGIterations      int            `json:"cg_iterations"`
	Sigma             number         `json:"sigma,omitempty"` // sure, aic, bic
	Shape             *number        `json:"shape,omitempty"` // mcp, scad
	Status            outcome.Status `json:"status"`
	Kernels           string         `json:"kernels"`
	Threads           int            `json:"threads"`
	Seconds           gradSeconds    `json:"seconds"`
	Warnings          []warning      `json:"warnings,omitempty"`

	hyper *pare.Hypergradient
	top   []float64 // ln αmax
	asked asked
}

// oneSided are the gradients just below and just above λ.
type oneSided struct {
	Below any `json:"below"` // as gradient
	Above any `json:"above"`
}

// gradSeconds splits the wall time of an evaluation into its parts.
type gradSeconds struct {
	Load     float64 `json:"load"`
	Solve    float64 `json:"solve"`
	Gradient float64 `json:"gradient"`
}

type selectResult struct {
	LogLambda    []number          `json:"log_lambda"` // null if there was no evaluation
	Value        number            `json:"value"`
	GradientNorm number            `json:"gradient_norm"` // null for a grid
	NullValue    number            `json:"null_value"`
	Sigma        number            `json:"sigma,omitempty"` // sure, aic, bic
	Evaluations  []evaluation      `json:"evaluations"`
	Measures     map[string]number `json:"measures,omitempty"` // of held-out rows, by name
	Test         *number           `json:"test,omitempty"`     // the criterion on the test rows
	Common       *choice           `json:"common,omitempty"`   // wlasso, --per-class: the best of the choices with one share of αmax for all
	OneSE        *choice           `json:"one_se,omitempty"`   // cv, one λ or one share of αmax
	Least        *choice           `json:"least,omitempty"`    // --one-se: the minimum, where the choice is OneSE
	// StandardError is that of Value; Seen is the range that auto has explored.
	StandardError *number        `json:"standard_error,omitempty"`
	Seen          *seenResult    `json:"seen,omitempty"`
	Status        outcome.Status `json:"status"`
	Final         *fitResult     `json:"final"`
	Relaxed       *relaxedResult `json:"relaxed,omitempty"` // with --relaxed, here and in fit
	Warnings      []warning      `json:"warnings,omitempty"`
	Seconds       selectSeconds  `json:"seconds"`

	called    string // select or report
	selection *pare.Selection
	saved     string  // the file of the model
	allowed   float64 // seconds of the search; 0: no limit
	report    reportFlags
	plot      plotFlags
	curve     []search.Evaluation // with --plot
	drawn     bool
	grid      bool
	asked     asked
}

type seenResult struct {
	From   number `json:"from"`
	To     number `json:"to"`
	Basins int    `json:"basins"`
}

type choice struct {
	LogLambda []number `json:"log_lambda,omitempty"`
	Value     number   `json:"value"`
	Test      *number  `json:"test,omitempty"`
}

type evaluation struct {
	LogLambda     []number       `json:"log_lambda,omitempty"` // not for wlasso: there is one per column
	Value         number         `json:"value"`
	GradientNorm  number         `json:"gradient_norm"`
	Tol           number         `json:"tol"` // relative gap reached
	Support       int            `json:"support"`
	StandardError *number        `json:"standard_error,omitempty"`
	Seconds       float64        `json:"seconds"`
	Test          *number        `json:"test,omitempty"`    // on the test rows
	Trusted       *bool          `json:"trusted,omitempty"` // present if false
	Status        outcome.Status `json:"status,omitempty"`  // the reason
}

type selectSeconds struct {
	Load   float64 `json:"load"`
	Search float64 `json:"search"`
	Refit  float64 `json:"refit"`
	OneSE  float64 `json:"one_se,omitempty"`
}

type pathResult struct {
	Points   []pathPoint    `json:"points"`
	Status   outcome.Status `json:"status"` // not converged if any point is not
	Warnings []warning      `json:"warnings,omitempty"`
	Seconds  fitSeconds     `json:"seconds"`

	planned int       // points of the grid
	top     []float64 // ln αmax of every hyperparameter
	curve   []search.Evaluation
	asked   asked
	report  reportFlags
	plot    plotFlags
}

type pathPoint struct {
	LogLambda []number `json:"log_lambda"`
	Objective number   `json:"objective"`
	relativeGap
	Support int     `json:"support"`
	Epochs  int     `json:"epochs"`
	Seconds float64 `json:"seconds"`
	Value   number  `json:"value"`
	// With --coef: the nonzero coefficients and the intercept.
	Intercept *number       `json:"intercept,omitempty"`
	Coef      *sparseVector `json:"coef,omitempty"`
	Classes   []classResult `json:"classes,omitempty"` // multiclass; then Intercept and Coef are here

	entered []int32 // columns that enter at this point for the first time, in the numbering of the file
}

type infoResult struct {
	dimensions
	Format           string             `json:"format"`
	Names            []string           `json:"names,omitempty"` // names of the columns, if the file has names
	Density          number             `json:"density"`
	EmptyColumns     int                `json:"empty_columns"`
	DuplicateColumns int                `json:"duplicate_columns"`
	Labels           labels             `json:"labels"`
	LogLambdaMax     map[pare.Model]any `json:"log_lambda_max"` // number; multiclass: []number
	MemoryBytes      int64              `json:"memory_bytes"`
	Warnings         []warning          `json:"warnings,omitempty"`

	emptyRows int
	tops      map[pare.Model][]float64 // ln αmax, of each strength
	unknown   bool                     // the model asked for has no αmax, and a warning gives the reason
	asked     asked
}

type labels struct {
	Kind     sparse.LabelKind `json:"kind"`
	Distinct int              `json:"distinct"`
	Min      number           `json:"min"`
	Max      number           `json:"max"`
	Classes  []class          `json:"classes,omitempty"`

	names []string // of the classes
}

type class struct {
	Value any `json:"value"` // a number, or text
	Count int `json:"count"`
}

// failure is what a command prints if it has no result.
type failure struct {
	Error errorReport `json:"error"`
}

type errorReport struct {
	Kind    outcome.Kind `json:"kind"`
	Message string       `json:"message"`
	File    string       `json:"file,omitempty"`
	Line    int          `json:"line,omitempty"` // from 1
	Byte    int64        `json:"byte,omitempty"` // from 1, within the line
	Part    string       `json:"part,omitempty"` // a fold or a class
	Row     *int         `json:"row,omitempty"`
	Column  *int         `json:"column,omitempty"`
	Flag    string       `json:"flag,omitempty"`
}

func newErrorReport(e *outcome.Error) errorReport {
	r := errorReport{Kind: e.Kind, Message: message(e), File: e.File, Line: e.Line, Byte: e.Byte, Part: e.Part, Flag: e.Flag}
	if e.HasRow {
		r.Row = &e.Row
	}
	if e.HasColumn {
		r.Column = &e.Column
	}
	return r
}

func (r *fitResult) trusted() bool  { return r.Status.OK() }
func (r *gradResult) trusted() bool { return r.Status.OK() }
func (r *pathResult) trusted() bool { return r.Status.OK() }
func (r *infoResult) trusted() bool { return true }

func (r *selectResult) trusted() bool {
	return r.Status.OK() && r.Final != nil && r.Final.Status.OK() && r.best().Trusted == nil
}

// best returns the evaluation chosen.
func (r *selectResult) best() evaluation {
	for i, e := range r.selection.Evaluations {
		if e.Value == r.selection.Value {
			return r.Evaluations[i]
		}
	}
	return evaluation{}
}

// norm returns the l2 norm of a gradient, NaN if there is none.
func norm(gradient []float64) float64 {
	if gradient == nil {
		return math.NaN()
	}
	var sum float64
	for _, g := range gradient {
		sum = math.FMA(g, g, sum)
	}
	return math.Sqrt(sum)
}

// ratios returns α/αmax for λ, or α if there is no αmax.
func ratios(logLambda, top []float64) []float64 {
	out := make([]float64, len(logLambda))
	for i, l := range logLambda {
		if !math.IsNaN(top[i]) {
			l -= top[i]
		}
		out[i] = kernels.Exp(l)
	}
	return out
}
