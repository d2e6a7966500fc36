package search

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// judged adds to an objective what a scan uses besides values and slopes: a standard error, and work that grows
// with the depth below λ = 0.
func judged(a *analytic, spread, growth float64) *analytic {
	a.at = func(k int, e *Evaluation) error {
		depth := -a.seen[k].LogLambda[0]
		e.StandardError, e.Tol = spread, a.seen[k].Tol
		e.Work = 1e6 * math.Exp(growth*depth)
		e.Support = int(10 * math.Exp(growth*depth))
		e.TrainLoss = 1
		return nil
	}
	return a
}

// twoBasins has a basin of depth 1 at λ = −2 and a deeper one, 1.5, at −7, below a null model of 3.
func twoBasins(x float64) (value, slope float64) {
	dip := func(depth, at float64) (float64, float64) {
		d := (x - at) / 0.9
		v := depth * math.Exp(-d*d)
		return -v, 2 * d / 0.9 * v
	}
	v1, s1 := dip(1, -2)
	v2, s2 := dip(1.5, -7)
	return 3 + v1 + v2, s1 + s2
}

func scanned(t *testing.T, f Objective, o ScanOptions) *Result {
	t.Helper()
	r, err := Scan(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestScanAsksForRoughSlopes checks that a scan requests rough slopes, and a scan with Precision exact gradients.
func TestScanAsksForRoughSlopes(t *testing.T) {
	for _, precision := range []bool{false, true} {
		f := judged(scalar(twoBasins), 0.5, 0)
		scanned(t, f, ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.5}, Free: 1e9, Precision: precision})
		for k, r := range f.seen {
			if r.Rough == precision {
				t.Errorf("precision %v: evaluation %d: rough %v", precision, k, r.Rough)
			}
		}
	}
}

// TestScanExpectsToEndWhereWorkIsDear checks that where work is expensive the refinement points of the model are
// marked as the expected end, also if a log answers them.
func TestScanExpectsToEndWhereWorkIsDear(t *testing.T) {
	for _, o := range []ScanOptions{{Free: 1e9}, {}, {Precision: true}} {
		o.Null, o.Log = Evaluation{Value: 3, StandardError: 0.5}, NewLog("")
		f := judged(scalar(twoBasins), 0.5, 0)
		r := scanned(t, f, o)
		expected := 0
		for k, request := range f.seen {
			if request.Expected {
				expected++
			}
			if want := o.Free == 0 && !o.Precision && request.From != nil; request.Expected != want || r.Evaluations[k].Expected != want {
				t.Errorf("free work %g: evaluation %d from %v: expected %t and %t, want %t", o.Free, k, request.From, request.Expected, r.Evaluations[k].Expected, want)
			}
		}
		if dear := o.Free == 0 && !o.Precision; dear != (expected > 0) || r.Best.Expected != dear {
			t.Errorf("free work %g: %d expected, the best %t", o.Free, expected, r.Best.Expected)
		}
		if again := scanned(t, nil, o); again.Best.Expected != r.Best.Expected {
			t.Errorf("free work %g: expected %t by the log", o.Free, again.Best.Expected)
		}
	}
}

// TestScanAsksForNoMoreThanItCanPay checks that points after the path have a smaller gap than the path while work
// is cheap, and the same gap once the free work is spent.
func TestScanAsksForNoMoreThanItCanPay(t *testing.T) {
	for _, free := range []float64{1e9, 0} {
		f := judged(scalar(twoBasins), 0.5, 0)
		scanned(t, f, ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.5}, Free: free})
		after := 0
		for _, r := range f.seen {
			want := scanGap
			if r.From != nil { // after the path
				after++
				if free > 0 {
					want = refineGap
				}
			}
			if r.Tol != want {
				t.Errorf("free work %g: %g asked at %v, from %v", free, r.Tol, r.LogLambda, r.From)
			}
		}
		if after == 0 {
			t.Errorf("free work %g: no point after the path", free)
		}
	}
}

// TestLookFindsTheDeeperBasin checks that a scan finds the deeper of two basins to a hundredth of the standard
// error and reports both, whereas a descent from αmax ends in the first basin.
func TestLookFindsTheDeeperBasin(t *testing.T) {
	o := ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.5}, Free: 1e9}
	r := scanned(t, judged(scalar(twoBasins), 0.5, 0), o)
	if r.Status != outcome.Converged || math.Abs(r.Best.LogLambda[0]+7) > 0.2 || r.Best.Value > 1.5+0.01*0.5 || r.Seen.Basins != 2 {
		t.Errorf("%s at %v: %g, %+v after %d", r.Status, r.Best.LogLambda, r.Best.Value, r.Seen, len(r.Evaluations))
	}
	first, err := Secant(context.Background(), scalar(twoBasins), -1, Box{[]float64{-12}, []float64{0}}, Options{})
	if err != nil || math.Abs(first.Best.LogLambda[0]+2) > 0.1 {
		t.Errorf("a descent: %v, %v", first, err)
	}
}

