package search

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestWhereAPathEnds checks, in several units, that a path ends at a point whose solutions are dense, by the size
// of their support or because they fit the training rows. It continues if this point is the best one, or if its
// slope predicts a value below the best by a tenth of a standard error.
func TestWhereAPathEnds(t *testing.T) {
	for _, c := range []struct {
		name                        string
		here, slope, train, crowded float64
		ends                        bool
	}{
		{"sparse", 1.2, -0.1, 0.5, 0.5, false},
		{"dense by the support", 1.2, -0.1, 0.5, 0.85, true},
		{"dense by the training rows", 1.2, -0.1, 0.005, 0.5, true},
		{"no training loss known", 1.2, -0.1, 0, 0.5, false},
		{"the best", 0.9, -0.1, 0.005, 0.9, false},
		{"falls by more than a tenth below the best", 1.2, -0.6, 0.5, 0.9, false},
		{"falls below the best, but by little", 1.2, -0.4, 0.5, 0.9, true},
		{"falls, but not below the best", 1.7, -0.6, 0.5, 0.9, true},
		{"rises", 1.2, 0.6, 0.5, 0.9, true},
	} {
		for _, unit := range []float64{1, 0x1p-30, 0x1p30} {
			l := scanOf()
			l.o.Sparse, l.o.Free, l.o.Floor, l.o.Null.Value = true, 1e9, 5, math.NaN()
			at := func(depth, value, slope float64) point {
				return point{&Evaluation{Value: value * unit, StandardError: 5 * unit, Work: 1, TrainLoss: 0.5}, depth, slope * unit}
			}
			l.add(at(1, 1, -1))
			l.previous, l.here = l.points[0], at(2, c.here, c.slope)
			l.here.TrainLoss, l.here.Saturation = c.train, c.crowded
			l.add(l.here)
			if step := l.nextStep(); (step == 0) != c.ends {
				t.Errorf("%s, unit %g: step %g", c.name, unit, step)
			}
		}
	}
}

