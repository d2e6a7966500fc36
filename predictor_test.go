package pare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

// drawn draws a sparse matrix, and targets suitable for a model.
func drawn(t *testing.T, n, p int, model pare.Model) (*sparse.CSC, []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, uint64(p)))
	colPtr, rows, values := []int64{0}, []int32(nil), []float64(nil)
	y := make([]float64, n)
	for j := range p {
		for i := range n {
			if rng.Float64() < 0.3 {
				rows, values = append(rows, int32(i)), append(values, rng.NormFloat64())
				y[i] += values[len(values)-1] * float64(j%3)
			}
		}
		colPtr = append(colPtr, int64(len(rows)))
	}
	if model.Traits().Classes {
		for i, v := range y {
			y[i] = 10 * math.Round(min(max(v/3, -1), 1))
		}
	}
	y = targetsFor(model, y)
	x, err := sparse.NewCSC(n, p, colPtr, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

func fitted(t *testing.T, x sparse.Matrix, y []float64, model pare.Model) *pare.Fitted {
	t.Helper()
	c := pare.Config{Model: model, Standardize: !model.Traits().Convex}
	lambda, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range lambda {
		if lambda[i] -= 2; math.IsNaN(lambda[i]) {
			lambda[i] = 0
		}
	}
	f, err := pare.Fit(context.Background(), x, y, lambda, c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPredictions checks that scores are Xβ + b, for single rows or all at once, sparse or
// dense, on any goroutine, and after saving and loading.
func TestPredictions(t *testing.T) {
	const n, p = 60, 13
	for _, model := range pare.Models() {
		x, y := drawn(t, n, p, model)
		f := fitted(t, x, y, model)
		own := f.Predictor()
		path := filepath.Join(t.TempDir(), "model")
		if err := own.Save(path); err != nil {
			t.Fatal(err)
		}
		read, err := pare.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		one := f.PerClass
		if one == nil {
			one = []*pare.Fitted{f}
		}
		q := own.Scores()
		if q != len(one) || own.Columns() != p || own.Model() != model {
			t.Fatalf("%s: %d scores, %d columns", model, q, own.Columns())
		}
		rows := problemOf(x, y, false).X
		full := matrixOf(t, rows, p, true)
		at, atDense := make([]float64, n*q), make([]float64, n*q)
		if err := own.Decide(x, at); err != nil {
			t.Fatal(err)
		}
		if err := own.Decide(full, atDense); err != nil {
			t.Fatal(err)
		}
		targets, err := own.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() {
				var columns []int32
				var values []float64
				row := rows[i]
				for j, v := range row {
					if v != 0 {
						columns, values = append(columns, int32(j)), append(values, v)
					}
				}
				scores := make([]float64, q)
				for name, decide := range map[string]func() error{
					"sparse": func() error { return own.DecideRow(columns, values, scores) },
					"dense":  func() error { return own.DecideRow(nil, row, scores) },
					"read":   func() error { return read.DecideRow(columns, values, scores) },
				} {
					if err := decide(); err != nil || !slices.Equal(scores, at[i*q:(i+1)*q]) || !slices.Equal(scores, atDense[i*q:(i+1)*q]) {
						t.Errorf("%s, %s row %d: %v, at once %v; %v", model, name, i, scores, at[i*q:(i+1)*q], err)
					}
				}
				if got := own.Target(scores); got != targets[i] {
					t.Errorf("%s, row %d: %g, at once %g", model, i, got, targets[i])
				}
				for k, f := range one {
					want := f.Intercept
					for c, j := range f.Support {
						want += f.Coef[c] * row[j]
					}
					if math.Abs(scores[k]-want) > 1e-12*(1+math.Abs(want)) {
						t.Errorf("%s, row %d, score %d: %g, want %g", model, i, k, scores[k], want)
					}
				}
			})
		}
		group.Wait()
		right := 0
		for i := range y {
			if targets[i] == y[i] {
				right++
			}
		}
		if classes := own.Classes(); classes != nil && right < n/2 {
			t.Errorf("%s: %d of %d labels right", model, right, n)
		}
		columns, values, scores := []int32{1, 4, 5}, []float64{1, 2, 3}, make([]float64, q)
		if allocated := testing.AllocsPerRun(50, func() { _ = own.DecideRow(columns, values, scores); _ = own.Target(scores) }); allocated != 0 {
			t.Errorf("%s: %g allocations a row", model, allocated)
		}
	}
}

func TestProbabilities(t *testing.T) {
	for _, model := range []pare.Model{pare.Logistic, pare.Multiclass} {
		x, y := drawn(t, 50, 9, model)
		p := fitted(t, x, y, model).Predictor()
		scores := make([]float64, 50*p.Scores())
		if err := p.Decide(x, scores); err != nil {
			t.Fatal(err)
		}
		probabilities := slices.Clone(scores)
		if err := p.Probabilities(probabilities); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			row, m := probabilities[i*p.Scores():(i+1)*p.Scores()], scores[i*p.Scores():(i+1)*p.Scores()]
			var total float64
			for k, share := range row {
				want := 1 / (1 + math.Exp(-m[k]))
				if model == pare.Multiclass {
					want = 0
					for l := range m {
						want += math.Exp(m[l] - m[k])
					}
					want = 1 / want
				}
				if total += share; math.Abs(share-want) > 1e-14 {
					t.Errorf("%s, row %d: %v, want %g", model, i, row, want)
				}
			}
			if model == pare.Multiclass && (math.Abs(total-1) > 1e-14 || p.Target(row) != p.Target(m)) {
				t.Errorf("row %d: %v of scores %v", i, row, m)
			}
		}
	}
	x, y := drawn(t, 50, 9, pare.Lasso)
	if err := fitted(t, x, y, pare.Lasso).Predictor().Probabilities([]float64{0}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("probabilities of a Lasso: %v", err)
	}
	x, y = drawn(t, 50, 9, pare.Multiclass)
	p := fitted(t, x, y, pare.Multiclass).Predictor()
	if err := p.Probabilities(make([]float64, p.Scores()+1)); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("probabilities of a row and a score: %v", err)
	}
}

