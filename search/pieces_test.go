package search

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// scanOf returns a scan that has seen points given by depth, value and slope.
func scanOf(points ...[3]float64) *scan {
	l := &scan{recorder: &recorder{}, o: ScanOptions{Origin: 2, Bottom: 9, Step: 1, Reach: 1}}
	for _, p := range points {
		l.points = append(l.points, point{&Evaluation{LogLambda: []float64{2 - p[0]}, Value: p[1], Work: 1 + p[0]}, p[0], p[2]})
	}
	return l
}

func near9(t *testing.T, name string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
		t.Errorf("%s: %.15g, want %.15g", name, got, want)
	}
}

// TestDepthsAreDistancesFromTheOrigin checks depths for paths down from the origin and up from it.
func TestDepthsAreDistancesFromTheOrigin(t *testing.T) {
	for _, up := range []bool{false, true} {
		l := scanOf()
		l.o.Up = up
		at, want := l.lambda(3), -1.0
		if up {
			want = 5
		}
		near9(t, "λ", at, want)
		near9(t, "depth", l.depth(&Evaluation{LogLambda: []float64{at}}), 3)
	}
	if !math.IsNaN(scanOf().depth(&Evaluation{LogLambda: []float64{1, 2}})) {
		t.Error("a point of two λ's has a depth")
	}
}

// TestWorkOfEarlierScans checks the price of a move, which is the work of the earlier points between two depths,
// including the second, in either direction; and the allowance, which is half of the earlier scan's work, and more
// if many rows are new.
func TestWorkOfEarlierScans(t *testing.T) {
	l := scanOf()
	for _, depth := range []float64{1, 2, 4, 7} {
		l.o.Earlier = append(l.o.Earlier, Evaluation{LogLambda: []float64{2 - depth}, Work: 10 * depth})
	}
	for _, c := range []struct{ from, to, want float64 }{{0, 4, 70}, {1, 4, 60}, {1.5, 4, 60}, {7, 2, 60}, {6, 2, 60}, {4, 4, 40}, {2, 2.5, 0}} {
		near9(t, "work", l.workBetween(c.from, c.to), c.want)
	}
	near9(t, "allowance", l.allowedWork(), 70)
	l.o.Fresh = 0.5
	near9(t, "allowance with half fresh", l.allowedWork(), 140)
}

// TestNearestPoint checks that the nearest point is that of least distance, the null model at depth 0 excluded.
func TestNearestPoint(t *testing.T) {
	l := scanOf([3]float64{0, 1, 0}, [3]float64{2, 1, 0}, [3]float64{3, 1, 0}, [3]float64{6, 1, 0})
	for depth, want := range map[float64]float64{0.1: 2, 2.4: 2, 2.6: 3, 4.4: 3, 4.6: 6, 20: 6} {
		near9(t, "nearest", l.depth(l.nearest(depth)), want)
	}
	if scanOf().nearest(1) != nil {
		t.Error("a nearest point of none")
	}
}

// TestChordOfAParabola checks that the chord between points on either side of the minimum of a parabola predicts
// the exact decrease, and predicts none if both are on one side.
func TestChordOfAParabola(t *testing.T) {
	const minimum, curvature = 3.3, 0.7
	at := func(depth float64) [3]float64 {
		return [3]float64{depth, curvature * (depth - minimum) * (depth - minimum) / 2, curvature * (depth - minimum)}
	}
	for best, want := range []float64{0, 0, at(3)[1], at(4)[1], 0} {
		l := scanOf(at(1), at(2), at(3), at(4), at(5))
		l.best = &l.points[best]
		near9(t, "chord", l.secantGain(), want)
	}
	two := scanOf(at(3), at(4))
	two.best = &two.points[0]
	near9(t, "chord from the first point", two.secantGain(), at(3)[1])
	l := scanOf(at(1))
	l.best = &l.points[0]
	near9(t, "chord of one point", l.secantGain(), 0)
}

// TestRootOfASlope checks the distance from the current point at which the slope vanishes by a line through the
// slope there and that of the last point that has a slope and is far enough away.
func TestRootOfASlope(t *testing.T) {
	l := scanOf([3]float64{1, 0, -4}, [3]float64{2, 0, -3}, [3]float64{2.9, 0, -50}, [3]float64{2.95, 0, math.NaN()})
	l.here = point{&Evaluation{}, 3, -1}
	near9(t, "root", l.rootDistance(), 0.5) // the slope grows by 2 per unit of depth
	l.points = l.points[:1]
	near9(t, "root by the first", l.rootDistance(), 1/1.5)
	l.here.slope = -7 // the slope becomes steeper and steeper
	near9(t, "no root", -1/l.rootDistance(), 0)
}