// TestScanGoesOnWhereItFalls checks that a path continues from a point far above the best, if the criterion falls
// from there below the best value.
func TestScanGoesOnWhereItFalls(t *testing.T) {
	ridged := func(x float64) (value, slope float64) { // a basin at −1.5, a crest at −4.8, a deeper basin at −7.5
		for _, bump := range []struct{ height, at, width float64 }{{-1, -1.5, 0.7}, {3, -4.8, 1}, {-2.5, -7.5, 1}} {
			d := (x - bump.at) / bump.width
			v := bump.height * math.Exp(-d*d)
			value, slope = value+v, slope-2*d/bump.width*v
		}
		return 3 + value, slope
	}
	r := scanned(t, judged(scalar(ridged), 0.3, 0), ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.3}, Free: 1e9})
	if r.Status != outcome.Converged || math.Abs(r.Best.LogLambda[0]+7.5) > 0.2 {
		t.Errorf("%s at %v: %g, %+v after %d", r.Status, r.Best.LogLambda, r.Best.Value, r.Seen, len(r.Evaluations))
	}
}

// TestScanOfDearPointsSeesColumnsToCome checks that even if points are expensive a path does not end in the basin
// of a single column of large scale, before other columns enter. It does end where the criterion rises with many
// columns in the support.
func TestScanOfDearPointsSeesColumnsToCome(t *testing.T) {
	dear := func(columns func(x float64) int, shape func(x float64) (value, slope float64)) *analytic {
		f := scalar(shape)
		f.at = func(k int, e *Evaluation) error {
			in := columns(f.seen[k].LogLambda[0])
			e.StandardError, e.Tol, e.Work = 0.05, f.seen[k].Tol, 1e9
			e.Support, e.Saturation, e.TrainLoss = in, float64(in)/1000, 1-float64(in)/2000
			return nil
		}
		return f
	}
	late := func(x float64) int { return 1 + int(max(0, -20*(x+5))) }
	many := func(x float64) int { return 400 }
	o := ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.05}, Free: 1, Sparse: true}
	if r := scanned(t, dear(late, twoBasins), o); r.Status != outcome.Converged || math.Abs(r.Best.LogLambda[0]+7) > 0.2 {
		t.Errorf("%s at %v: %g, %+v after %d", r.Status, r.Best.LogLambda, r.Best.Value, r.Seen, len(r.Evaluations))
	}
	if r := scanned(t, dear(many, twoBasins), o); r.Seen.To < -5 {
		t.Errorf("with many columns in seen to %g", r.Seen.To)
	}
	// A ridge whose path begins far above its αmax, where the criterion is constant.
	ramp := func(x float64) (value, slope float64) {
		if x > -4 {
			return 3, 0
		}
		d := x + 8
		return 2.5 + d*d/32, d / 16
	}
	o = ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.05}, Free: 1, Distant: true, Step: 3, Floor: 24, Bottom: 24}
	f := dear(late, ramp)
	if r := scanned(t, f, o); r.Status != outcome.Converged || math.Abs(r.Best.LogLambda[0]+8) > 0.5 {
		t.Errorf("a ridge: %s at %v: %g, %+v after %d", r.Status, r.Best.LogLambda, r.Best.Value, r.Seen, len(r.Evaluations))
	}
}

// TestScanGoesOnWhereItFallsFaster checks that a path also continues from a point far above the best at which the
// criterion has begun to fall with a steepening slope.
func TestScanGoesOnWhereItFallsFaster(t *testing.T) {
	dome := scalar(func(x float64) (value, slope float64) { // a hill around −7, before a basin at −14
		d, b := (x+7)/5, (x+14)/1.5
		hill, basin := 2*math.Exp(-d*d*d*d), 2.5*math.Exp(-b*b)
		return 3 + hill - basin, -4*d*d*d/5*hill + 2*b/1.5*basin
	})
	f := judged(dome, 0.3, 0)
	costs := f.at
	f.at = func(k int, e *Evaluation) error {
		err := costs(k, e)
		if f.seen[k].LogLambda[0] < -8 { // from here on the rules for rising values apply
			e.TrainLoss = 0.4
		}
		return err
	}
	r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.3}, Climb: true, Free: 1e9})
	if r.Status != outcome.Converged || math.Abs(r.Best.LogLambda[0]+14) > 0.2 {
		t.Errorf("%s at %v: %g, %+v after %d", r.Status, r.Best.LogLambda, r.Best.Value, r.Seen, len(r.Evaluations))
	}
}

// TestLookWithPrecision checks that with Precision a descent to the final tolerance follows.
func TestLookWithPrecision(t *testing.T) {
	o := ScanOptions{Null: Evaluation{Value: 3}, Free: 1e9, Precision: true, Options: Options{Tol: 1e-8}}
	r := scanned(t, judged(scalar(twoBasins), 0.5, 0), o)
	if !r.Status.OK() || math.Abs(r.Best.Gradient[0]) > 1e-4 || r.Best.Tol > 1e-8 {
		t.Errorf("%s at %v: slope %v", r.Status, r.Best.LogLambda, r.Best.Gradient)
	}
}

