package pare

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Predictor computes predictions from the coefficients of a fitted model. It is immutable and safe
// for concurrent use. [Fitted.Predictor], [Load] and [Read] make one.
//
// A row has one score, xβ + b, or one score for each class. Scores have the same bits whether they
// are computed row by row or for a matrix at once.
type Predictor struct {
	model       Model
	loss        string
	link        loss.Link
	columns     int         // the number of columns of the data
	classes     []float64   // the labels if each class has a score of its own, else nil
	intercepts  []float64   // one for each score
	used        []int32     // the columns with a nonzero coefficient in some score, ascending
	start       []int       // the entries of column used[i] are entries[start[i]:start[i+1]]
	entries     []scoreCoef // nonzero coefficients, by column and then by score
	unitRows    bool        // rows are scaled to unit norm first
	status      outcome.Status
	relativeGap float64
	logLambda   []float64
	provenance  Provenance
}

// scoreCoef is a coefficient of a column in one of the scores.
type scoreCoef struct {
	score int32
	coef  float64
}

// Predictor returns a predictor with the coefficients of f, for rows with the columns of the X
// that f was fitted on, and keeps nothing of f, whose memory may be reused. It does not check f,
// whose support must be ascending, with one coefficient per column; [Load] and [Read] check the
// models that they read.
func (f *Fitted) Predictor() *Predictor {
	p := &Predictor{model: f.Model, loss: f.Loss, link: f.Link, columns: f.Columns, status: f.Status, relativeGap: f.RelativeGap, logLambda: slices.Clone(f.LogLambda)}
	if f.PerClass == nil {
		p.gather([]*Fitted{f})
		return p
	}
	p.classes = slices.Clone(f.Classes)
	p.gather(f.PerClass)
	return p
}

// gather collects the intercepts and coefficients of all scores.
func (p *Predictor) gather(scores []*Fitted) {
	for _, f := range scores {
		p.intercepts = append(p.intercepts, f.Intercept)
		p.used = append(p.used, f.Support...)
	}
	slices.Sort(p.used)
	p.used = slices.Compact(p.used)
	at := make([]int, len(scores)) // the position in the support of each score
	for _, j := range p.used {
		p.start = append(p.start, len(p.entries))
		for k, f := range scores {
			if i := at[k]; i < len(f.Support) && f.Support[i] == j {
				p.entries = append(p.entries, scoreCoef{int32(k), f.Coef[i]})
				at[k]++
			}
		}
	}
	p.start = append(p.start, len(p.entries))
}

// Unprepared returns a predictor for data in their original form, where p was fitted on data after
// the preparation from. The error is an [outcome.Error]: of kind Shape if the preparation left a
// different number of columns than p has, BadParameter if the columns kept are not ascending
// columns of the original data or a norm is negative or NaN, and Usage if the preparation scaled
// rows after it had dropped columns: the norm of a new row would include the dropped columns.
func (p *Predictor) Unprepared(from sparse.Prepared) (*Predictor, error) {
	if from.UnitRows && len(from.Kept) < from.Columns {
		return nil, outcome.Errorf(outcome.Usage, "a predictor scales whole rows, but the preparation dropped columns before it scaled the rows")
	}
	if len(from.Kept) != p.columns || (from.Norms != nil && len(from.Norms) != p.columns) {
		return nil, outcome.Errorf(outcome.Shape, "the preparation kept %d columns and has %d norms, but the model has %d columns", len(from.Kept), len(from.Norms), p.columns)
	}
	for k, j := range from.Kept {
		bad := func(message string) error {
			return &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: k, Message: message}
		}
		switch {
		case j < 0 || int(j) >= from.Columns || k > 0 && j <= from.Kept[k-1]:
			return nil, bad(fmt.Sprintf("the columns kept must ascend from 0 to below %d, got %d", from.Columns, j))
		case from.Norms != nil && !(from.Norms[k] >= 0):
			return nil, bad(fmt.Sprintf("the norm of a column must not be negative, got %g", from.Norms[k]))
		}
	}
	own := *p
	own.columns, own.unitRows = from.Columns, p.unitRows || from.UnitRows
	own.used, own.entries = slices.Clone(p.used), slices.Clone(p.entries)
	for i, j := range p.used {
		own.used[i] = from.Kept[j]
		if from.Norms == nil || from.Norms[j] == 0 {
			continue
		}
		for e := p.start[i]; e < p.start[i+1]; e++ {
			own.entries[e].coef /= from.Norms[j]
		}
	}
	return &own, nil
}

// Model returns the model fitted.
func (p *Predictor) Model() Model { return p.model }

// Loss returns the name of the loss that was minimised.
func (p *Predictor) Loss() string { return p.loss }

// Link says how a score is related to the mean of the target.
func (p *Predictor) Link() loss.Link { return p.link }

// Columns returns the number of columns that a row must have.
func (p *Predictor) Columns() int { return p.columns }

