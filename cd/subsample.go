package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
)

// subsampling makes models of a loss from some of the rows: subsampled Newton steps
// (Roosta-Khorasani and Mahoney, Mathematical Programming 174, 2019). The slope of a
// model is that of all rows, as the certificate has it; its curvature that of rows drawn
// with chances in proportion to theirs, which stand for the others: rows that are easily
// told have next to none. With 50 rows for a column of the working set it is right to a third
// in every direction, and a step leaves about a tenth of the gap, as exactly as models are
// solved. Where there are many rows for every column there is, those at zero need none, and with
// a quarter of that steps are still far cheaper than those of all rows. Certificates are of all
// rows, as ever.
type subsampling struct {
	perColumn int     // rows to draw for each column
	squared   float64 // ‖r̂‖² of all rows, where the model at hand is of a subsample, else 0
	draw      random.SplitMix64
	rows      []int32   // those drawn
	weights   []float64 // theirs
	before    []float64 // n: X̃β where the last step began
	curvature float64   // δᵀHδ of its model
	singles   bool      // the rows drawn last have been drawn one by one,
	runs      bool      // or are runs of neighbours
	missed    bool      // such a model has missed what counts, since the solver was reset: a few rows far out, perhaps
}

const (
	subsampleRows    = 50
	subsampleMost    = 8   // of so many rows one is left in any case
	subsampleLeast   = 3   // of so many rows one is left at most
	subsampleLow     = 500 // rows drawn at the least: of fewer all are as cheap
	subsampleTall    = 12  // rows for each column there is; where there are fewer, models of all rows cost less beside those of some
	subsampleFew     = 4   // one of so many rows that a support is to have will do then; with fewer, all rows are left
	subsampleLargest = 800 // columns of a set, then: its Gram matrix is made anew for every step
	subsampleEntries = 16  // of a column; with fewer left, its norm is that of all
	subsampleGrowth  = 4   // times as many rows for models after one that strayed
	subsampleRun     = 64  // neighbours that are drawn together of dense columns, at most: only while there are enough of such runs, since neighbours may be alike
	subsampleStrayed = 1.3 // curvature along a step, relative to that of its model
)

func (t *subsampling) start() { t.perColumn, t.squared, t.draw = subsampleRows, 0, 0 }

// subsample draws the rows for the model at the current point, d its curvature. It returns
// false where the model is to be of all rows: those are few, or a model has misled.
func (s *Solver) subsample() bool {
	t, pn := &s.subsampling, &s.prox
	size, all := len(s.set.columns), s.in.store.Rows()
	of, few, largest := size, 1, largestCholesky
	if all >= subsampleTall*len(s.cert.order) {
		of, few, largest = min(size, max(len(s.active), size/2)), subsampleFew, subsampleLargest // at least half of the set: more come in than are there
	}
	rows := min(max(t.perColumn*of, all/subsampleMost), all/subsampleLeast)
	if pn.here != s.state || rows < subsampleLow || few*rows < t.perColumn*of || size > largest || !s.in.gram.Fits(size) {
		return false
	}
	run := 1
	if s.in.store.Tall() {
		for 2*run <= subsampleRun && rows >= 2*run*t.perColumn*of {
			run *= 2
		}
	}
	if t.runs, t.singles = run > 1, run == 1; t.missed {
		return false
	}
	if cap(t.rows) < rows {
		t.rows, t.weights = make([]int32, 0, rows+rows/8), make([]float64, 0, rows+rows/8)
	}
	if t.rows, t.weights = t.rows[:0], t.weights[:0]; t.runs {
		s.drawRuns(rows, run)
		return t.squared > 0
	}
	drawn, theirs := t.rows, t.weights
	limit := s.k.Asum(pn.d) / float64(rows) // rows of more stand for themselves
	share := 1 / limit
	// One of every stretch of rows that have limit together: rows may come in an order.
	stretch, reached, next := 0.0, 0.0, t.draw.Uniform()
	squared, pace := 0.0, s.k.Pace()
	for from := 0; from < len(pn.d); from += kernels.Block { // not by Pieces, where all these would be in memory
		to := min(from+kernels.Block, len(pn.d))
		pace.Did(to - from)
		weighted := pn.here.Weighted[from:to]
		for i, d := range pn.d[from:to] {
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

// drawRuns is the rest of subsample where there are rows enough for neighbours to be drawn together, so that what is read of a
// dense column are whole lines of a cache: runs with chances in proportion to their curvature.
func (s *Solver) drawRuns(rows, run int) {
	t, pn := &s.subsampling, &s.prox
	limit := float64(s.k.Asum(pn.d) / float64(rows) * float64(run)) // runs of more stand for themselves
	share := 1 / limit
	stretch, reached, next := 0.0, 0.0, t.draw.Uniform()
	squared, pace := 0.0, s.k.Pace()
	for from := 0; from < len(pn.d); from += run {
		d := pn.d[from:min(from+run, len(pn.d))]
		pace.Did(len(d))
		weighted := pn.here.Weighted[from:][:len(d)]
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
		for i, d := range d { // rows without curvature, too: runs are copied as they are
			t.rows, t.weights = append(t.rows, int32(from+i)), append(t.weights, d*weight)
		}
	}
	t.squared = squared
}

// fixSparseColumns gives columns with few entries in the rows drawn the curvature of all
// rows: without any entry there their coefficients would be unbounded.
func (s *Solver) fixSparseColumns() {
	in, d := &s.in, s.prox.d
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

// noteStep notes where a step begins, and the curvature that its model has along it.
func (s *Solver) noteStep() {
	t, in := &s.subsampling, &s.in
	if t.before == nil {
		t.before = kernels.Undefined[float64](len(s.state.Linear))
	}
	s.k.Copy(t.before, s.state.Linear)
	t.curvature = 0
	for k, d := range s.prox.delta {
		t.curvature = math.FMA(d, in.quadratic.first[k]-in.quadratic.correlation(k), t.curvature)
	}
}

// judgeSubsample judges the model of the step of this length that led to the certified point. If
// there is far more curvature along it than the rows drawn have, they were too few.
func (s *Solver) judgeSubsample(length float64, stalled bool) {
	t, d := &s.subsampling, s.prox.d
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
	if stalled || bend > subsampleStrayed*length*length*t.curvature {
		t.perColumn *= subsampleGrowth
	}
}