// TestLookNamesTheNullModel checks that the null model is chosen and reported as such if no point is better.
func TestLookNamesTheNullModel(t *testing.T) {
	rising := func(x float64) (float64, float64) { return 3 - 0.4*x, -0.4 }
	r := scanned(t, judged(scalar(rising), 0.1, 0), ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.1}, Free: 1e9})
	if r.Status != outcome.NullModel || r.Best.LogLambda[0] != 0 || r.Best.Value != 3 {
		t.Errorf("%s: %+v", r.Status, r.Best)
	}
	// A distant null model has no λ of its own: a point close to it is returned.
	r = scanned(t, judged(scalar(func(x float64) (float64, float64) { e := math.Exp(-x / 4); return 3 + e, -e / 4 }), 0.1, 0),
		ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.1}, Distant: true, Free: 1e9})
	if r.Status != outcome.NullModel || r.Best.LogLambda[0] != farDepth || r.Best.Value > 3.001 {
		t.Errorf("distant, %s: %+v", r.Status, r.Best)
	}
}

// TestLookEndsByWork checks that a path ends by what it has seen and by its work: where points become expensive a
// criterion that does not fall is not followed further.
func TestLookEndsByWork(t *testing.T) {
	bowl := func(x float64) (float64, float64) { return 1 + (x+2)*(x+2)/100, (x + 2) / 50 }
	o := ScanOptions{Null: Evaluation{Value: 2, StandardError: 1}, Free: 1e7}
	cheap := scanned(t, judged(scalar(bowl), 1, 0), o)
	dear := scanned(t, judged(scalar(bowl), 1, 1), o)
	if cheap.Seen.To > -floorDepth || dear.Seen.To < -9 {
		t.Errorf("seen to %g, to %g where points are dear", cheap.Seen.To, dear.Seen.To)
	}
	for _, r := range []*Result{cheap, dear} {
		if r.Status != outcome.Converged || r.Best.Value > 1.01 {
			t.Errorf("%s: %+v", r.Status, r.Best)
		}
	}
}

// TestLookEndsAtAThousandth checks that a choice is within a thousandth of the value if that is less than a
// hundredth of the standard error.
func TestLookEndsAtAThousandth(t *testing.T) {
	bowl := func(x float64) (float64, float64) { return 1 + (x+3.3)*(x+3.3)/100, (x + 3.3) / 50 }
	r := scanned(t, judged(scalar(bowl), 1, 0), ScanOptions{Null: Evaluation{Value: 1.2, StandardError: 1}, Free: 1e9, Rough: 1e-6})
	if r.Status != outcome.Converged || r.Best.Value > 1.001 {
		t.Errorf("%s: %+v", r.Status, r.Best)
	}
}

// TestLookUpwards checks that an SVM is scanned from small C to large C.
func TestLookUpwards(t *testing.T) {
	mirrored := func(x float64) (float64, float64) {
		value, slope := twoBasins(-x)
		return value, -slope
	}
	r := scanned(t, judged(scalar(mirrored), 0.5, 0),
		ScanOptions{Null: Evaluation{Value: 3}, Up: true, Distant: true, Climb: true, Free: 1e9})
	if r.Status != outcome.Converged || math.Abs(r.Best.LogLambda[0]-7) > 0.2 || r.Seen.From != 0 || r.Seen.To < 7 {
		t.Errorf("%s: %+v, %+v", r.Status, r.Best, r.Seen)
	}
}

// TestLookGoesBackWhereItIsConvex checks paths that begin where predictions cease to be proportional to e^λ:
// smaller values before the origin of the path are searched where slopes allow for them.
func TestLookGoesBackWhereItIsConvex(t *testing.T) {
	for name, c := range map[string]struct {
		f      func(x float64) (value, slope float64)
		at     float64 // λ of the minimum
		before int     // the most points before Origin
	}{
		"falls all the way": {func(x float64) (float64, float64) {
			return 3 - math.Exp(x-3) + math.Exp(2*x-7), 2*math.Exp(2*x-7) - math.Exp(x-3)
		}, 4 - math.Ln2, 0},
		"a dip before": {func(x float64) (float64, float64) {
			return 3 - 4*math.Exp(x) + 4*math.Exp(2*x), 8*math.Exp(2*x) - 4*math.Exp(x)
		}, -math.Ln2, 2},
		"rises": {func(x float64) (float64, float64) { return 3 + math.Exp(x), math.Exp(x) }, -farDepth, 0},
		"a deeper dip behind": {func(x float64) (value, slope float64) {
			value, slope = twoBasins(-x)
			return value + 0.1*math.Exp(-x*x), -slope - 0.2*x*math.Exp(-x*x)
		}, 7, 0},
	} {
		f := judged(scalar(c.f), 0.5, 0)
		r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Up: true, Distant: true, Climb: true, Straight: true, Free: 1e9, Rough: 0.1, Kinks: true})
		before := 0
		for k, e := range r.Evaluations {
			if x := e.LogLambda[0]; k == 0 && x != 0 {
				t.Errorf("%s: begins at %g", name, x)
			} else if x < 0 && x > -farDepth {
				before++
			}
		}
		if math.Abs(r.Best.LogLambda[0]-c.at) > 0.2 || before > c.before {
			t.Errorf("%s: %s at %v, %d of %d points before the path", name, r.Status, r.Best.LogLambda, before, len(r.Evaluations))
		}
	}
}