// Classes returns the labels that [Predictor.Predict] chooses from, ascending: −1 and 1 for a
// model of two classes. It is nil if the target is a number.
func (p *Predictor) Classes() []float64 {
	switch {
	case p.classes != nil:
		return slices.Clone(p.classes)
	case p.link.Classes():
		return []float64{-1, 1}
	default:
		return nil
	}
}

// Scores returns the number of scores of a row: 1, or the number of classes if each class has its own.
func (p *Predictor) Scores() int { return len(p.intercepts) }

// Label returns the name of class k of [Predictor.Classes]: from the provenance if that has labels,
// else the label as a number.
func (p *Predictor) Label(k int) string {
	if p.provenance.Labels != nil {
		return p.provenance.Labels[k]
	}
	return kindNames(p.Classes(), nil)[k]
}

// LogLambda returns the λ that the model was fitted at, one per hyperparameter; nil if unknown.
func (p *Predictor) LogLambda() []float64 { return slices.Clone(p.logLambda) }

// Status returns how the fit ended, and the relative duality gap it reached.
func (p *Predictor) Status() (outcome.Status, float64) { return p.status, p.relativeGap }

// Coefficients returns the columns with nonzero coefficients in score k, ascending, their
// coefficients, and the intercept.
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

// DecideRow computes the scores of one row into scores, which must have length [Predictor.Scores].
// If columns is nil, values has all values of the row; otherwise columns lists ascending columns,
// values has their values, and all other values are zero. Without values the row is all zeros.
// DecideRow does not allocate. The error is an [outcome.Error] of kind Shape or NonFinite.
func (p *Predictor) DecideRow(columns []int32, values, scores []float64) error {
	if err := p.checkRow(columns, values, scores); err != nil {
		return err
	}
	copy(scores, p.intercepts)
	norm := 1.0
	if p.unitRows {
		norm = l2(values)
	}
	at := 0
	for k, v := range values {
		j := int32(k)
		if columns != nil {
			j = columns[k]
		}
		step, found := slices.BinarySearch(p.used[at:], j)
		at += step
		if !found {
			continue
		}
		if v != 0 {
			v /= norm
		}
		for _, w := range p.entries[p.start[at]:p.start[at+1]] {
			scores[w.score] = math.FMA(w.coef, v, scores[w.score])
		}
	}
	return nil
}

func (p *Predictor) checkRow(columns []int32, values, scores []float64) error {
	switch {
	case len(scores) != len(p.intercepts):
		return outcome.Errorf(outcome.Shape, "there is room for %d scores, but a row has %d", len(scores), len(p.intercepts))
	case columns == nil && len(values) != p.columns && len(values) != 0:
		return outcome.Errorf(outcome.Shape, "the row has %d values, but the model has %d columns", len(values), p.columns)
	case columns != nil && len(values) != len(columns):
		return outcome.Errorf(outcome.Shape, "the row has %d columns but %d values", len(columns), len(values))
	}
	for k, j := range columns {
		if j < 0 || int(j) >= p.columns || (k > 0 && j <= columns[k-1]) {
			return &outcome.Error{Kind: outcome.Shape, HasColumn: true, Column: int(j), Message: "the columns of a row must be ascending and within the model"}
		}
	}
	for k, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if columns != nil {
				k = int(columns[k])
			}
			return &outcome.Error{Kind: outcome.NonFinite, HasColumn: true, Column: k, Message: "the value is not finite"}
		}
	}
	return nil
}

// l2 returns the Euclidean norm of a row without overflow, and 1 for a row of zeros.
func l2(values []float64) float64 {
	most, sum := 0.0, 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	if most == 0 {
		return 1
	}
	for _, v := range values {
		sum = math.FMA(v/most, v/most, sum)
	}
	return most * math.Sqrt(sum)
}

// Decide computes the scores of all rows of x into scores, row after row, with [Predictor.Scores]
// scores per row. x must have [Predictor.Columns] columns. The error is an [outcome.Error] of kind
// Shape.
func (p *Predictor) Decide(x sparse.Matrix, scores []float64) error { return p.decide(nil, x, scores) }

// decide is Decide for a call that ends with the context of k.
func (p *Predictor) decide(k *kernels.Set, x sparse.Matrix, scores []float64) error {
	if !isMatrix(x) {
		return errNoMatrix()
	}
	n, columns := x.Dims()
	q := len(p.intercepts)
	switch {
	case columns != p.columns:
		return outcome.Errorf(outcome.Shape, "the matrix has %d columns, but the model has %d", columns, p.columns)
	case len(scores) != n*q:
		return outcome.Errorf(outcome.Shape, "there is room for %d scores, but %d rows have %d", len(scores), n, n*q)
	}
	pace := k.Pace()
	for i := range n {
		pace.Did(q)
		copy(scores[i*q:], p.intercepts)
	}
	norms := p.norms(x)
	for at, j := range p.used {
		rows, values := x.Column(int(j))
		entries := p.entries[p.start[at]:p.start[at+1]]
		for e, v := range values {
			pace.Did(len(entries))
			i := e
			if rows != nil {
				i = int(rows[e])
			}
			if norms != nil && v != 0 {
				v /= norms[i]
			}
			for _, w := range entries {
				score := &scores[i*q+int(w.score)]
				*score = math.FMA(w.coef, v, *score)
			}
		}
	}
	return nil
}