// TestWhereElseAPathEnds checks the other rules that end a path one by one, in several units, after a best point
// of value 1 at depth 1.
func TestWhereElseAPathEnds(t *testing.T) {
	const bottom, floor = 9.0, 5.0
	nan := math.NaN()
	for _, c := range []struct {
		name               string
		depth, here, slope float64
		change             func(l *scan)
		step               float64
	}{
		{"goes on", 2, 1.1, 0.1, nil, 1},
		{"no number", 2, nan, -0.1, nil, 0},
		{"the bottom", bottom, 0.5, -0.1, nil, 0},
		{"short of the bottom", bottom - 0.25, 0.5, -0.1, nil, 0.25},
		{"at the floor, falling by a hundredth of a standard error", floor, 0.9, -0.0009, nil, 0},
		{"at the floor, falling by more", floor, 0.9, -0.0011, nil, 1},
		{"above the floor", floor - 0.25, 0.9, -0.0009, nil, 1},
		{"at the floor, falling but not below the best", floor, 1.2, -0.1, nil, 0},
		{"at the floor, the best and of no slope", floor, 0.9, nan, nil, 1},
		{"at the floor, of no slope", floor, 1.1, nan, nil, 0},
		{"flat", 2, 1.1, 0.1, func(l *scan) { l.here.Flat = true }, 0},
		{"flat, but the criterion jumps", 2, 1.1, 0.1, func(l *scan) { l.here.Flat, l.o.Jumps = true, true }, 1},
		{"flat from the first", 2, 1.1, 0.1, func(l *scan) { l.here.Flat, l.previous.Evaluation = true, nil }, 1},
		{"flat since there are points", 2, 1.1, 0.1, func(l *scan) { l.here.Flat, l.points[0].Flat = true, true }, 1},
		{"the training rows are met", 2, 1.1, 0.0009, func(l *scan) { l.here.TrainLoss = 0.009 }, 0},
		{"nearly", 2, 1.1, 0.0009, func(l *scan) { l.here.TrainLoss = 0.011 }, 1},
		{"they are met, but the criterion falls", 2, 1.1, -0.0011, func(l *scan) { l.here.TrainLoss = 0.009 }, 1},
		{"they are met, but the criterion rises", 2, 1.1, 0.0011, func(l *scan) { l.here.TrainLoss = 0.009 }, 1},
		{"risen once by three standard errors", 2, 1.31, 0.1, nil, 1},
		{"risen twice", 2, 1.31, 0.1, func(l *scan) { l.risen = 1 }, 0},
		{"risen twice, but by less", 2, 1.29, 0.1, func(l *scan) { l.risen = 1 }, 1},
		{"risen twice, but two steps lead below the best", 2, 1.31, -0.16, func(l *scan) { l.risen = 1 }, 1},
		{"risen twice, and two steps lead nearly to the best", 2, 1.31, -0.15, func(l *scan) { l.risen = 1; l.previous.slope = -0.15 }, 0},
		{"risen twice, but it falls ever faster", 2, 1.31, -0.15, func(l *scan) { l.risen = 1; l.previous.slope = -0.14 }, 1},
		{"risen twice, on the way up", 2, 1.31, 0.1, func(l *scan) { l.risen = 1; l.o.Climb, l.here.TrainLoss = true, 0.51 }, 1},
		{"risen twice, after the way up", 2, 1.31, 0.1, func(l *scan) { l.risen = 1; l.o.Climb, l.here.TrainLoss = true, 0.49 }, 0},
		{"dense once on the way up", 2, 1.1, 0.1, func(l *scan) { l.o.Climb, l.o.Sparse, l.here.Saturation = true, true, 0.8 }, 1},
		{"dense twice on the way up", 2, 1.1, 0.1, func(l *scan) { l.o.Climb, l.o.Sparse, l.here.Saturation, l.dense = true, true, 0.8, 1 }, 0},
		{"dense twice on the way up, but two steps lead below the best", 2, 1.1, -0.06, func(l *scan) { l.o.Climb, l.o.Sparse, l.here.Saturation, l.dense, l.o.Reach = true, true, 0.8, 1, 1 }, 1},
		{"dense once", 2, 1.1, 0.1, func(l *scan) { l.o.Sparse, l.here.Saturation = true, 0.8 }, 0},
		{"not quite", 2, 1.1, 0.1, func(l *scan) { l.o.Sparse, l.here.Saturation = true, 0.79 }, 1},
		{"dense, where columns are of many scales", 2, 1.1, 0.1, func(l *scan) { l.o.Sparse, l.o.Wide, l.here.Saturation = true, true, 0.9 }, 1},
		{"dense at last", 2, 1.1, 0.1, func(l *scan) { l.o.Sparse, l.o.Wide, l.here.Saturation = true, true, 1 }, 0},
		{"dense at last, by groups", 2, 1.1, 0.1, func(l *scan) { l.o.Sparse, l.o.Wide, l.o.Grouped, l.here.Saturation = true, true, true, 1 }, 1},
		{"dense by groups, where work is dear", 2, 1.1, 0.1, func(l *scan) {
			l.o.Sparse, l.o.Wide, l.o.Grouped, l.here.Saturation, l.here.TrainLoss, l.here.Support, l.spent = true, true, true, 1, 0.4, 33, 0.31e9
		}, 0},
		{"dense by groups of one scale, and half of the training loss is left", 2, 1.1, 0.1, func(l *scan) {
			l.o.Sparse, l.o.Grouped, l.here.Saturation, l.here.TrainLoss, l.previous.TrainLoss, l.here.Support = true, true, 1, 0.51, 0.53, 33
		}, 1},
		{"dense by groups of one scale, and it is explained", 2, 1.1, 0.1, func(l *scan) {
			l.o.Sparse, l.o.Grouped, l.here.Saturation, l.here.TrainLoss, l.here.Support = true, true, 1, 0.44, 33
		}, 0},
		{"dense, but falls below the best within reach", 2, 1.1, -0.2, func(l *scan) { l.o.Sparse, l.here.Saturation, l.o.Reach = true, 0.8, 0.6 }, 1},
		{"dense, and falls below the best beyond it", 2, 1.1, -0.2, func(l *scan) { l.o.Sparse, l.here.Saturation, l.o.Reach = true, 0.8, 0.4 }, 0},
		{"dense, where work is dear", 2, 1.1, 0.1, func(l *scan) { l.o.Sparse, l.o.Wide, l.here.Saturation, l.spent = true, true, 0.9, 0.31e9 }, 0},
		{"risen twice, where columns are of many scales", 2, 1.31, 0.1, func(l *scan) { l.risen = 1; l.o.Wide, l.here.Saturation = true, 0.7 }, 1},
		{"risen twice, and all columns are in", 2, 1.31, 0.1, func(l *scan) { l.risen = 1; l.o.Wide, l.here.Saturation = true, 1 }, 0},
		{"risen twice, where work is dear", 2, 1.31, 0.1, func(l *scan) { l.risen = 1; l.o.Wide, l.here.Saturation, l.spent = true, 0.7, 0.31e9 }, 0},
	} {
		for _, unit := range []float64{1, 0x1p-30, 0x1p30} {
			l := scanOf()
			l.o.Free, l.o.Floor, l.o.Bottom, l.o.Null.Value = 1e9, floor, bottom, nan
			at := func(depth, value, slope float64) point {
				return point{&Evaluation{Value: value * unit, StandardError: 0.1 * unit, Work: 1, TrainLoss: 0.5, Gradient: []float64{0}}, depth, slope * unit}
			}
			l.add(at(1, 1, -1))
			l.previous, l.here = l.points[0], at(c.depth, c.here, c.slope)
			if l.previous.slope = 10 * unit; c.slope < 0 { // so that the criterion does not fall faster than at the point before
				l.previous.slope = -10 * unit
			}
			if c.change != nil {
				slope := l.previous.slope
				if c.change(l); l.previous.slope != slope {
					l.previous.slope *= unit
				}
			}
			l.add(l.here)
			near9(t, c.name, l.nextStep(), c.step)
		}
	}
}

