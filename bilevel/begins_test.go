package bilevel

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

func lassoOf(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }

// TestPredictorsInAView checks that coefficients in terms of the columns of X are divided by the scales of the
// view, the inverses of the standard deviations, and that a constant column has the coefficient 0.
func TestPredictorsInAView(t *testing.T) {
	x, err := sparse.NewDense(4, 3, []float64{1, -1, 1, -1, 5, 5, 5, 5, 4, 0, 4, 0})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(fixture.Kernels(t), x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	s := &Solution{[]int32{0, 1, 2}, []float64{3, 7, 5}}
	if got := s.in(view); !slices.Equal(got.Coef, s.Coef) {
		t.Errorf("as it is: %v", got.Coef)
	}
	got := s.in(view.Standardised())
	for k, want := range []float64{3, 0, 10} {
		if !(math.Abs(got.Coef[k]-want) <= 1e-14*want) {
			t.Errorf("standardised: %v", got.Coef)
		}
	}
	if !slices.Equal(got.Support, s.Support) || !slices.Equal(s.Coef, []float64{3, 7, 5}) {
		t.Errorf("%v became %v", s, got)
	}
}

// TestTangentsAreFollowed checks that a solver's start is moved along the tangent to first order, if λ is at most
// two units away, and once only; and that a tangent is noted only from a gradient whose status allows for its
// being right.
func TestTangentsAreFollowed(t *testing.T) {
	k := fixture.Kernels(t)
	x, err := sparse.NewDense(4, 1, []float64{1, -1, 2, -2})
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(k, x, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewSquared(view, []float64{1, -1, 2, -2})
	if err != nil {
		t.Fatal(err)
	}
	penalty, err := lassoOf([]float64{-6})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []float64{0, 0.5, 1, -1, 2, -2, 2.5, -2.5, 3} {
		at := tangent{7, []float64{0.01}}
		solver := cd.New(fit)
		solver.Start([]int32{0}, []float64{0.9})
		at.follow(solver, 7+step)
		solution, err := solver.Solve(t.Context(), penalty, cd.Options{Tol: 0.9}) // loose enough that the start already meets it
		if err != nil {
			t.Fatal(err)
		}
		want := 0.9
		if math.Abs(step) <= 2 {
			want += 0.01 * step
		}
		if !(math.Abs(solution.Coef[0]-want) <= 1e-15) || len(at.coef) != 0 {
			t.Errorf("a step of %g: %.17g, want %g; left %v", step, solution.Coef[0], want, at.coef)
		}
	}
	for _, status := range statuses {
		at := tangent{1, []float64{5, 6, 7}}
		at.update(2, &implicit.Hypergradient{Status: status, Jacobian: []float64{3, 4}})
		want := []float64(nil)
		if status == outcome.Converged || status == outcome.SupportUncertified {
			want = []float64{3, 4}
		}
		own := at.clone()
		own.coef = append(own.coef, 1)
		if at.lambda != 2 || !slices.Equal(at.coef, want) || own.lambda != 2 || len(own.coef) != len(want)+1 {
			t.Errorf("%s: %v", status, at)
		}
	}
}

// TestTangentsAreOfOneStrength checks that only lanes with a single λ and a loss that is not quadratic keep a
// tangent, and that a lane that is moved to another solution forgets its tangent.
func TestTangentsAreOfOneStrength(t *testing.T) {
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 30, P: 5})
	for i, y := range q.Y {
		q.Y[i] = math.Copysign(1, y)
	}
	logistic := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(v, y) }
	for name, c := range map[string]struct {
		spec   Spec
		lambda []float64
		has    bool
	}{
		"logistic":     {Spec{Penalty: lassoOf, Datafit: logistic}, []float64{-4}, true},
		"squared":      {Spec{Penalty: lassoOf}, []float64{-4}, false},
		"logistic net": {Spec{Penalty: func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) }, Datafit: logistic}, []float64{-4, -4}, false},
	} {
		c.spec.Folds = slices.Repeat(Folds{0, -1}, 15)
		p, err := New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, valueOnly := range []bool{false, true} {
			if _, err := p.Evaluate(t.Context(), search.Request{LogLambda: c.lambda, ValueOnly: valueOnly}); err != nil {
				t.Fatal(err)
			}
			l := inProcess[*penalisedLane](t, p.runner, LaneID{})
			if has := len(l.tangent.coef) > 0; has != (c.has && !valueOnly) || has && len(l.tangent.coef) != len(l.last.Support) {
				t.Errorf("%s, value only %t: %v of %v", name, valueOnly, l.tangent, l.last.Support)
			}
			l.tangent = tangent{1, []float64{1}}
			if err := l.moveTo(&Solution{}); err != nil || len(l.tangent.coef) > 0 {
				t.Errorf("%s, moved: %v, %v", name, l.tangent, err)
			}
		}
	}
	class := &classLane{tangent: tangent{1, []float64{1}}, support: []int32{3, 4}, coef: []float64{1, 2}}
	if err := class.moveTo(&Solution{[]int32{1}, []float64{5}}); err != nil || len(class.tangent.coef) > 0 || !slices.Equal(class.support, []int32{1}) || !slices.Equal(class.coef, []float64{5}) {
		t.Errorf("a class, moved: %+v, %v", class, err)
	}
}