// TestGrowthOfWork checks that the predicted growth of work is that of the support to the power 1.3, averaged with
// the growth of the work itself if it is known.
func TestGrowthOfWork(t *testing.T) {
	l := scanOf()
	l.previous = point{&Evaluation{Support: 10, Work: 5}, 1, 0}
	l.here = point{&Evaluation{Support: 20, Work: 40}, 3, 0}
	want := 1.3 * math.Ln2 / 2
	support, mean := l.growth()
	near9(t, "by the support", support, want)
	near9(t, "mean", mean, (want+3*math.Ln2/2)/2)
	l.here.Work = 1 // less than before: counts as no growth
	_, mean = l.growth()
	near9(t, "mean of less work", mean, want/2)
	for _, work := range [][2]float64{{0, 40}, {5, 0}} {
		l.previous.Work, l.here.Work = work[0], work[1]
		_, mean = l.growth()
		near9(t, "mean without work", mean, want)
	}
	l.here.Support = 10
	if support, mean := l.growth(); support != 0 || mean != 0 {
		t.Errorf("of the same support %g, %g", support, mean)
	}
	l.previous = point{}
	if support, mean := l.growth(); support != 0 || mean != 0 {
		t.Errorf("of a first point %g, %g", support, mean)
	}
}

// TestSteepening checks, for a parabola whose slope becomes steeper, by how much two steps decrease the value
// beyond the linear prediction.
func TestSteepening(t *testing.T) {
	l := scanOf()
	l.o.Reach = 0.75
	l.previous, l.here = point{&Evaluation{}, 1, -1}, point{&Evaluation{}, 1.5, -4}
	near9(t, "steepening", l.steepening(), 6*1.5*1.5/2)
	l.here.slope = -0.5
	near9(t, "of a slope that dies away", l.steepening(), 0)
	l.previous.slope = math.NaN()
	near9(t, "of a slope not known", l.steepening(), 0)
}

// TestDipIsTheLeastOfTheCubic checks the minimum of the cubic less its uncertainty against a fine grid.
func TestDipIsTheLeastOfTheCubic(t *testing.T) {
	r, inside := oracle.NewRandom(5), 0
	for range 300 {
		a := point{&Evaluation{Value: r.Normal()}, r.Float64(), r.Normal()}
		b := point{&Evaluation{Value: a.Value + 0.3*r.Normal()}, a.depth + 0.2 + r.Float64(), r.Normal()}
		switch r.Intn(4) {
		case 0:
			a.slope = math.NaN()
		case 1:
			b.slope = math.NaN()
		}
		rough := r.Pick(0, 0.1, 0.5)
		h := b.depth - a.depth
		curve := Interpolate(h, a.Value, b.Value, a.slope, b.slope)
		less := func(x float64) float64 { return curve(x) - rough*4*x*(h-x)/(h*h) }
		near9(t, "value at the first", curve(0), a.Value)
		near9(t, "value at the second", curve(h), b.Value)
		const d = 1e-6
		if s := (curve(d) - curve(-d)) / (2 * d); !math.IsNaN(a.slope) && math.Abs(s-a.slope) > 1e-7*(1+math.Abs(s)) {
			t.Errorf("slope %g at the first, want %g", s, a.slope)
		}
		if s := (curve(h+d) - curve(h-d)) / (2 * d); !math.IsNaN(b.slope) && math.Abs(s-b.slope) > 1e-7*(1+math.Abs(s)) {
			t.Errorf("slope %g at the second, want %g", s, b.slope)
		}
		least, at := math.Inf(1), 0.0
		for k := 1; k < 1000; k++ {
			if v := less(h * float64(k) / 1000); v < least {
				least, at = v, h*float64(k)/1000
			}
		}
		end := math.Min(less(0), less(h))
		value, depth := intervalMinimum(a, b, rough)
		switch {
		case least < end-1e-6 && at > 0.002*h && at < 0.998*h:
			inside++
			if math.Abs(value-least) > 1e-4*(1+math.Abs(least)) || math.Abs(depth-a.depth-at) > 0.02*h || value > least+1e-12 {
				t.Errorf("dip of %g at %g, by looking %g at %g", value, depth-a.depth, least, at)
			}
		case !math.IsInf(value, 1) && math.Abs(value-less(depth-a.depth)) > 1e-12*(1+math.Abs(value)): // a predicted dip that is not below both ends
			t.Errorf("dip of %g, where the curve is %g", value, less(depth-a.depth))
		}
	}
	if inside < 50 {
		t.Errorf("%d dips of 300", inside)
	}
	none := point{&Evaluation{Value: math.NaN()}, 0, 1}
	if v, _ := intervalMinimum(none, point{&Evaluation{}, 1, 1}, 0); !math.IsInf(v, 1) {
		t.Error("a dip beside a value that is none")
	}
}