// TestWhatAPointHasToPromise checks the predicted gain that is required of a further point. It is a hundredth of
// the standard error or, if less, a thousandth of the value (1.5e-4 of it under a loss that is not quadratic),
// while a point takes less than the free work. After an earlier scan it is a twentieth of the standard error if
// the point would exceed the allowed work.
func TestWhatAPointHasToPromise(t *testing.T) {
	for _, c := range []struct {
		value, deviation, work float64
		relative, resumed, up  bool
		want                   float64
	}{
		{1, 0.05, 1, false, false, false, 5e-4},
		{1, 0.2, 1, false, false, false, 1e-3},
		{-1, 0.2, 1, false, false, false, 1e-3},
		{1, 0.2, 1, true, false, false, 1.5e-4},
		{1, 0.2, 1, true, true, false, 1e-3},
		{1, 0.2, 1, true, false, true, 1e-3},
		{1, 0.01, 1, true, false, false, 1e-4},
		{1, 0.01, 3, true, false, false, 2e-4},
		{1, 0.01, 3, false, true, false, 2e-4},
		{1, 0.2, 3, true, false, false, 1e-3},
		{1, 0, 1, true, false, false, 1e-2 * unitWithoutError * 9},
		{1e-9, 0.2, 1, true, false, false, 1e-2 * leastUnit * 10},
	} {
		l := scanOf()
		l.o.Free, l.o.Relative, l.o.Climb, l.resumed, l.o.Null = 2, c.relative, c.up, c.resumed, Evaluation{Value: 10}
		l.add(point{&Evaluation{Value: c.value, StandardError: c.deviation, Work: c.work}, 1, -1})
		l.here, l.o.Earlier = point{Evaluation: &Evaluation{Work: c.work}}, []Evaluation{{Work: 2 * c.work}}
		near9(t, fmt.Sprint(c), l.requiredGain(), c.want)
		if l.spent = 0.1; l.resumed {
			c.want = 0.05 * c.deviation
		}
		near9(t, fmt.Sprint(c, " beyond what is allowed"), l.requiredGain(), c.want)
	}
}