// norms returns the norms of the rows of x, with the bits of l2; nil if rows are not scaled.
func (p *Predictor) norms(x sparse.Matrix) []float64 {
	if !p.unitRows {
		return nil
	}
	n, columns := x.Dims()
	most, sum := make([]float64, n), make([]float64, n)
	each := func(do func(i int, v float64)) {
		for j := range columns { // in ascending order, for the same bits as row by row
			rows, values := x.Column(j)
			for k, v := range values {
				if rows != nil {
					k = int(rows[k])
				}
				do(k, v)
			}
		}
	}
	each(func(i int, v float64) { most[i] = max(most[i], math.Abs(v)) })
	each(func(i int, v float64) {
		if v != 0 {
			sum[i] = math.FMA(v/most[i], v/most[i], sum[i])
		}
	})
	for i, m := range most {
		if most[i] = 1; m != 0 {
			most[i] = m * math.Sqrt(sum[i])
		}
	}
	return most
}

// Probabilities turns the scores of any number of rows into probabilities, in place. For a model
// with a logit link this is the probability of the label 1; if each class has its own score, it is
// the probability of each class, the softmax of the scores of a row. The error is an
// [outcome.Error]: Usage for a model without probabilities, Shape if the number of scores is not a
// multiple of [Predictor.Scores].
func (p *Predictor) Probabilities(scores []float64) error {
	switch {
	case p.classes == nil && p.link == loss.Logit:
		for i, m := range scores {
			scores[i] = p.link.Mean(m)
		}
	case p.classes != nil:
		if q := len(p.intercepts); len(scores)%q != 0 {
			return outcome.Errorf(outcome.Shape, "the number of scores, %d, is not a multiple of the %d of a row", len(scores), q)
		}
		for row := range slices.Chunk(scores, len(p.intercepts)) {
			top, total := slices.Max(row), 0.0
			for k, m := range row {
				row[k] = kernels.Exp(m - top)
				total += row[k]
			}
			for k := range row {
				row[k] /= total
			}
		}
	default:
		return outcome.At(outcome.Usage, "model", "%s does not predict probabilities; %s and %s do", p.model, Logistic, Multiclass)
	}
	return nil
}

// Target returns the prediction from the scores of one row, which must include the row's offset if
// the model was fitted with offsets. For a numeric target it is the mean, e^m under a logarithmic
// link. For classes it is the label of the largest score, the first of equal scores; with a single
// score m it is 1 if m > 0 and else −1. If each class has its own score, probabilities may be given
// instead of scores; with a single score they may not.
func (p *Predictor) Target(scores []float64) float64 {
	switch {
	case p.classes != nil:
		best := 0
		for k, m := range scores {
			if m > scores[best] {
				best = k
			}
		}
		return p.classes[best]
	case p.link.Classes():
		if scores[0] > 0 {
			return 1
		}
		return -1
	default:
		return p.link.Mean(scores[0])
	}
}

// Predict returns the prediction for every row of x, a number or a label, see [Predictor.Target].
// The errors are those of [Predictor.Decide].
func (p *Predictor) Predict(x sparse.Matrix) ([]float64, error) {
	if !isMatrix(x) {
		return nil, errNoMatrix()
	}
	n, _ := x.Dims()
	q := len(p.intercepts)
	scores := make([]float64, n*q)
	if err := p.Decide(x, scores); err != nil {
		return nil, err
	}
	targets := make([]float64, n)
	for i := range targets {
		targets[i] = p.Target(scores[i*q : (i+1)*q])
	}
	return targets, nil
}

// Live holds a predictor that can be replaced while other goroutines predict with it. Its zero
// value holds none. It is safe for concurrent use and must not be copied.
type Live struct{ now atomic.Pointer[Predictor] }

// Swap stores next and returns the predictor held before, nil if there was none. Calls that have
// begun finish with the predictor they began with.
func (l *Live) Swap(next *Predictor) (last *Predictor) { return l.now.Swap(next) }

// Predictor returns the predictor held, nil if there is none. For results that belong together,
// such as scores and their classes, call it once and use the predictor it returns for all of them.
func (l *Live) Predictor() *Predictor { return l.now.Load() }

// Predict calls [Predictor.Predict] of the predictor held. If there is none, the error is an
// [outcome.Error] of kind Usage.
func (l *Live) Predict(x sparse.Matrix) ([]float64, error) {
	p := l.now.Load()
	if p == nil {
		return nil, outcome.Errorf(outcome.Usage, "there is no predictor yet; set one with Swap first")
	}
	return p.Predict(x)
}