// TestBendOfSlopes checks that for slopes on a line the bend is that of the line, and that of several pairs of
// points the nearest around the place is used.
func TestBendOfSlopes(t *testing.T) {
	points := scanOf([3]float64{1, 0, -4}, [3]float64{2, 0, -3}, [3]float64{2.2, 0, 5}, [3]float64{3, 0, -1}, [3]float64{4, 0, 3}, [3]float64{9, 0, 4}).points
	near9(t, "around 2.6", curvatureAt(2.6, 0, append([]point(nil), points[1], points[3], points[4])), 2)
	near9(t, "around 3.5", curvatureAt(3.5, 0, append([]point(nil), points[1], points[3], points[4])), 4)
	near9(t, "a little on", curvatureAt(2.9, 0.25, append([]point(nil), points[1], points[3], points[4])), 4)
	near9(t, "a little back", curvatureAt(3.1, -0.25, append([]point(nil), points[1], points[3], points[4])), 2)
	near9(t, "outside", curvatureAt(4.3, 0, append([]point(nil), points[1], points[3], points[4])), 4)
	for name, pair := range map[string][]point{"too close": points[1:3], "falling": {points[2], points[3]}, "too far": {points[4], points[5]}} {
		if b := curvatureAt(3, 0, pair); !math.IsNaN(b) {
			t.Errorf("%s: %g", name, b)
		}
	}
}

// TestNewtonStepOfASlope checks that a Newton step goes against the slope, by at most one unit, and that without
// positive curvature a fixed step is taken to learn more.
func TestNewtonStepOfASlope(t *testing.T) {
	for _, c := range [][4]float64{{0.6, 2, -0.3, 0.09}, {-0.6, 2, 0.3, 0.09}, {5, 2, -1, 2.5}, {-3, 0, 0.4, math.Inf(1)}, {3, -1, -0.4, math.Inf(1)}, {3, math.NaN(), -0.4, math.Inf(1)}} {
		step, promise := newtonStep(c[0], c[1])
		near9(t, "step", step, c[2])
		if promise != c[3] {
			near9(t, "promise", promise, c[3])
		}
	}
}

// TestPointsAheadOfAStep checks whether there are points with a slope ahead of a step, at most 1.5 units away.
func TestPointsAheadOfAStep(t *testing.T) {
	one := func(depth, slope float64) []point { return scanOf([3]float64{depth, 0, slope}).points }
	for _, c := range []struct {
		points []point
		step   float64
		want   bool
	}{
		{one(3, 1), 0.1, true},
		{one(3, 1), -0.1, false},
		{one(1, 1), -0.1, true},
		{one(1, 1), 0.1, false},
		{one(2, 1), 0.1, false},
		{one(3, math.NaN()), 0.1, false},
		{one(3.5, 1), 0.1, true},
		{one(3.6, 1), 0.1, false},
		{one(0.4, 1), -1, false},
		{nil, 1, false},
	} {
		if pointAhead(c.points, 2, c.step) != c.want {
			t.Errorf("%+v ahead of a step of %g from 2: %t", c.points, c.step, !c.want)
		}
	}
}