// TestLookEndsAboveItsRival checks that a path ends at the first point at which it rises above the value of its
// rival, if solutions explain more than half of the training loss.
func TestLookEndsAboveItsRival(t *testing.T) {
	for _, c := range []struct {
		rival *Evaluation
		train float64
		deep  bool
	}{{nil, 0.4, true}, {&Evaluation{Value: 2.9, StandardError: 0.01}, 0.4, true}, {&Evaluation{Value: 1.7, StandardError: 0.1}, 0.6, true}, {&Evaluation{Value: 1.7, StandardError: 0.1}, 0.4, false}} {
		f := judged(scalar(twoBasins), 0.1, 0)
		spread := f.at
		f.at = func(k int, e *Evaluation) error {
			err := spread(k, e)
			e.TrainLoss = c.train
			return err
		}
		r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Free: 1e9, Rival: c.rival})
		if deep := r.Seen.To < -5; deep != c.deep {
			t.Errorf("rival %v, training loss %g: seen to %g", c.rival, c.train, r.Seen.To)
		}
	}
}

// TestLookEndsWhereTheFitIsSettled checks that a slope with a negligible predicted gain ends the path only where
// solutions fit the training rows, and no better than at the previous point; before that the path continues.
func TestLookEndsWhereTheFitIsSettled(t *testing.T) {
	f := judged(scalar(func(x float64) (value, slope float64) {
		rise := 1 / (1 + math.Exp(-x-6)) // from 1 to 2, around λ = −6
		return 1 + rise, rise * (1 - rise)
	}), 0.5, 0)
	spread := f.at
	f.at = func(k int, e *Evaluation) error {
		err := spread(k, e)
		e.TrainLoss = 0.2 + 0.8/(1+math.Exp(-f.seen[k].LogLambda[0]-6))
		return err
	}
	r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 2.1}, Distant: true, Step: 3, Floor: 24, Bottom: 24, Free: 1e9})
	if r.Best.Value > 1.005 || r.Seen.To < -17 {
		t.Errorf("%s: %.4f, seen to %g", r.Status, r.Best.Value, r.Seen.To)
	}
}

// TestLookWithoutNumbers checks that a value that is not a number ends the path, and that a scan does without
// slopes that are not numbers.
func TestLookWithoutNumbers(t *testing.T) {
	broken := judged(scalar(twoBasins), 0.5, 0)
	spread := broken.at
	broken.at = func(k int, e *Evaluation) error {
		if broken.seen[k].LogLambda[0] < -4 {
			e.Value = math.NaN()
		}
		e.Gradient[0] = math.NaN()
		return spread(k, e)
	}
	r := scanned(t, broken, ScanOptions{Null: Evaluation{Value: 3}, Free: 1e9})
	if r.Status != outcome.Converged || math.Abs(r.Best.LogLambda[0]+2) > 1 || !finite(r.Best.Value) {
		t.Errorf("%s: %+v", r.Status, r.Best)
	}
}

// TestLookEndsEarly checks that a scan that ends by its budget or its context returns the best point so far.
func TestLookEndsEarly(t *testing.T) {
	f := judged(scalar(twoBasins), 0.5, 0)
	o := ScanOptions{Null: Evaluation{Value: 3}, First: 1, Free: 1e9, Options: Options{Evaluations: 2}}
	r := scanned(t, f, o)
	if r.Status != outcome.Budget || len(r.Evaluations) != 2 || r.Best.Value > 2.5 {
		t.Errorf("%s after %d: %+v", r.Status, len(r.Evaluations), r.Best)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Evaluations, o.Progress = 0, func(e Evaluation) {
		if e.LogLambda[0] < -2 {
			cancel()
		}
	}
	r, err := Scan(ctx, judged(scalar(twoBasins), 0.5, 0), o)
	if err != nil || r.Status != outcome.Cancelled || r.Best.Value > 2.5 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestLookStartsFromTheNearestPoint checks that refinement starts from the solutions of the nearest point.
func TestLookStartsFromTheNearestPoint(t *testing.T) {
	f := judged(scalar(twoBasins), 0.5, 0)
	scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Free: 1e9, Rough: 0.1})
	var before []float64
	refined := 0
	for _, r := range f.seen {
		if x := r.LogLambda[0]; r.From != nil {
			refined++
			for _, p := range before {
				if math.Abs(p-x) < math.Abs(r.From[0]-x) {
					t.Errorf("%g begins at %g, %g is nearer", x, r.From[0], p)
				}
			}
		}
		before = append(before, r.LogLambda[0])
	}
	if refined == 0 {
		t.Error("nothing was refined")
	}
}

