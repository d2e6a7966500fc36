package model

import (
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
)

// With many rows, vectors do not fit into a cache, and writing a vector costs as much as reading two. Trial intercepts are
// therefore judged by sums over blocks of rows, without storing row vectors. The last pass over the rows, which stores them,
// also computes the sums that are needed next.

const (
	manyRows    = 1 << 16 // the number of rows from which this pays
	leastBlocks = 4       // the minimum number of blocks per part: a part uses the scratch space of three blocks as workspace
)

// hasManyRows reports whether there are at least manyRows rows.
func (f *Rowwise) hasManyRows() bool { return len(f.y) >= manyRows }

// stepsBySums reports whether steps of the intercept are computed from sums over blocks of rows. This excludes losses with
// steps of their own, unless these are steps by sums.
func (f *Rowwise) stepsBySums() bool {
	_, all := f.loss.(loss.Stepper)
	_, summed := f.loss.(loss.Summed)
	return f.hasManyRows() && (summed || !all)
}

// stepFromSums returns the step from the current intercept, and does not change the state's row vectors.
func (f *Rowwise) stepFromSums(s *State) float64 {
	sums := f.byBlocks(s, (*stepTask)(s))
	if l, ok := f.loss.(loss.Summed); ok {
		return l.StepBy(sums)
	}
	if interceptConverged(sums[0], sums[1]) {
		return 0
	}
	return interceptStep(sums[0], sums[2])
}

// setResidualsByBlocks sets predictions, residuals, the loss, and the sums of the residuals by sign.
func (f *Rowwise) setResidualsByBlocks(s *State) {
	sums := f.byBlocks(s, (*residualTask)(s))
	s.signSums, s.Loss = [2]float64{sums[0], sums[1]}, sums[2]/f.view.Total()
}

// byBlocks runs a loop over blocks of rows on the team of the view, which computes three sums for each block, and returns
// the totals.
func (f *Rowwise) byBlocks(s *State, task team.Task) (sums [3]float64) {
	blocks := (len(f.y) + kernels.Block - 1) / kernels.Block
	if len(s.blockSums) < blocks {
		s.blockSums = make([][3]float64, blocks)
	}
	s.loop = rowLoop{f: f, s: s}
	helpers := f.view.Team()
	helpers.Do(max(1, min(helpers.Cuts(rowCost*float64(len(f.y))), blocks/leastBlocks)), task)
	s.loop = rowLoop{}
	for _, of := range s.blockSums[:blocks] {
		for k, v := range of {
			sums[k] += v
		}
	}
	return sums
}

// blocks calls do for the blocks of part k, with workspace for three vectors.
func (t *rowLoop) blocks(k, of int, do func(from, to int, room *[3][]float64) [3]float64) {
	n, pace := len(t.f.y), t.f.view.Kernels().Pace()
	blocks := (n + kernels.Block - 1) / kernels.Block
	first, end := blocks*k/of, blocks*(k+1)/of
	for b := first; b < end; b++ {
		from, to := b*kernels.Block, min((b+1)*kernels.Block, n)
		pace.Did(to - from)
		var room [3][]float64
		for i := range room {
			room[i] = t.s.scratch[(first+i)*kernels.Block:][:to-from]
		}
		t.s.blockSums[b] = do(from, to, &room)
	}
}

// stepTask computes the sums for the next step of the intercept.
type stepTask State

// Part implements [team.Task].
func (p *stepTask) Part(k, of int) {
	t := &p.loop
	f, s, set := t.f, t.s, t.f.view.Kernels()
	weights := f.view.Weights()
	summed, _ := f.loss.(loss.Summed)
	t.blocks(k, of, func(from, to int, room *[3][]float64) [3]float64 {
		y, m, rho := f.y[from:to], room[0], room[1]
		predict(s.Linear[from:to], s.Intercept, m)
		f.loss.Slope(set, y, m, rho)
		v := rho
		if weights != nil {
			v = room[2]
			set.Product(v, weights[from:to], rho)
		}
		if summed != nil {
			return summed.Sums(set, y, rho, v)
		}
		sums := [3]float64{set.Sum(v), set.Asum(v), 0}
		f.loss.Curvature(set, y, m, rho)
		sums[2] = f.weightedSum(from, rho)
		return sums
	})
}

// predict sets m to the predictions with the given intercept.
func predict(linear []float64, intercept float64, m []float64) {
	for i, v := range linear {
		m[i] = v + intercept
	}
}

// residualTask sets the row vectors of the state, and computes three sums: of the positive entries of Weighted, of its
// negative entries, and of the loss.
type residualTask State

// Part implements [team.Task].
func (p *residualTask) Part(k, of int) {
	t := &p.loop
	f, s, set := t.f, t.s, t.f.view.Kernels()
	weights := f.view.Weights()
	t.blocks(k, of, func(from, to int, room *[3][]float64) (sums [3]float64) {
		y, m, rho, v := f.y[from:to], s.Prediction[from:to], s.Residual[from:to], s.Weighted[from:to]
		predict(s.Linear[from:to], s.Intercept, m)
		f.loss.Slope(set, y, m, rho)
		if weights != nil {
			set.Product(v, weights[from:to], rho)
		}
		sums[0], sums[1] = f.signSums(v)
		f.loss.Value(set, y, m, room[0])
		sums[2] = f.weightedSum(from, room[0])
		return sums
	})
}