// TestGivenCurvatureIsStiffened checks that a given curvature enters the model with a small multiple of its mean
// diagonal added, and that it is increased, at most to four times, where slopes changed on the last step by more
// than it predicts.
func TestGivenCurvatureIsStiffened(t *testing.T) {
	q := newQuadratic(3)
	h := []float64{2, 1, 0, 1, 3, 0.5, 0, 0.5, 4}
	e := &Evaluation{LogLambda: make([]float64, 3), Gradient: []float64{1, 2, 3}, Curvature: h}
	q.load(e)
	for i, v := range h {
		if i%4 == 0 {
			v += 1e-8 * 9 / 3
		}
		near9(t, "curvature", q.h[i], v)
	}
	step := []float64{1, -1, 0}
	// H·step is (1, −2, −0.5): the first slope changes by 2 more than predicted, the second by far more.
	after := &Evaluation{Gradient: []float64{4, -100, 9.5}, Curvature: h}
	q.update(e, after, step)
	near9(t, "first curvature met", q.firstCurvature, (3*1+102*1+0)/2.)
	q.load(e)
	for i, want := range []float64{2 + 2, 3 + 9, 4} {
		if math.Abs(q.h[i*4]-want) > 1e-6 {
			t.Errorf("diagonal %d: %g, want %g", i, q.h[i*4], want)
		}
	}
	near9(t, "beside the diagonal", q.h[1], 1)
}

// TestSecantOfTheModel checks the secant equation of BFGS: the updated matrix maps a step to the change of the
// slopes, if the curvature along the step is large enough.
func TestSecantOfTheModel(t *testing.T) {
	r := oracle.NewRandom(9)
	for range 20 {
		q := newQuadratic(4)
		point := func() *Evaluation {
			e := &Evaluation{LogLambda: make([]float64, 4), Gradient: make([]float64, 4)}
			for i := range e.Gradient {
				e.Gradient[i] = r.Normal()
			}
			return e
		}
		a := point()
		q.load(a)
		near9(t, "first model", q.h[0], math.Sqrt(dot(a.Gradient, a.Gradient)))
		for range 3 {
			b, step := point(), make([]float64, 4)
			for i := range step { // a change that corresponds to a curvature between 0.5 and 2
				step[i] = r.Normal()
				b.Gradient[i] = a.Gradient[i] + step[i]*(0.5+1.5*r.Float64())
			}
			q.update(a, b, step)
			q.multiply(step)
			bend := 0.0
			for i := range step {
				bend += step[i] * (b.Gradient[i] - a.Gradient[i])
			}
			near9(t, "curvature along the step", dot(step, q.hd), bend)
			for i := range step {
				near9(t, "secant", q.hd[i], b.Gradient[i]-a.Gradient[i])
			}
			a = b
		}
	}
}

// TestModelIsMinimisedInItsBox checks the KKT conditions of the model's minimum: the slope vanishes in free
// coordinates and points outwards in coordinates at a bound; and that the predicted gain is the decrease of the
// model.
func TestModelIsMinimisedInItsBox(t *testing.T) {
	r := oracle.NewRandom(31)
	for range 40 {
		const dim = 4
		q := newQuadratic(dim)
		root := make([]float64, dim*dim)
		for i := range root {
			root[i] = r.Normal()
		}
		for i := range dim {
			for j := range dim {
				for k := range dim {
					q.h[i*dim+j] += root[i*dim+k] * root[j*dim+k]
				}
				if i == j {
					q.h[i*dim+j] += 0.3
				}
			}
		}
		e, box := &Evaluation{}, Box{}
		for range dim {
			x := r.Normal()
			e.LogLambda, e.Gradient = append(e.LogLambda, x), append(e.Gradient, 3*r.Normal())
			box.Lower, box.Upper = append(box.Lower, x-2*r.Float64()), append(box.Upper, x+2*r.Float64())
		}
		radius, step := 0.2+2*r.Float64(), make([]float64, dim)
		fall := q.minimise(e, box, radius, step)
		var model float64
		for i := range dim {
			slope := e.Gradient[i]
			for j, d := range step {
				slope += q.h[i*dim+j] * d
				model += 0.5 * step[i] * q.h[i*dim+j] * d
			}
			model += e.Gradient[i] * step[i]
			lower, upper := math.Max(box.Lower[i]-e.LogLambda[i], -radius), math.Min(box.Upper[i]-e.LogLambda[i], radius)
			switch {
			case step[i] < lower || step[i] > upper:
				t.Errorf("a step of %g in [%g, %g]", step[i], lower, upper)
			case step[i] == lower && slope >= 0, step[i] == upper && slope <= 0:
			case math.Abs(slope) > 1e-8:
				t.Errorf("the slope is %g at %g in [%g, %g]", slope, step[i], lower, upper)
			}
		}
		near9(t, "fall", fall, -model)
	}
}