// TestInterpolate checks that the interpolant has the given values and slopes.
func TestInterpolate(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][5]float64{{2, 1, 3, -1, 4}, {0.5, 1, 0, nan, 2}, {3, -1, 1, 2, nan}, {1, 0, 1, nan, nan}} {
		f, e := Interpolate(c[0], c[1], c[2], c[3], c[4]), 1e-6
		slope := func(x float64) float64 { return (f(x+e) - f(x-e)) / (2 * e) }
		if math.Abs(f(0)-c[1]) > 1e-12 || math.Abs(f(c[0])-c[2]) > 1e-12 || math.Abs(slope(0)-c[3]) > 1e-5 || math.Abs(slope(c[0])-c[4]) > 1e-5 {
			t.Errorf("%v: %g, %g, %g, %g", c, f(0), f(c[0]), slope(0), slope(c[0]))
		}
	}
}

// TestLookDoubtsARoughCriterion checks that, if a criterion may be rough, points are evaluated where the curve
// through the points seen may hide the minimum, and that a smooth criterion costs no such points.
func TestLookDoubtsARoughCriterion(t *testing.T) {
	const phases, se = 16, 0.2
	var smooth, rough float64 // excess over the minimum in standard errors
	o := ScanOptions{Null: Evaluation{Value: 3, StandardError: se}, Free: 1e9}
	for phase := range phases {
		rippled := func(x float64) (float64, float64) {
			const size, wave = 0.04, 9.0
			at := wave*x + 2*math.Pi*float64(phase)/phases
			return 1 + (x+4)*(x+4)/50 + size*math.Sin(at), (x+4)/25 + size*wave*math.Cos(at)
		}
		best := math.Inf(1)
		for k := range 5000 {
			value, _ := rippled(-12 * float64(k) / 5000)
			best = min(best, value)
		}
		o.Rough = 0
		smooth += (scanned(t, judged(scalar(rippled), se, 0), o).Best.Value - best) / se
		o.Rough = 0.1
		r := scanned(t, judged(scalar(rippled), se, 0), o)
		if excess := (r.Best.Value - best) / se; excess > 0.05 || len(r.Evaluations) > 22 {
			t.Errorf("phase %d: %g standard errors above the least value after %d evaluations", phase, excess, len(r.Evaluations))
		} else {
			rough += excess
		}
	}
	if t.Logf("not doubted %g standard errors above in the mean, doubted %g", smooth/phases, rough/phases); !(rough < 0.5*smooth) {
		t.Error("doubts have found less than half of that")
	}
	bowl := func(x float64) (float64, float64) { return 1 + (x+4)*(x+4)/50, (x + 4) / 25 }
	o.Rough = 0
	if r := scanned(t, judged(scalar(bowl), 0.2, 0), o); len(r.Evaluations) > 10+1 { // the path, and the minimum of the parabola
		t.Errorf("%d evaluations of a parabola", len(r.Evaluations))
	}
}

// TestLookDoubtsWhereColumnsComeIn checks that doubts about a rough criterion cost evaluations only where columns
// enter, not where the support stays the same.
func TestLookDoubtsWhereColumnsComeIn(t *testing.T) {
	valley := func(x float64) (value, slope float64) { d := x + 5; return 1 + 0.02*d*d, 0.04 * d }
	var counts []int
	for k, growth := range []float64{0, 0.4, 0} {
		f := judged(scalar(valley), 0.5, growth)
		r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Free: 1e9, Rough: 0.5, Floor: 8, Bottom: 9, Kinks: k == 2})
		counts = append(counts, len(r.Evaluations))
	}
	if counts[0] > 7 || counts[1] < counts[0]+2 {
		t.Errorf("%d evaluations with one support, %d with a growing one", counts[0], counts[1])
	}
	if counts[2] < counts[0]+2 { // the free rows of a dual solution may change although their number stays the same
		t.Errorf("%d evaluations with one support, %d of a dual's", counts[0], counts[2])
	}
}

// TestLookDoubtsLessWhereStepsFade checks that where steps fade further down, points of doubt lie above that,
// however many columns enter below.
func TestLookDoubtsLessWhereStepsFade(t *testing.T) {
	valley := func(x float64) (value, slope float64) { // constant below −5
		d := max(0, x+5)
		return 1 + 0.02*d*d, 0.04 * d
	}
	const deep = 4
	var below, above [2]int
	for k, fades := range []float64{0, 2} {
		f := judged(scalar(valley), 0.5, 0.4)
		scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Free: 1e9, Rough: 0.5, Floor: 8, Bottom: 9, Fades: fades})
		for _, r := range f.seen {
			switch {
			case r.From == nil: // on the path
			case r.LogLambda[0] < -deep:
				below[k]++
			default:
				above[k]++
			}
		}
	}
	if t.Logf("points of doubts below and above %v, %v", below, above); below[1] >= below[0] || above[1] < above[0] || above[1] == 0 {
		t.Error("where steps fade as much is doubted as elsewhere, or nothing is before that")
	}
}