// TestResumedScanBeginsWhereSolutionsAreNoStart checks where a resumed scan begins: at the earlier choice or, if
// solutions there are dense and fit nearly all training rows, and columns are many enough to interpolate single
// rows, at the sparsest point that was nearly as good.
func TestResumedScanBeginsWhereSolutionsAreNoStart(t *testing.T) {
	f := func(x float64) (value, slope float64) { return 1 + 0.001*(x+9)*(x+9), 0.002 * (x + 9) }
	for _, c := range []struct {
		sparse, interpolates   bool
		saturation, loss, want float64
	}{{true, true, 0.9, 0.01, 4}, {true, true, 0.7, 0.01, 9}, {true, true, 0.9, 0.05, 9}, {false, true, 0.9, 0.01, 9}, {true, false, 0.9, 0.01, 9}} {
		o := ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.2}, Sparse: c.sparse, Interpolates: c.interpolates, Fresh: 0.05}
		for _, depth := range []float64{9, 1, 4, 9} {
			v, s := f(-depth)
			o.Earlier = append(o.Earlier, Evaluation{LogLambda: []float64{-depth}, Value: v, Gradient: []float64{s}, Trusted: true, StandardError: 0.2, Work: 1})
		}
		o.Earlier[3].Saturation, o.Earlier[3].TrainLoss = c.saturation, c.loss // the first is a copy of the earlier choice
		a := judged(scalar(f), 0.2, 0)
		scanned(t, a, o)
		near9(t, fmt.Sprint("first of ", c), -a.seen[0].LogLambda[0], c.want)
	}
}

// TestResumedScansThatLeadNowhereBeginAnew checks a resumed scan that finds nothing near the earlier choice: it
// follows the whole path as if there were no earlier scan, although the first points of the path are worse than
// points already tried.
func TestResumedScansThatLeadNowhereBeginAnew(t *testing.T) {
	f := func(x float64) (value, slope float64) { // decreases up to −9
		far := math.Hypot(x+9, 0.2)
		return 0.2 + 0.1*far, 0.1 * (x + 9) / far
	}
	o := ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.01}, Free: 1e12}
	for _, depth := range []float64{3, 1, 3} {
		o.Earlier = append(o.Earlier, Evaluation{LogLambda: []float64{-depth}, Value: 1, Gradient: []float64{0.1}, Trusted: true, StandardError: 0.01, Work: 1e9})
	}
	if r := scanned(t, judged(scalar(f), 0.01, 0), o); !(math.Abs(r.Best.Value-0.22) < 1e-4) {
		t.Errorf("%v at %v after %d evaluations", r.Best.Value, r.Best.LogLambda, len(r.Evaluations))
	}
}

// TestFirstGapOfAResumedScan checks that the first gap is as small as the standard error of the earlier choice
// requires.
func TestFirstGapOfAResumedScan(t *testing.T) {
	f := func(x float64) (value, slope float64) { return 1 + 0.001*(x+9)*(x+9), 0.002 * (x + 9) }
	for _, c := range []struct {
		sparse bool
		want   float64
	}{{true, 1.5e-4}, {false, 1e-5}} {
		o := ScanOptions{Null: Evaluation{Value: 4, StandardError: 0.2}, Sparse: c.sparse}
		o.Earlier = []Evaluation{{LogLambda: []float64{-9}, Value: 1, Trusted: true, StandardError: 2e-3}}
		a := judged(scalar(f), 2e-3, 0)
		scanned(t, a, o)
		near9(t, fmt.Sprint("tolerance, sparse ", c.sparse), a.seen[0].Tol, c.want)
	}
}