// TestUnprepared checks that a predictor for the data before preparation predicts on them what
// the model predicts on the prepared data.
func TestUnprepared(t *testing.T) {
	raw, y := drawn(t, 60, 20, pare.Lasso)
	for _, c := range []sparse.Preparation{{}, {MinNNZ: 18}, {MinNNZ: 18, UnitColumns: true}, {UnitRows: true}, {UnitRows: true, UnitColumns: true}} {
		x, from, err := c.Apply(raw)
		if err != nil {
			t.Fatal(err)
		}
		f := fitted(t, x, y, pare.Lasso)
		want, err := f.Predictor().Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Predictor().Unprepared(from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Predict(raw)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%+v, row %d: %g, want %g", c, i, got[i], want[i])
			}
		}
		if c.UnitRows {
			row := make([]float64, 1)
			if err := p.DecideRow(nil, problemOf(raw, y, false).X[7], row); err != nil || row[0] != got[7] {
				t.Errorf("%+v: by row %g, at once %g; %v", c, row[0], got[7], err)
			}
		}
	}
	if _, err := fitted(t, raw, y, pare.Lasso).Predictor().Unprepared(sparse.Prepared{Columns: 3, Kept: []int32{1}}); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("a preparation of another matrix: %v", err)
	}
	for name, from := range map[string]sparse.Prepared{
		"order":    {Columns: 30, Kept: []int32{5, 1, 2, 3, 4, 6}},
		"twice":    {Columns: 30, Kept: []int32{1, 2, 3, 4, 4, 6}},
		"negative": {Columns: 30, Kept: []int32{-3, 1, 2, 3, 4, 6}},
		"beyond":   {Columns: 6, Kept: []int32{0, 1, 2, 3, 4, 6}},
		"norm":     {Columns: 6, Kept: []int32{0, 1, 2, 3, 4, 5}, Norms: []float64{1, 1, math.NaN(), 1, 1, 1}},
	} {
		few := &pare.Fitted{Model: pare.Lasso, Columns: 6, Support: []int32{1}, Coef: []float64{2}}
		p, err := few.Predictor().Unprepared(from)
		if e, ok := errors.AsType[*outcome.Error](err); p != nil || !ok || e.Kind != outcome.BadParameter || !e.HasColumn {
			t.Errorf("%s of columns kept: %v", name, err)
		}
	}
	kept := make([]int32, 20)
	if _, err := fitted(t, raw, y, pare.Lasso).Predictor().Unprepared(sparse.Prepared{Columns: 21, Kept: kept, UnitRows: true}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("rows scaled without some of their columns: %v", err)
	}
}