// TestResumedScanKeepsToItsPrice checks that a resumed scan stays at the bottom of the path if slopes lead below
// it, and does not visit another basin if that would cost all the work of the earlier scan.
func TestResumedScanKeepsToItsPrice(t *testing.T) {
	falling := func(x float64) (value, slope float64) { return 3 + 0.2*x, 0.2 }
	basins := func(x float64) (value, slope float64) { // at −2, and a shallower one at −9
		a, b := (x+2)/0.9, (x+9)/0.9
		return 3 - 1.5*math.Exp(-a*a) - 1.1*math.Exp(-b*b), (2*a*1.5*math.Exp(-a*a) + 2*b*1.1*math.Exp(-b*b)) / 0.9
	}
	for name, c := range map[string]struct {
		f       func(float64) (float64, float64)
		path    []float64 // depths, the best first
		deepest float64   // the deepest point that may be evaluated
	}{
		"falling":    {falling, []float64{9.5, 2, 4, 6, 8}, 9.5},
		"two basins": {basins, []float64{2, 1, 3.5, 5, 6.5, 8, 9, 9.2}, 5},
	} {
		f := judged(scalar(c.f), 2, 1)
		var earlier []Evaluation
		for _, depth := range append(c.path[:1], c.path...) {
			e, err := f.Eval(context.Background(), Request{LogLambda: []float64{-depth}})
			if err != nil {
				t.Fatal(err)
			}
			e.LogLambda = []float64{-depth}
			earlier = append(earlier, e)
		}
		r := scanned(t, judged(scalar(c.f), 2, 1), ScanOptions{Null: Evaluation{Value: 3, StandardError: 2}, Free: 1e12, Bottom: 9.5, Earlier: earlier})
		if len(r.Evaluations) > 2 || math.Abs(r.Best.LogLambda[0]+c.path[0]) > 0.1 {
			t.Errorf("%s: %v after %d evaluations", name, r.Best.LogLambda, len(r.Evaluations))
		}
		for _, e := range r.Evaluations {
			if e.LogLambda[0] < -c.deepest {
				t.Errorf("%s: looked at %v", name, e.LogLambda)
			}
		}
	}
}

// TestResumedScanEndsAtTheBottom checks that a resumed scan follows slopes that lead below the bottom of the path
// down to the bottom, and no further.
func TestResumedScanEndsAtTheBottom(t *testing.T) {
	f := judged(scalar(func(x float64) (value, slope float64) { return 3 + 0.2*x, 0.2 }), 0.1, 0)
	var earlier []Evaluation
	for _, depth := range []float64{9, 2, 5, 8, 9} {
		e, err := f.Eval(t.Context(), Request{LogLambda: []float64{-depth}})
		if err != nil {
			t.Fatal(err)
		}
		e.LogLambda = []float64{-depth}
		earlier = append(earlier, e)
	}
	r := scanned(t, judged(f, 0.1, 0), ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.1}, Free: 1e12, Bottom: 9.5, Earlier: earlier})
	if deepest := -r.Best.LogLambda[0]; deepest != 9.5 {
		t.Errorf("ended at depth %g after %d evaluations", deepest, len(r.Evaluations))
	}
}

// TestResumedScanLooksAtFewPoints checks that a resumed scan computes the curvature from slopes of points that are
// not adjacent, and evaluates a single point if the predicted gain is negligible. A point with a small predicted
// gain is evaluated while the work stays below half of the earlier scan's.
func TestResumedScanLooksAtFewPoints(t *testing.T) {
	valley := func(moved float64) func(x float64) (value, slope float64) {
		return func(x float64) (value, slope float64) { d := x + 5 + moved; return 1 + 0.02*d*d, 0.04 * d }
	}
	for name, c := range map[string]struct {
		moved, growth float64
		most, least   int
	}{
		"as it was":             {0, 0, 1, 1},
		"nearly as it was":      {0.3, 0, 1, 1}, // a gain of 0.004 standard errors
		"moved, and cheap":      {0.9, 0, 3, 2}, // 0.03 standard errors
		"moved, and dear":       {0.9, 3, 1, 1},
		"moved far, and dear":   {2, 3, 3, 2}, // 0.16 standard errors
		"moved back, and cheap": {-0.9, 0, 3, 2},
	} {
		f := judged(scalar(valley(0)), 0.5, c.growth)
		var earlier []Evaluation
		for _, depth := range []float64{5, 0.5, 1, 2, 3.5, 4.95, 5.05} {
			e, err := f.Eval(context.Background(), Request{LogLambda: []float64{-depth}})
			if err != nil {
				t.Fatal(err)
			}
			e.LogLambda = []float64{-depth}
			if depth > 4 && depth != 5 {
				e.Gradient[0] = -e.Gradient[0] // the slope between two corners
				e.Work = 0
			}
			earlier = append(earlier, e)
		}
		r := scanned(t, judged(scalar(valley(c.moved)), 0.5, c.growth), ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.5}, Free: 1e12, Earlier: earlier, Fresh: 0.05})
		if n := len(r.Evaluations); n > c.most || n < c.least || !(r.Best.Value <= 1+0.05*0.5) {
			t.Errorf("%s: %d evaluations, to %g at %v", name, n, r.Best.Value, r.Best.LogLambda)
		}
	}
}