// TestSVMsGoOnFromTheirBounds checks that a new SVM lane continues from the state that an earlier lane left behind
// with the same bits, whether the samples of that state are all at their bounds, all free, or some of each.
func TestSVMsGoOnFromTheirBounds(t *testing.T) {
	q := oracle.NewRandom(9).Problem(oracle.Shape{N: 24, P: 6})
	for i, y := range q.Y {
		if q.Y[i] = math.Copysign(1, y); i < 12 { // easy to classify
			q.X[i][0] += 6 * q.Y[i]
		}
	}
	samples := sparse.Transpose(fixture.Matrix(t, q, true))
	folds := make(Folds, 24)
	for i := range folds {
		if folds[i] = AlwaysTrain; i >= 12 {
			folds[i] = 0
		}
	}
	for name, c := range map[string]struct {
		logC        float64
		free, bound bool
	}{
		"bounds": {-16, false, true}, "free": {8, true, false}, "both": {-5, true, true},
	} {
		open := func(left []search.Memory) *Problem {
			p, err := NewSVM(fixture.Kernels(t), samples, q.Y, Spec{Folds: folds, Solver: cd.Options{Tol: 0.1}})
			if err == nil {
				err = p.Remember(t.Context(), 1, left)
			}
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		first := open(nil)
		eval := func(p *Problem, logC float64) search.Evaluation {
			e, err := p.Eval(t.Context(), search.Request{LogLambda: []float64{logC}})
			if err != nil {
				t.Fatal(name, err)
			}
			return e
		}
		begun := eval(first, c.logC)
		if l := inProcess[*svmLane](t, first.runner, LaneID{}); (len(l.last.Free) > 0) != c.free || (len(l.last.Bound) > 0) != c.bound {
			t.Fatalf("%s: %d free, %d at bounds", name, len(l.last.Free), len(l.last.Bound))
		}
		want := eval(first, c.logC+1)
		got := eval(open([]search.Memory{begun.Memory}), c.logC+1)
		if got.Value != want.Value || !slices.Equal(got.Gradient, want.Gradient) || !slices.Equal(got.Memory.Last, want.Memory.Last) {
			t.Errorf("%s: %.17g %v, without a stop %.17g %v", name, got.Value, got.Gradient, want.Value, want.Gradient)
		}
	}
}

// TestRoughSlopes checks that rough slopes are close to the exact gradient and have the status SupportUncertified,
// that lanes that certify return exact gradients instead, and that an empty support is reported as Flat.
func TestRoughSlopes(t *testing.T) {
	q := oracle.NewRandom(14).Problem(oracle.Shape{N: 40, P: 8})
	top := math.Log(q.AlphaMax())
	for _, c := range []struct {
		lambda  float64
		certify bool
		want    outcome.Status
	}{
		{top - 2, false, outcome.SupportUncertified}, {top - 2, true, outcome.Converged}, {top + 3, false, outcome.Flat}, {top + 3, true, outcome.Flat},
	} {
		p, err := New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, Spec{Folds: slices.Repeat(Folds{0, 1}, 20), Penalty: lassoOf, Certify: c.certify, Solver: cd.Options{Tol: 1e-10}})
		if err != nil {
			t.Fatal(err)
		}
		at := []float64{c.lambda}
		exact, err := p.Evaluate(t.Context(), search.Request{LogLambda: at})
		if err != nil {
			t.Fatal(err)
		}
		rough, err := p.Evaluate(t.Context(), search.Request{LogLambda: at, Rough: true})
		if err != nil {
			t.Fatal(err)
		}
		if rough.Status != c.want || !(math.Abs(rough.Gradient[0]-exact.Gradient[0]) <= 1e-3*math.Abs(exact.Gradient[0])) {
			t.Errorf("λ %g, certified %t: %s, %g; exactly %s, %g", c.lambda-top, c.certify, rough.Status, rough.Gradient[0], exact.Status, exact.Gradient[0])
		}
	}
}