func TestRowsThatDoNotFit(t *testing.T) {
	x, y := drawn(t, 40, 8, pare.Lasso)
	p := fitted(t, x, y, pare.Lasso).Predictor()
	score := make([]float64, 1)
	for name, c := range map[string]struct {
		columns []int32
		values  []float64
		kind    outcome.Kind
	}{
		"order":   {[]int32{3, 2}, []float64{1, 1}, outcome.Shape},
		"twice":   {[]int32{3, 3}, []float64{1, 1}, outcome.Shape},
		"outside": {[]int32{8}, []float64{1}, outcome.Shape},
		"below":   {[]int32{-1}, []float64{1}, outcome.Shape},
		"lengths": {[]int32{1}, []float64{1, 2}, outcome.Shape},
		"dense":   {nil, []float64{1, 2}, outcome.Shape},
		"NaN":     {[]int32{1}, []float64{math.NaN()}, outcome.NonFinite},
		"Inf":     {nil, []float64{0, 0, 0, 0, math.Inf(1), 0, 0, 0}, outcome.NonFinite},
	} {
		if err := p.DecideRow(c.columns, c.values, score); outcome.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.DecideRow(nil, make([]float64, 8), nil); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("no room: %v", err)
	}
	if _, err := p.Predict(nil); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("predictions of no matrix: %v", err)
	}
	if err := p.Decide(nil, nil); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("scores of no matrix: %v", err)
	}
	if r := pare.WeightedLasso.Hyperparameters(nil, nil); r != 0 {
		t.Errorf("%d hyperparameters of no matrix", r)
	}
	other, _ := drawn(t, 5, 9, pare.Lasso)
	if _, err := p.Predict(other); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("another number of columns: %v", err)
	}
}