// TestLookTakesSlopesOfStalledSystems checks that the model uses slopes from linear systems that stalled close to
// their solution like any others: without them the path would continue from every point that is the best so far.
func TestLookTakesSlopesOfStalledSystems(t *testing.T) {
	bowl := func(x float64) (float64, float64) { return 1 + (x+4)*(x+4)/50, (x + 4) / 25 }
	o := ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.2}, Free: 1}
	trusted := scanned(t, judged(scalar(bowl), 0.2, 0.5), o)
	f := judged(scalar(bowl), 0.2, 0.5)
	plain := f.at
	f.at = func(k int, e *Evaluation) error {
		e.Trusted, e.Status = false, outcome.LinearSystemStalled
		return plain(k, e)
	}
	stalled := scanned(t, f, o)
	if len(stalled.Evaluations) != len(trusted.Evaluations) || stalled.Best.Value != trusted.Best.Value {
		t.Errorf("%d evaluations to %g, with slopes to be trusted %d to %g", len(stalled.Evaluations), stalled.Best.Value, len(trusted.Evaluations), trusted.Best.Value)
	}
}

// TestScansAskForTheTrainingLossReached checks the gap requested at each point. If Relative, it is multiplied by
// the training loss of the previous point where this is less than the null model's; otherwise, where little
// training loss is left, it is at most the square of the training loss, times the square of the step if the step
// is short.
func TestScansAskForTheTrainingLossReached(t *testing.T) {
	for _, relative := range []bool{false, true} {
		f := judged(scalar(twoBasins), 0.5, 0)
		costs := f.at
		losses := []float64{1}
		f.at = func(k int, e *Evaluation) error {
			err := costs(k, e)
			e.TrainLoss = []float64{0.5, 0.03, 2, 0, 0.02}[k%5]
			losses = append(losses, e.TrainLoss)
			return err
		}
		scanned(t, f, ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.5}, Free: 1e9, Relative: relative, Options: Options{Schedule: Auto, Tol: 1e-9}})
		if len(f.seen) < 6 {
			t.Fatalf("%d points", len(f.seen))
		}
		for k, r := range f.seen {
			times, most := 1.0, 1.0
			switch before := losses[k]; {
			case relative && before > 0:
				times = min(1, before)
			case before > 0 && before < littleLoss:
				step := min(1, math.Abs(r.LogLambda[0]-f.seen[k-1].LogLambda[0]))
				most = before * before * step * step
			}
			if gap := r.Tol / times; math.Abs(gap-min(most, 1e-3)) > 1e-15 && math.Abs(gap-min(most, 1e-4)) > 1e-15 {
				t.Errorf("relative %t: point %d to %g after a training loss of %g", relative, k, r.Tol, losses[k])
			}
		}
	}
}

// TestScansAskForAShareOfTheStandardError checks that the gap is at most a hundredth of the standard error for
// dense solutions, whose values err by as much as their gap, and for sparse solutions if the standard error is
// tiny beside the null model's value.
func TestScansAskForAShareOfTheStandardError(t *testing.T) {
	for spread, want := range map[float64]struct{ dense, sparse float64 }{0.9: {1e-3, 1e-3}, 0.03: {1e-4, 1e-3}, 1e-3: {1e-5, 1e-4}, 1e-5: {1e-6, 1e-6}} {
		for _, sparse := range []bool{false, true} {
			f := judged(scalar(twoBasins), spread, 0)
			scanned(t, f, ScanOptions{Null: Evaluation{Value: 3, StandardError: spread}, Sparse: sparse, Options: Options{Schedule: Auto, Tol: 1e-9}})
			tol := want.dense
			if sparse {
				tol = want.sparse
			}
			for k, r := range f.seen {
				if math.Abs(r.Tol-tol) > 1e-15 {
					t.Errorf("sparse %t, a standard error of %g: point %d to %g, want %g", sparse, spread, k, r.Tol, tol)
				}
			}
		}
	}
}

// TestScansAskForNoGapBelowRounding checks that no gap below 1e-15 is requested, not even after a tiny training
// loss: inner problems refuse smaller gaps.
func TestScansAskForNoGapBelowRounding(t *testing.T) {
	f := judged(scalar(twoBasins), 0.5, 0)
	costs := f.at
	f.at = func(k int, e *Evaluation) error {
		err := costs(k, e)
		e.TrainLoss = 1e-30
		return err
	}
	scanned(t, f, ScanOptions{Null: Evaluation{Value: 3, StandardError: 0.5}, Free: 1e9, Relative: true, Options: Options{Schedule: Auto, Tol: 1e-9}})
	for k, r := range f.seen {
		if want := 1e-15; k > 0 && r.Tol != want {
			t.Errorf("point %d to %g, want %g", k, r.Tol, want)
		}
	}
}