// TestBracketOfAParabola checks that the curvature of a bracket is that of the parabola, computed from both slopes
// or, if one of these does not point inwards, from values and one slope, and that the predicted gain is the
// distance from the better end to the minimum value.
func TestBracketOfAParabola(t *testing.T) {
	const minimum, bend = 0.4, 3.
	at := func(x float64) *Evaluation {
		return &Evaluation{LogLambda: []float64{x}, Value: 7 + bend*(x-minimum)*(x-minimum)/2, Gradient: []float64{bend * (x - minimum)}, Trusted: true}
	}
	for _, ends := range [][2]float64{{-1, 1}, {0.3, 2}, {-3, 0.5}} {
		b := &bracket{left: at(ends[0]), right: at(ends[1])}
		best := math.Min(b.left.Value, b.right.Value)
		if !b.straddles() || b.betterEnd().Value != best {
			t.Errorf("[%g, %g] does not straddle %g", ends[0], ends[1], minimum)
		}
		near9(t, "curvature", b.curvature(), bend)
		b.previousCurvature = bend
		near9(t, "gain", b.predictedGain(), best-7)
		for _, left := range []bool{true, false} { // the slope of one end is wrong
			other := b.right
			if left {
				other = b.left
			}
			slope := other.Gradient[0]
			other.Gradient = []float64{-slope}
			if b.straddles() {
				t.Error("straddles with both slopes of one sign")
			}
			if b.betterEnd() != other {
				near9(t, "curvature by values", b.curvature(), bend)
				near9(t, "gain by values", b.predictedGain(), best-7)
			}
			other.Gradient = []float64{slope}
		}
		b.left.Flat = true
		if b.straddles() {
			t.Error("straddles with an end that is flat")
		}
	}
}

// TestBracketOfAKink checks that once the curvature has grown the predicted gain is measured to the value at which
// the tangents of both ends intersect.
func TestBracketOfAKink(t *testing.T) {
	const corner, down, up = 0.7, 2., 5.
	at := func(x float64) *Evaluation {
		e := &Evaluation{LogLambda: []float64{x}, Value: 3 + down*(corner-x), Gradient: []float64{-down}, Trusted: true}
		if x > corner {
			e.Value, e.Gradient = 3+up*(x-corner), []float64{up}
		}
		return e
	}
	for _, ends := range [][2]float64{{0, 1}, {0.6, 2}, {-3, 0.71}} {
		b := &bracket{left: at(ends[0]), right: at(ends[1])}
		better := b.betterEnd()
		parabola := 0.5 * better.Gradient[0] * better.Gradient[0] / ((up + down) / (ends[1] - ends[0]))
		b.previousCurvature = b.curvature() / 1.4
		near9(t, "gain of a parabola", b.predictedGain(), parabola)
		b.previousCurvature = b.curvature() / 1.6
		near9(t, "gain of a kink", b.predictedGain(), math.Max(parabola, better.Value-3))
	}
}

// TestStepsByTheirWork checks the length of steps by their work. Where the criterion does not fall, the work after
// the best point is limited. Where it falls, a step of full length is taken if the next point is cheap; otherwise
// the step ends where the slope vanishes or where work has grown by a factor, and there is none if its predicted
// gain is too small.
func TestStepsByTheirWork(t *testing.T) {
	price := math.Pow(2, 1.3) // work of a point one unit further, if the support has doubled since the last point
	for _, c := range []struct {
		falling                         bool
		best, depth, free, spent, ratio float64 // ratio is the logarithm of the work of this point over that of the last
		unit, want                      float64
	}{
		{false, 1, 2, 4.81 + price, 10, 0, 0.1, 1}, // 10 − 4 = 6 less 0.3·4
		{false, 1, 2, 4.79 + price, 10, 0, 0.1, 0},
		{false, 0, 2, 0, 10, 0, 0.1, 1}, // the null model is the best point
		{false, 0, 4, 4.79 + price, 10, 0, 0.1, 0},
		{false, 0, 4, 4.81 + price, 10, 0, 0.1, 1},
		{true, 1, 2, 1.01 * price, 0, 0, 0.1, 1},
		{true, 1, 2, 0, 1.01 * price / 0.3, 0, 0.1, 1},
		{true, 1, 2, 0.99 * price, 0.99 * price / 0.3, 0, 0.1, 0.4 / (0.65 * math.Ln2)},
		{true, 1, 2, 0, 0, 3, 0.1, 0.5}, // the root of the slope
		{true, 1, 2, 0, 0, 6, 0.1, 1.4 / (0.65*math.Ln2 + 3)},
		{true, 1, 2, 0, 0, 14, 0.1, 0.2},
		{true, 1, 2, 0, 0, 3, 24, 0.5}, // a root half a unit away, of predicted gain a quarter
		{true, 1, 2, 0, 0, 3, 26, 0},
	} {
		for _, times := range []float64{1, 0x1p40} { // scales all work
			l := scanOf([3]float64{c.depth - 1, 1, -3})
			l.best = &point{&Evaluation{Value: 1}, c.best, 0}
			l.previous = point{&Evaluation{Support: 10, Work: times * math.Exp(-c.ratio)}, c.depth - 1, -3}
			l.here = point{&Evaluation{Support: 20, Work: times}, c.depth, -1}
			l.o.Free, l.spent, l.atBest = c.free*times, c.spent*times, 4*times
			near9(t, "step", l.affordableStep(c.falling, c.unit), c.want)
		}
	}
}

