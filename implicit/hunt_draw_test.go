package implicit_test

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// hard is a random problem drawn to provoke a wrong hypergradient: with dependent or nearly dependent columns,
// saturated labels, outliers, few rows, and strengths small enough for these to matter.
type hard struct {
	model             pare.Model
	q                 *oracle.Problem // X, y, the rows' weights and the intercept
	labels, folds     []int           // labels: multiclass
	standardise       bool
	logLambda         []float64
	x                 sparse.Matrix
	rho, outlier, low float64 // parameters of the draw, for the report
}

// huntedModels lists the models that package exact supports.
var huntedModels = []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge, pare.Logistic, pare.Multiclass, pare.SVM}

// pick returns a random element of a list.
func pick[T any](r *oracle.Random, of ...T) T { return of[r.Intn(len(of))] }

// decade returns 10^u with u uniform between low and high.
func decade(r *oracle.Random, low, high float64) float64 {
	return math.Pow(10, low+(high-low)*r.Float64())
}

// drawHard returns a random problem, or false if a fold would train on one class.
func drawHard(seed uint64) (*hard, bool) {
	r := oracle.NewRandom(seed)
	d := &hard{model: pick(r, huntedModels...), rho: r.Pick(0, 0.9, 0.99, 0.999, 0.9999)}
	n := int(10 * decade(r, 0, math.Log10(8)))
	p := int(3 * decade(r, 0, math.Log10(40)))
	switch d.model {
	case pare.Ridge:
		p = min(p, 40)
	case pare.Multiclass:
		p = min(p, 60)
	}
	d.q = r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(1, 0.3, 0.1), Correlation: d.rho})
	d.depend(r)
	d.target(r)
	d.q.Intercept = d.model != pare.SVM && r.Intn(2) == 0
	d.standardise = d.model != pare.SVM && r.Intn(2) == 0
	if r.Intn(3) == 0 {
		d.q.Weights = make([]float64, n)
		for i := range d.q.Weights {
			d.q.Weights[i] = r.Pick(0.5, 1, 2, 0.1+3*r.Float64())
		}
	}
	d.split(r)
	d.x = d.matrix(r.Intn(2) == 0)
	return d, d.strengths(r)
}

// depend replaces up to two columns by combinations of others, and scales one or two rows.
func (d *hard) depend(r *oracle.Random) {
	_, p := d.q.Dims()
	for range r.Intn(3) {
		to, a, b := r.Intn(p), r.Intn(p), r.Intn(p)
		kind, noise := r.Intn(5), decade(r, -6, -4)
		for _, row := range d.q.X {
			switch kind {
			case 0:
				row[to] = row[a] + row[b]
			case 1:
				row[to] = 2 * row[a]
			case 2:
				row[to] = row[a] * (1 + noise*r.Normal())
			case 3:
				row[to] = row[a] + 1e-8*r.Normal()
			case 4:
				row[to] = row[a] - row[b]/2 + 1e-3*r.Normal()
			}
		}
	}
	if r.Intn(8) > 0 {
		return
	}
	d.outlier = decade(r, 1, 7)
	for range 1 + r.Intn(2) {
		for j, row := 0, d.q.X[r.Intn(len(d.q.X))]; j < p; j++ {
			row[j] *= d.outlier
		}
	}
}

// target draws y from up to 12 coefficients, and labels from y by the logistic model.
func (d *hard) target(r *oracle.Random) {
	n, p := d.q.Dims()
	signal := make([]float64, n)
	for range 1 + r.Intn(12) {
		j, w := r.Intn(p), r.Normal()
		for i, row := range d.q.X {
			signal[i] += w * row[j]
		}
	}
	noise, temperature := decade(r, -2, 0), decade(r, math.Log10(0.05), 0)
	switch d.model {
	case pare.Logistic, pare.SVM:
		for i, v := range signal {
			d.q.Y[i] = 1
			if r.Float64() > 1/(1+math.Exp(-v/temperature)) {
				d.q.Y[i] = -1
			}
		}
	case pare.Multiclass:
		classes := 2 + r.Intn(3)
		order := slices.Clone(signal)
		slices.Sort(order)
		for i, v := range signal {
			at, _ := slices.BinarySearch(order, v+noise*r.Normal())
			d.q.Y[i] = float64(min(classes-1, at*classes/n))
		}
		seen := slices.Compact(slices.Sorted(slices.Values(d.q.Y)))
		d.labels = make([]int, n)
		for i, y := range d.q.Y {
			d.labels[i] = slices.Index(seen, y)
		}
	default:
		for i, v := range signal {
			d.q.Y[i] = v + noise*r.Normal()
		}
	}
}

// split assigns the rows to 2 to 5 folds, or holds out a share of them.
func (d *hard) split(r *oracle.Random) {
	n := len(d.q.Y)
	d.folds = make([]int, n)
	k, hold := 2+r.Intn(4), r.Intn(3) == 0
	for i := range d.folds {
		d.folds[i] = i % k
	}
	for i := n - 1; i > 0; i-- {
		j := r.Intn(i + 1)
		d.folds[i], d.folds[j] = d.folds[j], d.folds[i]
	}
	for i, f := range d.folds {
		if hold && f > 0 {
			d.folds[i] = -1
		}
	}
}

func (d *hard) matrix(dense bool) sparse.Matrix {
	n, p := d.q.Dims()
	var x sparse.Matrix
	var err error
	if dense {
		x, err = sparse.NewDense(n, p, d.q.ColumnMajor())
	} else {
		pointers, rows, values := d.q.Columns()
		x, err = sparse.NewCSC(n, p, pointers, rows, values)
	}
	if err != nil {
		panic(err)
	}
	return x
}

// strengths draws λ below its largest value.
func (d *hard) strengths(r *oracle.Random) bool {
	top, err := pare.LogLambdaMax(d.x, d.q.Y, d.config())
	if outcome.KindOf(err) == outcome.SingleClass {
		return false
	}
	if err != nil {
		panic(err)
	}
	d.low = -3.5
	if d.model == pare.Logistic && r.Intn(8) == 0 {
		d.low = -9 // so that rows are saturated
	}
	share := math.Ln10 * (d.low + (-0.3-d.low)*r.Float64())
	for k, l := range top {
		switch {
		case d.model == pare.SVM:
			var mean float64
			for _, row := range d.q.X {
				for _, v := range row {
					mean += v * v / float64(len(d.q.X))
				}
			}
			if mean == 0 {
				return false
			}
			l = math.Ln10*(-3+5*r.Float64()) - math.Log(mean)
		case d.model == pare.ElasticNet && k == 1:
			l = top[0] + math.Ln10*(-4+4*r.Float64())
		case d.model == pare.Ridge:
			l += math.Ln10 * (-8 + 8*r.Float64())
		case d.model == pare.WeightedLasso:
			l += share + r.Float64() - 0.5
		default:
			l += share
		}
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return false
		}
		d.logLambda = append(d.logLambda, l)
	}
	return true
}

// config returns the configuration of the problem on all rows.
func (d *hard) config() pare.Config {
	return pare.Config{
		Model: d.model, NoIntercept: !d.q.Intercept, Standardize: d.standardise, Weights: d.q.Weights, Threads: 1,
	}
}
