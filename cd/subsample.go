package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
)

// subsampling builds models of a loss from a sample of the rows: subsampled Newton steps
// (Roosta-Khorasani and Mahoney, Mathematical Programming 174, 2019). The gradient of a model
// is that of all rows, from the certificate. Its curvature is that of rows drawn with
// probabilities proportional to their curvature, since rows that are easy to classify have next
// to none. With 50 rows per column of the working set the curvature is accurate to a third in
// every direction, and a step leaves about a tenth of the gap, as much as the solution of a model
// does. Where there are many rows per column of X, columns with a zero coefficient do not count,
// and even with a quarter of that number steps are far cheaper than those of all rows.
// Certificates always use all rows.
type subsampling struct {
	rowsPerColumn int     // rows to draw for each column
	squared       float64 // ‖r̂‖² of all rows, if the current model is of a subsample or known by its Gram matrix alone, else 0
	draw          random.SplitMix64
	rows          []int32   // the rows drawn
	weights       []float64 // of the rows drawn
	before        []float64 // n: X̃β where the last step began
	curvature     float64   // δᵀHδ by the model of the last step
	drawnSingly   bool      // the last rows were drawn one by one
	drawnInRuns   bool      // the last rows were drawn in runs of neighbours
	runsFailed    bool      // since the solver was reset, a model of runs has failed: it may miss a few outlying rows
}

const (
	subsampleRows           = 50  // rows per column at first
	subsampleMostRatio      = 8   // a sample has at least one in this many rows
	subsampleLeastRatio     = 3   // a sample has at most one in this many rows
	subsampleLeastRows      = 500 // the least sample: a model of fewer rows is no cheaper
	subsampleTallRatio      = 12  // rows per column of X from which on the next two constants apply: with fewer, models of a sample save less
	subsampleShortfall      = 4   // the sample may be smaller by this factor than rowsPerColumn asks; smaller still, and all rows are used
	subsampleMostColumns    = 800 // the most columns of a set: its Gram matrix is computed anew for every step
	subsampleEntries        = 16  // of a column in the sample; with fewer, its norm is that on all rows
	subsampleGrowth         = 4   // factor on the rows after a model that strayed
	subsampleRun            = 64  // the most neighbours drawn together from dense columns, if enough runs are left: neighbours may be alike
	subsampleCurvatureRatio = 1.3 // curvature along a step, relative to that of its model, from which on it has strayed
)

func (t *subsampling) start() { t.rowsPerColumn, t.squared, t.draw = subsampleRows, 0, 0 }

// subsample draws the rows for the model at the current point, where prox.d is the curvature. It
// returns false if the model has to use all rows: because these are few, or a model has failed.
func (s *Solver) subsample() bool {
	t, pn := &s.subsampling, &s.prox
	size, all := len(s.set.columns), s.in.store.Rows()
	of, few, largest := size, 1, largestCholesky
	if all >= subsampleTallRatio*len(s.cert.order) {
		of, few, largest = min(size, max(len(s.active), size/2)), subsampleShortfall, subsampleMostColumns // at least half of the set: the support may more than double
	}
	rows := min(max(t.rowsPerColumn*of, all/subsampleMostRatio), all/subsampleLeastRatio)
	if pn.current != s.state || rows < subsampleLeastRows || few*rows < t.rowsPerColumn*of || size > largest || !s.in.gram.Fits(size) {
		return false
	}
	run := 1
	if s.in.store.Tall() {
		for 2*run <= subsampleRun && rows >= 2*run*t.rowsPerColumn*of {
			run *= 2
		}
	}
	if t.drawnInRuns, t.drawnSingly = run > 1, run == 1; t.runsFailed {
		return false
	}
	if cap(t.rows) < rows {
		t.rows, t.weights = make([]int32, 0, rows+rows/8), make([]float64, 0, rows+rows/8)
	}
	if t.rows, t.weights = t.rows[:0], t.weights[:0]; t.drawnInRuns {
		s.drawRuns(rows, run)
		return t.squared > 0
	}
	drawn, theirs := t.rows, t.weights
	limit := s.k.Asum(pn.curvature) / float64(rows) // rows with more curvature are all taken, with their own weight
	share := 1 / limit
	// One row of every stretch of rows with the total curvature limit: rows may be sorted.
	stretch, reached, next := 0.0, 0.0, t.draw.Uniform()
	squared, pace := 0.0, s.k.Pace()
	for from := 0; from < len(pn.curvature); from += kernels.Block { // not by Pieces, which would move all these variables to memory
		to := min(from+kernels.Block, len(pn.curvature))
		pace.Did(to - from)
		weighted := pn.current.Weighted[from:to]
		for i, d := range pn.curvature[from:to] {
			if d == 0 {
				continue
			}
			v := weighted[i]
			squared = math.FMA(v, v/d, squared)
			weight := d
			if d < limit {
				reached += float64(d * share)
				if !(reached > next) {
					continue
				}
				for weight = 0; reached > next; next = stretch + t.draw.Uniform() {
					weight += limit
					stretch++
				}
			}
			drawn, theirs = append(drawn, int32(from+i)), append(theirs, weight)
		}
	}
	t.rows, t.weights = drawn, theirs
	t.squared = squared
	return squared > 0
}