// TestRoughSlopesOfManyVectors checks that with 1,000 rows and columns or more a rough evaluation uses a solution
// with a relative gap of 1e-4 and reports an uncertified slope. Its value differs from the exact one by no more
// than the gap allows, and it costs less than half of the work.
func TestRoughSlopesOfManyVectors(t *testing.T) {
	const n, p = 2200, 1050
	r := oracle.NewRandom(16)
	coef := make([]float64, p)
	for j := range coef {
		coef[j] = r.Normal()
	}
	var rows, columns []int32
	var values []float64
	y, folds := make([]float64, n), make(Folds, n)
	for i := range n {
		for range 4 {
			j, v := r.Intn(p), r.Normal()
			rows, columns, values = append(rows, int32(i)), append(columns, int32(j)), append(values, v)
			y[i] += float64(v * coef[j])
		}
		y[i] += r.Normal()
		folds[i] = i % 2
	}
	x, err := sparse.NewTriplets(t.Context(), n, p, rows, columns, values)
	if err != nil {
		t.Fatal(err)
	}
	problem, err := NewVectors(fixture.Kernels(t), x, y, VectorRegression, Spec{Folds: folds, Intercept: true, Criterion: criterion.MeanSquaredError{}})
	if err != nil {
		t.Fatal(err)
	}
	request := search.Request{LogLambda: []float64{math.Log(1), math.Log(0.2)}, Tol: 1e-3}
	exact, err := problem.Evaluate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	request.Rough = true
	rough, err := problem.Evaluate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	// The gap bounds half the squared distance of w, so w is off by at most a hundredth of what the null model's gap
	// allows.
	if math.Abs(rough.Value-exact.Value) > 0.02*exact.Value || rough.Tol > 1e-4 || rough.Status != outcome.SupportUncertified || !rough.Trusted {
		t.Errorf("%s, trusted %t: %g at a gap of %g, exactly %g", rough.Status, rough.Trusted, rough.Value, rough.Tol, exact.Value)
	}
	for i, g := range rough.Gradient {
		if math.Abs(g-exact.Gradient[i]) > 0.5*math.Abs(exact.Gradient[i]) {
			t.Errorf("slope %g, exactly %g", g, exact.Gradient[i])
		}
	}
	if !(rough.Work < 0.5*exact.Work) {
		t.Errorf("work %g, exactly %g", rough.Work, exact.Work)
	}
}

// TestNullModelsOfVectors checks that the null model predicts the median of the training rows for regression
// (their number is odd here), the more frequent class for classification, and the mean of the columns on the
// simplex.
func TestNullModelsOfVectors(t *testing.T) {
	const n = 14 // seven of them train
	q := oracle.NewRandom(15).Problem(oracle.Shape{N: n, P: 3})
	folds := slices.Repeat(Folds{0, 1}, n/2)
	for which, predict := range map[VectorsKind]func(i int, train []float64) float64{
		VectorRegression: func(_ int, train []float64) float64 { slices.Sort(train); return train[len(train)/2] },
		VectorsOnSimplex: func(i int, _ []float64) float64 { return (q.X[i][0] + q.X[i][1] + q.X[i][2]) / 3 },
	} {
		p, err := NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, which, Spec{Folds: folds, Intercept: which == VectorRegression, Criterion: criterion.MeanSquaredError{}})
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for i, y := range q.Y {
			var train []float64
			for j, other := range q.Y {
				if folds[j] != folds[i] {
					train = append(train, other)
				}
			}
			off := y - predict(i, train)
			want += off * off / n
		}
		if got := p.NullValue(); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("kind %d: %.15g, want %.15g", which, got, want)
		}
	}
	signs := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1}
	p, err := NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), signs, VectorClasses, Spec{Folds: folds, Intercept: true, Criterion: criterion.Misclassification{}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.NullValue(); !(math.Abs(got-4./14) <= 1e-15) {
		t.Errorf("classes: %g are told wrongly", got)
	}
}

// TestTubesThatHoldAll checks that the training loss is 0, not NaN, when the ε-tube contains all targets, so that
// the loss of the null model is 0.
func TestTubesThatHoldAll(t *testing.T) {
	q := oracle.NewRandom(15).Problem(oracle.Shape{N: 12, P: 3})
	p, err := NewVectors(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, VectorRegression, Spec{Folds: slices.Repeat(Folds{0, 1}, 6), Intercept: true, Criterion: criterion.MeanSquaredError{}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{0, 10}, ValueOnly: true})
	if err != nil || r.TrainLoss != 0 || math.IsNaN(r.Value) {
		t.Errorf("training loss %g, value %g, %v", r.TrainLoss, r.Value, err)
	}
}