// TestUnitOfValues checks the unit in which values are compared: the larger of the standard errors of a point and
// of the best point or, if there are none, a hundredth of the gain of the best over the null model. It is at least
// a billionth of this gain, for losses of classes a ten-thousandth.
func TestUnitOfValues(t *testing.T) {
	for _, c := range []struct{ best, here, null, value, want float64 }{
		{0.2, 0.3, 5, 2, 0.3},
		{0.3, 0.2, 5, 2, 0.3},
		{0, 0.2, 5, 2, 0.2},
		{1e-4, 1e-5, 5, 2, 1e-4},
		{1e-11, 1e-12, 5, 2, 3e-9},
		{0, 0, 5, 2, 0.03},
		{0, 0, math.NaN(), 2, 0.02},
		{0, 0, math.NaN(), -2, 0.02},
		{0, 0, 1, 2, 0.02}, // the null model is better than the best point
		{0, 0, math.Inf(1), -2, 0.02},
		{0, 0, 2, -2, 0.04},
	} {
		l := scanOf()
		l.best, l.o.Null.Value = &point{&Evaluation{Value: c.value, StandardError: c.best}, 1, 0}, c.null
		near9(t, "unit", l.unit(&Evaluation{StandardError: c.here}), c.want)
	}
	for separable, want := range map[bool]float64{true: 3e-4, false: 1e-4} { // a loss of classes may decrease for ever, a loss of counts does not
		l := scanOf()
		l.best, l.o.Null.Value, l.o.Relative, l.o.Separable = &point{&Evaluation{Value: 2, StandardError: 1e-4}, 1, 0}, 5, true, separable
		near9(t, "unit", l.unit(l.best.Evaluation), want)
	}
}

// TestBasinsSeen checks that basins are counted if they are a tenth of a standard error deeper than the crests
// around them.
func TestBasinsSeen(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   int
	}{
		{[]float64{3}, 1},
		{[]float64{3, 2, 1}, 1},
		{[]float64{1, 2, 3}, 1},
		{[]float64{3, 2, 3}, 1},
		{[]float64{3, 2, 3, 2}, 2},
		{[]float64{3, 2, 2.09, 2, 3}, 1},
		{[]float64{3, 2, 2.11, 2, 3}, 2},
		{[]float64{3, 2.91, 3.2, 2, 3}, 1},
		{[]float64{3, 2.89, 3.2, 2, 3}, 2},
		{[]float64{2, 3, 2, 3, 2.5, 2.5, 3, 1, 1.2}, 3},
		{[]float64{2, 2.5, 2.45, 2.6}, 1},
	} {
		for _, up := range []bool{false, true} {
			l := scanOf()
			l.o.Up, l.o.Null.Value = up, math.NaN()
			for k, v := range c.values {
				l.add(point{&Evaluation{Value: v, StandardError: 1}, 1 + float64(k), math.NaN()})
			}
			seen := l.summary()
			if seen.Basins != c.want {
				t.Errorf("%v: %d basins, want %d", c.values, seen.Basins, c.want)
			}
			near9(t, "from", seen.From, l.o.Origin)
			near9(t, "to", seen.To, l.lambda(float64(len(c.values))))
			l.resumed = true
			near9(t, "from, resumed", l.summary().From, l.lambda(1))
		}
	}
}