// TestLookKnowsPoints checks that a known point is part of the model from the beginning, and is chosen without
// being evaluated again if no point is better.
func TestLookKnowsPoints(t *testing.T) {
	f := judged(scalar(twoBasins), 0.5, 0)
	value, _ := twoBasins(-4.3)
	known := Evaluation{LogLambda: []float64{-4.3}, Value: value - 2, StandardError: 0.5, Trusted: true}
	r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Distant: true, Free: 1e9, Known: []Evaluation{known}})
	if r.Best.LogLambda[0] != -4.3 || r.Best.Value != known.Value {
		t.Errorf("%+v", r.Best)
	}
	for _, e := range r.Evaluations {
		if e.LogLambda[0] == -4.3 {
			t.Error("evaluated again")
		}
	}
}

// TestLookEndsWhereNothingMoves checks that a path with Climb ends where two slopes in a row are only rounding,
// but not at its beginning.
func TestLookEndsWhereNothingMoves(t *testing.T) {
	f := judged(scalar(func(x float64) (float64, float64) {
		if x > 6 || x < 3 {
			return 2.2, 1e-12
		}
		return 2.2 - 0.1*(x-3)*(6-x), -0.1 * (9 - 2*x)
	}), 0.5, 0)
	r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Up: true, Distant: true, Climb: true, Free: 1e9})
	if r.Seen.To < 7 || r.Seen.To > 9 {
		t.Errorf("seen from %g to %g", r.Seen.From, r.Seen.To)
	}
}

// TestLookEndsOnAPlateau checks that a path with Climb ends on a plateau after its best point, but not on one
// before it, although the training loss stays constant.
func TestLookEndsOnAPlateau(t *testing.T) {
	f := judged(scalar(func(x float64) (float64, float64) {
		a := x - 8
		return 2 + 0.002*a - 0.5*math.Exp(-a*a/2), 0.002 + a*0.5*math.Exp(-a*a/2)
	}), 0.5, 0)
	spread := f.at
	f.at = func(k int, e *Evaluation) error {
		err := spread(k, e)
		e.TrainLoss = 0.9
		return err
	}
	r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 3}, Up: true, Distant: true, Climb: true, Floor: 40, Bottom: 60, Free: 1e9})
	if math.Abs(r.Best.LogLambda[0]-8) > 0.5 || r.Seen.To > 18 {
		t.Errorf("%g at %g, seen from %g to %g", r.Best.Value, r.Best.LogLambda, r.Seen.From, r.Seen.To)
	}
}

// TestScanWithoutANumber checks that a scan of a criterion that is a number nowhere ends with an error after a few
// evaluations, whether or not the null model's value is NaN.
func TestScanWithoutANumber(t *testing.T) {
	for _, null := range []float64{math.NaN(), math.Inf(1)} {
		for _, value := range []float64{math.NaN(), math.Inf(1)} {
			f := judged(scalar(func(float64) (float64, float64) { return value, 0 }), 0.5, 0)
			r, err := Scan(context.Background(), f, ScanOptions{Null: Evaluation{Value: null}, Free: 1e9})
			if outcome.KindOf(err) != outcome.NonFinite || len(f.seen) > 6 || r.Best.LogLambda != nil {
				t.Errorf("%g under a null model of %g: %v after %d", value, null, err, len(f.seen))
			}
		}
	}
}

// TestLookEndsWhereNothingIsLeft checks that a path ends close to 0 if the criterion cannot be negative, and
// continues if it can.
func TestLookEndsWhereNothingIsLeft(t *testing.T) {
	for _, o := range []struct{ nonNegative, jumps bool }{{false, false}, {true, false}, {true, true}} {
		f := judged(scalar(func(x float64) (value, slope float64) { return math.Exp(x), math.Exp(x) }), 0.5, 0)
		r := scanned(t, f, ScanOptions{Null: Evaluation{Value: 1, StandardError: 0.5}, Free: 1e9, NonNegative: o.nonNegative, Jumps: o.jumps, Step: 0.5})
		last := f.seen[len(f.seen)-1].LogLambda[0]
		if least := math.Log(leastGain * 0.5); o.nonNegative != (last > least-0.5) || last > least {
			t.Errorf("%+v: ended at λ = %g after %d evaluations, nothing is left from %g on", o, last, len(f.seen), least)
		}
		if r.Status != outcome.Converged || r.Best.LogLambda[0] != last && o.nonNegative {
			t.Errorf("%+v: %s at λ = %g, seen down to %g", o, r.Status, r.Best.LogLambda[0], last)
		}
	}
}