// TestDamagedModelsAreRefused checks that every flipped bit, every truncation and every other
// text is refused.
func TestDamagedModelsAreRefused(t *testing.T) {
	x, y := drawn(t, 30, 4, pare.Multiclass)
	var file bytes.Buffer
	if err := fitted(t, x, y, pare.Multiclass).Predictor().Write(&file); err != nil {
		t.Fatal(err)
	}
	data := file.Bytes()
	refused := func(name string, data []byte) {
		t.Helper()
		if p, err := pare.Read(bytes.NewReader(data)); p != nil || outcome.KindOf(err) != outcome.Parse {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			refused(fmt.Sprintf("bit %d of byte %d", bit, i), data)
			data[i] ^= 1 << bit
		}
		refused(fmt.Sprintf("%d bytes", i), data[:i])
	}
	refused("a line more", append(bytes.Clone(data), '\n'))
	refused("another file", []byte("1 1:2 3:4\n"))
	// Numbers that make no model, under a checksum that is correct.
	_, body, _ := strings.Cut(string(data), `"body":`)
	body = strings.TrimSuffix(body, "}\n")
	modelFile := sealed.Kind{Key: "pare_model", Noun: "saved model", Version: 1}
	largest := slices.Max(fitted(t, x, y, pare.Multiclass).Support)
	for was, becomes := range map[string]string{
		`"multiclass"`: `"forest"`, `"columns":4`: fmt.Sprintf(`"columns":%d`, largest), `"columns":4,`: `"columns":-4,`, `"classes":[`: `"classes":[9,`,
		`"classes":[-10,`: `"classes":[0,`, `"classes":[-10`: `"classes":["NaN"`, `"classes":[-10,0,10]`: `"classes":null`,
	} {
		sealed, err := modelFile.Encode(json.RawMessage(strings.Replace(body, was, becomes, 1)))
		if err != nil || !strings.Contains(body, was) {
			t.Fatal(err, body)
		}
		refused(becomes, sealed)
	}
	// A model with a numerical target has no classes.
	file.Reset()
	if err := fitted(t, x, y, pare.Lasso).Predictor().Write(&file); err != nil {
		t.Fatal(err)
	}
	_, body, _ = strings.Cut(strings.TrimSuffix(file.String(), "}\n"), `"body":`)
	for _, becomes := range []string{`"classes":[]`, `"classes":[1]`, `"classes":[0,1,2]`} {
		sealed, err := modelFile.Encode(json.RawMessage(strings.Replace(body, `"classes":null`, becomes, 1)))
		if err != nil || !strings.Contains(body, `"classes":null`) {
			t.Fatal(err, body)
		}
		refused("lasso, "+becomes, sealed)
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(path, data[:len(data)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pare.Load(path); outcome.KindOf(err) != outcome.Parse || errors.Unwrap(err) == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if _, err := pare.Load(path + ".none"); outcome.KindOf(err) != outcome.IO || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := fitted(t, x, y, pare.Multiclass).Predictor().Save(filepath.Join(path, "below a file")); outcome.KindOf(err) != outcome.IO {
		t.Errorf("%v", err)
	}
}

// TestTargetsOfModels checks that a target with two labels becomes −1 and 1 and keeps the
// names, and that other labels are refused or kept.
func TestTargetsOfModels(t *testing.T) {
	for _, c := range []struct {
		model   pare.Model
		y       []float64
		labels  []string
		want    []float64
		classes string
		kind    outcome.Kind
	}{
		{pare.Logistic, []float64{0, 1, 1}, nil, []float64{-1, 1, 1}, "0 1", ""},
		{pare.SVM, []float64{2, 1}, nil, []float64{1, -1}, "1 2", ""},
		{pare.Logistic, []float64{-1, 1}, nil, []float64{-1, 1}, "-1 1", ""},
		{pare.Logistic, []float64{1, 0}, []string{"no", "yes"}, []float64{1, -1}, "no yes", ""},
		{pare.Logistic, []float64{1, -1, 0}, nil, nil, "", outcome.BadParameter},
		{pare.Logistic, []float64{3, 3}, nil, []float64{1, 1}, "3", ""},
		{pare.Lasso, []float64{0, 1}, nil, []float64{0, 1}, "", ""},
		{pare.Lasso, []float64{0, 1}, []string{"a", "b"}, nil, "", outcome.BadParameter},
		{pare.Multiclass, []float64{2, 0, 1}, []string{"a", "b", "c"}, []float64{2, 0, 1}, "a b c", ""},
		{pare.Multiclass, []float64{0.5, 7}, nil, []float64{0.5, 7}, "0.5 7", ""},
		{"none", []float64{0, 1}, nil, nil, "", outcome.Usage},
	} {
		before := slices.Clone(c.y)
		y, classes, err := c.model.Target(c.y, c.labels)
		if outcome.KindOf(err) != c.kind || !slices.Equal(y, c.want) || strings.Join(classes, " ") != c.classes || !slices.Equal(c.y, before) {
			t.Errorf("%s of %v: %v, %q, %v", c.model, c.y, y, classes, err)
		}
	}
}

// TestTargetsThatNameNoClass checks that every classification model refuses a value that names
// no class, with its row.
func TestTargetsThatNameNoClass(t *testing.T) {
	labels := []string{"a", "b"}
	for _, m := range []pare.Model{pare.Logistic, pare.SVM, pare.Multiclass, pare.Multinomial} {
		for _, c := range []struct {
			y      []float64
			labels []string
			row    int
			kind   outcome.Kind
		}{
			{[]float64{0, 7}, labels, 1, outcome.BadParameter},
			{[]float64{0, 2}, labels, 1, outcome.BadParameter},
			{[]float64{-1, 0}, labels, 0, outcome.BadParameter},
			{[]float64{0, .5}, labels, 1, outcome.BadParameter},
			{[]float64{0, 1, math.NaN()}, labels, 2, outcome.NonFinite},
			{[]float64{1, 1, math.NaN()}, nil, 2, outcome.NonFinite},
			{[]float64{0, math.NaN(), math.NaN()}, nil, 1, outcome.NonFinite},
			{[]float64{math.Inf(1), 0}, nil, 0, outcome.NonFinite},
		} {
			y, classes, err := m.Target(c.y, c.labels)
			if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind || !e.HasRow || e.Row != c.row || y != nil || classes != nil {
				t.Errorf("%s of %v, labels %q: %v, %q, %v", m, c.y, c.labels, y, classes, err)
			}
		}
	}
}

// TestProvenanceIsKept checks that a model keeps the provenance that it is given, and that
// provenance which does not fit it is refused.
func TestProvenanceIsKept(t *testing.T) {
	f := &pare.Fitted{Model: pare.Logistic, Loss: "logistic", Link: loss.Logit, Columns: 3, LogLambda: []float64{-2.5}, Support: []int32{0, 2}, Coef: []float64{1.5, -0.25}, Intercept: 0.1, Status: outcome.Converged}
	from := pare.Provenance{
		Names: []string{"a", "c=x", "c=y"}, Labels: []string{"no", "yes"}, Standardized: true, Data: "1234", Program: "a program",
		Schema: &table.Schema{Width: 4, Target: "t", TargetPosition: 3, Missing: table.Mean, Inputs: []table.Input{
			{Name: "a", Position: 0, Fill: []float64{0.1}}, {Name: "c", Position: 2, Categories: []string{"x", "y"}, Fill: []float64{1.0 / 3, 2.0 / 3}},
		}},
	}
	p, err := f.Predictor().With(from)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := pare.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Provenance(), from) || !slices.Equal(again.LogLambda(), f.LogLambda) || again.Label(1) != "yes" {
		t.Errorf("%+v", again.Provenance())
	}
	columns, coef, intercept := again.Coefficients(0)
	if !slices.Equal(columns, f.Support) || !slices.Equal(coef, f.Coef) || intercept != 0.1 {
		t.Errorf("%v %v %v", columns, coef, intercept)
	}
	if status, _ := again.Status(); status != outcome.Converged {
		t.Errorf("status %s", status)
	}
	for name, spoil := range map[string]func(*pare.Provenance, *table.Schema){
		"names":      func(p *pare.Provenance, _ *table.Schema) { p.Names = p.Names[1:] },
		"labels":     func(p *pare.Provenance, _ *table.Schema) { p.Labels = p.Labels[1:] },
		"place":      func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Position = 0 },
		"far":        func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Position = 4 },
		"fill":       func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Fill = []float64{1} },
		"categories": func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Categories = []string{"y", "x"} },
		"columns":    func(_ *pare.Provenance, s *table.Schema) { s.Inputs = s.Inputs[:1] },
	} {
		own, schema := from, *from.Schema
		schema.Inputs = slices.Clone(schema.Inputs)
		own.Schema = &schema
		spoil(&own, &schema)
		if _, err := f.Predictor().With(own); outcome.KindOf(err) != outcome.Shape {
			t.Errorf("%s: %v", name, err)
		}
	}
}