// drawRuns is the second part of subsample where there are enough rows to draw runs of neighbours, with probabilities proportional to
// their curvature: the entries of a run fill whole cache lines of a dense column.
func (s *Solver) drawRuns(rows, run int) {
	t, pn := &s.subsampling, &s.prox
	limit := float64(s.k.Asum(pn.curvature) / float64(rows) * float64(run)) // runs with more curvature are all taken, with their own weight
	share := 1 / limit
	stretch, reached, next := 0.0, 0.0, t.draw.Uniform()
	squared, pace := 0.0, s.k.Pace()
	for from := 0; from < len(pn.curvature); from += run {
		d := pn.curvature[from:min(from+run, len(pn.curvature))]
		pace.Did(len(d))
		weighted := pn.current.Weighted[from:][:len(d)]
		sum := 0.0
		for i, d := range d {
			if d > 0 {
				v := weighted[i]
				squared = math.FMA(v, v/d, squared)
				sum += d
			}
		}
		weight := sum
		if sum < limit {
			reached += float64(sum * share)
			for weight = 0; reached > next; next = stretch + t.draw.Uniform() {
				weight += limit
				stretch++
			}
		}
		if weight == 0 {
			continue
		}
		weight /= sum
		for i, d := range d { // including rows without curvature: runs are copied whole
			t.rows, t.weights = append(t.rows, int32(from+i)), append(t.weights, d*weight)
		}
	}
	t.squared = squared
}

// fixSparseColumns gives columns with few entries in the rows drawn the curvature of all
// rows: without any entry in these rows their coefficients would be unbounded.
func (s *Solver) fixSparseColumns() {
	in, d := &s.in, s.prox.curvature
	total := s.k.Asum(d)
	for k, j := range in.columns {
		if in.store.Length(j) >= subsampleEntries {
			continue
		}
		var square, sum float64
		rows, values := s.view.Matrix().Column(int(j))
		for at, i := range rows {
			u := float64(d[i] * values[at])
			sum += u
			square = math.FMA(u, values[at], square)
		}
		if s.view.Centred() {
			square -= float64(sum / total * sum)
		}
		scale := s.view.Scale(int(j))
		in.square[k] = max(in.square[k], float64(square*scale)*scale)
	}
}

// noteStep saves where a step begins, and the curvature of its model along the step.
func (s *Solver) noteStep() {
	t, in := &s.subsampling, &s.in
	if t.before == nil {
		t.before = kernels.Undefined[float64](len(s.state.Linear))
	}
	s.k.Copy(t.before, s.state.Linear)
	t.curvature = 0
	for k, d := range s.prox.delta {
		t.curvature = math.FMA(d, in.quadratic.loadedCorr[k]-in.quadratic.correlation(k), t.curvature)
	}
}

// judgeSubsample checks the model behind the step of the given length that led to the certified point.
// If the curvature along the step is far larger than in the rows drawn, or the solve has stalled, later models
// draw more rows.
func (s *Solver) judgeSubsample(length float64, stalled bool) {
	t, d := &s.subsampling, s.prox.curvature
	t.squared = 0
	move := t.before
	s.k.Difference(move, s.state.Linear, t.before)
	var bend float64
	if s.view.Centred() {
		shift := s.k.Dot(d, move)
		bend = -float64(shift / s.k.Asum(d) * shift)
	}
	s.k.Product(move, move, move)
	bend += s.k.Dot(d, move)
	if stalled || bend > subsampleCurvatureRatio*length*length*t.curvature {
		t.rowsPerColumn *= subsampleGrowth
	}
}