// TestFoldsWithNothingToLose checks that a fold whose training targets are all equal, so that its null objective
// is 0, leaves the training loss to the other folds.
func TestFoldsWithNothingToLose(t *testing.T) {
	q := oracle.NewRandom(15).Problem(oracle.Shape{N: 12, P: 3})
	for i := range q.Y {
		if i%2 == 0 {
			q.Y[i] = 1
		}
	}
	p, err := New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, Spec{Folds: slices.Repeat(Folds{0, 1}, 6), Intercept: true, Penalty: lassoOf, Criterion: criterion.MeanSquaredError{}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{-2}, ValueOnly: true})
	if err != nil || !(r.TrainLoss > 0 && r.TrainLoss < 1) {
		t.Errorf("training loss %g, %v", r.TrainLoss, err)
	}
}

// TestLargestStrengths checks that ln αmax is the largest over the folds, also with blocks, where it is computed
// from the norms of the groups. It is −∞ where nothing defines it or where λ is given; the null model is not
// evaluated in the latter case.
func TestLargestStrengths(t *testing.T) {
	k := fixture.Kernels(t)
	q := oracle.NewRandom(16).Problem(oracle.Shape{N: 30, P: 5})
	folds := slices.Repeat(Folds{0, 1, 2}, 10)
	top := math.Inf(-1)
	for fold := range 3 {
		c := q.Clone()
		c.Weights, c.Intercept = make([]float64, 30), false
		for i := range c.Weights {
			if folds[i] != fold {
				c.Weights[i] = 1
			}
		}
		top = max(top, math.Log(c.AlphaMax()))
	}
	open := func(spec Spec) *Problem {
		spec.Folds, spec.Penalty = folds, lassoOf
		p, err := New(k, fixture.Matrix(t, q, true), q.Y, spec)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if got := open(Spec{AlphaMax: (*model.Null).AlphaMax}).LogLambdaMax(); !(math.Abs(got-top) <= 1e-12) {
		t.Errorf("ln αmax %.15g, want %.15g", got, top)
	}
	blocked := &Blocked{Partition: model.Singletons(5), Max: k.MaxAbs, Penalty: func(l []float64) (model.Blocks, error) {
		return model.GroupLasso([]float64{1, 1, 1, 1, 1}, l[0])
	}}
	squared := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(v, y) }
	if got := open(Spec{Blocked: blocked, Datafit: squared}).LogLambdaMax(); !(math.Abs(got-top) <= 1e-12) {
		t.Errorf("of blocks ln αmax %.15g, want %.15g", got, top)
	}
	blocked.Max = nil
	for name, spec := range map[string]Spec{"nobody knows": {}, "given": {AlphaMax: (*model.Null).AlphaMax, Given: true}, "blocks": {Blocked: blocked, Datafit: squared}} {
		p := open(spec)
		if !math.IsInf(p.LogLambdaMax(), -1) || math.IsNaN(p.NullValue()) != (name == "given") {
			t.Errorf("%s: ln αmax %g, null model %g", name, p.LogLambdaMax(), p.NullValue())
		}
	}
}

// TestUnpenalisedColumnsAreInTheNullModel checks that the null model includes the unpenalised columns: it is the
// solution at a strength so large that no other column enters.
func TestUnpenalisedColumnsAreInTheNullModel(t *testing.T) {
	q := oracle.NewRandom(17).Problem(oracle.Shape{N: 30, P: 4})
	free := []float64{1, 0, 2, 1}
	penalty := func(l []float64) (model.Penalty, error) {
		g, err := model.Lasso(l[0])
		return g.Weighted(free), err
	}
	spec := Spec{Folds: slices.Repeat(Folds{0, 1}, 15), Penalty: penalty, Free: free, Solver: cd.Options{Tol: 1e-12}, AlphaMax: (*model.Null).AlphaMax, Criterion: criterion.Of(loss.Squared{})}
	p, err := New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, spec)
	if err != nil {
		t.Fatal(err)
	}
	at, err := p.Evaluate(t.Context(), search.Request{LogLambda: []float64{6}, ValueOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	spec.Free = nil
	other, err := New(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.NullValue(); !(math.Abs(got-at.Value) <= 1e-9*at.Value) || math.Abs(got-other.NullValue()) < 1e-6*got || at.Support != 1 {
		t.Errorf("%.12g, evaluated %.12g, without the column %.12g; support %d", got, at.Value, other.NullValue(), at.Support)
	}
}