// TestBetterRivalsAreFollowed checks that a basin that was nearly as deep as the chosen one, and is deeper in the
// new problem, is followed to its minimum.
func TestBetterRivalsAreFollowed(t *testing.T) {
	basins := func(deeper, at float64) func(x float64) (value, slope float64) {
		return func(x float64) (value, slope float64) { // one basin at −2, and another
			a, b := (x+2)/0.9, (x+at)/0.9
			return 3 - math.Exp(-a*a) - deeper*math.Exp(-b*b), (2*a*math.Exp(-a*a) + 2*b*deeper*math.Exp(-b*b)) / 0.9
		}
	}
	before, o := basins(0.98, 6), ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.2}, Free: 1e12}
	for _, depth := range []float64{2, 0.5, 1, 2, 3, 4, 5, 6, 7} {
		v, s := before(-depth)
		o.Earlier = append(o.Earlier, Evaluation{LogLambda: []float64{-depth}, Value: v, Gradient: []float64{s}, Trusted: true, StandardError: 0.2, Work: 1e9})
	}
	r := scanned(t, judged(scalar(basins(1.3, 6.4)), 0.2, 0), o)
	if value := r.Best.Value - 1.7; math.Abs(r.Best.LogLambda[0]+6.4) > 0.15 || value > 0.01 || len(r.Evaluations) > 6 {
		t.Errorf("%v at %v after %d evaluations", value, r.Best.LogLambda, len(r.Evaluations))
	}
}

// TestRivalsOfAnEarlierScan checks that rivals returns the basins that are nearly as deep as the chosen one, best
// first, and the least depth of a point that is nearly as good.
func TestRivalsOfAnEarlierScan(t *testing.T) {
	value := map[float64]float64{0.4: 1.1, 1: 1.8, 1.6: 1.15, 2.3: 1.9, 3: 1, 4: 2, 5: 1.05, 6: 2}
	l := scanOf()
	l.o.Null.Value = math.NaN()
	for depth, v := range value {
		l.o.Earlier = append(l.o.Earlier, Evaluation{LogLambda: []float64{2 - depth}, Value: v, StandardError: 1})
	}
	depths, least := l.otherBasins(3)
	for i := range depths {
		depths[i] = math.Round(1e9*depths[i]) / 1e9
	}
	if !slices.Equal(depths, []float64{5, 1.6}) {
		t.Errorf("rivals %v", depths)
	}
	near9(t, "least depth", least, 0.4)
}

// TestResumedStepsGoFartherIntoTheUnknown checks that a resumed scan lengthens a step by half if the earlier scan
// has no slope ahead, and otherwise steps to the minimum given by both slopes.
func TestResumedStepsGoFartherIntoTheUnknown(t *testing.T) {
	const minimum = 2.6
	f := func(x float64) (value, slope float64) { return 3 + (x+minimum)*(x+minimum), 2 * (x + minimum) }
	for _, c := range []struct{ other, want float64 }{{3, 2.6}, {1, 2 + 1.5*0.6}} {
		o := ScanOptions{Null: Evaluation{Value: 9}, Free: 1e9}
		for _, depth := range []float64{2, c.other} {
			v, s := f(-depth)
			o.Earlier = append(o.Earlier, Evaluation{LogLambda: []float64{-depth}, Value: v, Gradient: []float64{s}, Trusted: true, StandardError: 0.01, Work: 1e6})
		}
		a := judged(scalar(f), 0.01, 0)
		scanned(t, a, o)
		near9(t, "first", -a.seen[0].LogLambda[0], 2)
		near9(t, "second", -a.seen[1].LogLambda[0], c.want)
	}
}

// TestModelStaysPositiveDefinite checks Powell's damping: if the slopes change along a step by less than a fifth
// of what the model predicts, or in the opposite direction, the model learns a fifth of its prediction.
func TestModelStaysPositiveDefinite(t *testing.T) {
	for _, share := range []float64{-3, 0, 0.1, 0.3} { // of what the model predicts
		q := newQuadratic(2)
		q.updated, q.h = true, []float64{2, 0.5, 0.5, 1}
		step := []float64{1, -2}
		q.multiply(step)
		said := dot(step, q.hd)
		change := []float64{share * q.hd[0], share * q.hd[1]}
		q.update(&Evaluation{Gradient: []float64{0, 0}}, &Evaluation{Gradient: change}, step)
		q.multiply(step)
		near9(t, "curvature along the step", dot(step, q.hd), max(0.2, share)*said)
		if determinant := q.h[0]*q.h[3] - q.h[1]*q.h[2]; !(q.h[0] > 0 && determinant > 0) {
			t.Errorf("share %g: H = %v", share, q.h)
		}
	}
}
