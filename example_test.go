package pare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

// Choose λ on the embedded diabetes data by 5-fold cross-validation, and refit the model on all rows.
func ExampleSelect() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, in less than a grid of 20: %v\n", s.Status, len(s.Evaluations) < 20)
	fmt.Printf("λ = %.2f, mean squared error %.0f, that of the mean %.0f\n", s.LogLambda[0], s.Value, s.NullValue)
	fmt.Printf("%d of 10 columns, relative gap below 1e-6: %v\n", len(s.Final.Support), s.Final.RelativeGap <= 1e-6)
	// Output:
	// converged, in less than a grid of 20: true
	// λ = -2.70, mean squared error 3069, that of the mean 5974
	// 7 of 10 columns, relative gap below 1e-6: true
}

// Fit a Lasso at a tenth of αmax, the smallest strength at which every coefficient is zero.
func ExampleFit() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	lambda, err := pare.LogLambdaMax(x, y, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	f, err := pare.Fit(context.Background(), x, y, []float64{lambda[0] + math.Log(0.1)}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, intercept %.1f\n", f.Status, f.Intercept)
	for k, j := range f.Support {
		fmt.Printf("column %d: %.0f\n", j, f.Coef[k])
	}
	// Output:
	// converged, intercept 152.1
	// column 1: -64
	// column 2: 511
	// column 3: 228
	// column 6: -161
	// column 8: 449
}

// Fit a path: the support grows as λ falls.
func ExamplePath() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	lambda, err := pare.LogLambdaMax(x, y, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	grid := search.Geometric(lambda[0], math.Log(0.001), 5)
	for f, err := range pare.Path(context.Background(), x, y, grid, pare.Config{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("λ = %5.2f: %2d columns, objective %.0f\n", f.LogLambda[0], len(f.Support), f.Objective)
	}
	// Output:
	// λ =  0.76:  0 columns, objective 2965
	// λ = -0.96:  4 columns, objective 2019
	// λ = -2.69:  7 columns, objective 1572
	// λ = -4.42:  9 columns, objective 1462
	// λ = -6.14: 10 columns, objective 1437
}

// Compute the derivatives of the cross-validation error of an elastic net in both of its λ's.
func ExampleGradient() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	config := pare.Config{Model: pare.ElasticNet}
	lambda, err := pare.LogLambdaMax(x, y, config)
	if err != nil {
		log.Fatal(err)
	}
	g, err := pare.Gradient(context.Background(), x, y, []float64{lambda[0] - 3, lambda[1] - 9}, pare.Validation{}, config)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: value %.0f, gradient %.1f and %.1f\n", g.Status, g.Value, g.Gradient[0], g.Gradient[1])
	// Output:
	// converged: value 3098, gradient 40.4 and 32.3
}

// Choose λ for three classes of patients, with one predictor per class. All classes have the same ratio α/αmax, where
// αmax is the strength from which all coefficients of the class are zero.
func ExampleSelect_multiclass() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	for i, progression := range y {
		y[i] = math.Floor(progression / 120) // 0, 1 or 2
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: pare.Multiclass})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: cross-entropy %.3f, that of the null model %.3f\n", s.Status, s.Value, s.NullValue)
	for k, one := range s.Final.PerClass {
		share := math.Exp(one.LogLambda[0] - one.LogLambdaMax[0])
		fmt.Printf("class %g: α/αmax = %.2f, %d columns\n", s.Final.Classes[k], share, len(one.Support))
	}
	// Output:
	// converged: cross-entropy 0.789, that of the null model 1.062
	// class 0: α/αmax = 0.13, 5 columns
	// class 1: α/αmax = 0.13, 6 columns
	// class 2: α/αmax = 0.13, 5 columns
}

// Compute λmax, the smallest λ at which every coefficient is zero.
func ExampleLogLambdaMax() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	lambda, err := pare.LogLambdaMax(x, y, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("λmax = %.3f, αmax = %.3f\n", lambda[0], math.Exp(lambda[0]))
	// Output:
	// λmax = 0.765, αmax = 2.148
}

// Save a fitted model, and use it elsewhere to predict one row at a time.
func ExamplePredictor() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(os.TempDir(), "pare-example.json")
	if err := s.Final.Predictor().Save(file); err != nil {
		log.Fatal(err)
	}

	p, err := pare.Load(file)
	if err := errors.Join(err, os.Remove(file)); err != nil {
		log.Fatal(err)
	}
	scores := make([]float64, p.Scores()) // one score; for Multiclass one per class
	if err := p.DecideRow([]int32{2, 8}, []float64{0.05, -0.02}, scores); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s on %d columns predicts %.0f\n", p.Model(), p.Columns(), p.Target(scores))
	// Output:
	// lasso on 10 columns predicts 168
}

// Choose λ for rows in time order: each block of rows is predicted by a model fitted to the rows before it.
func ExampleValidation_forward() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	options := pare.SelectOptions{Validation: pare.Validation{Split: pare.Forward, Folds: 4}}
	s, err := pare.Select(context.Background(), x, y, options, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d columns\n", s.Status, len(s.Final.Support))
	// Output:
	// converged, 7 columns
}

// Judge models by a validation loss of your own: its value, and its derivative in each prediction.
func ExampleValidation_loss() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	huber := criterion.Func("huber", func(y, m, slope []float64) (value float64) {
		const bend = 50
		for i := range y {
			d := m[i] - y[i]
			clipped := min(max(d, -bend), bend)
			value += clipped * (d - clipped/2) / float64(len(y))
			if slope != nil {
				slope[i] = clipped / float64(len(y))
			}
		}
		return value
	})
	options := pare.SelectOptions{Validation: pare.Validation{Loss: huber}}
	s, err := pare.Select(context.Background(), x, y, options, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, Huber's loss %.0f\n", s.Status, s.Value)
	// Output:
	// converged, Huber's loss 1270
}

// Compute the validation error along a path, without gradients.
func ExampleValidate() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	grid := [][]float64{{0}, {-2}, {-4}}
	for e, err := range pare.Validate(context.Background(), x, y, grid, pare.Validation{}, pare.Config{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("λ = %2.0f: mean squared error %.0f\n", e.LogLambda[0], e.Value)
	}
	// Output:
	// λ =  0: mean squared error 3902
	// λ = -2: mean squared error 3086
	// λ = -4: mean squared error 3075
}

// Save with a model how the columns were made from a file, and use it to read rows of other files: columns are found
// by name, and words are categories.
func ExamplePredictor_With() {
	ctx := context.Background()
	const file = `color,age,bought
red,30,yes
blue,41,no
red,25,yes
blue,60,no
green,33,yes
green,52,no
`
	d, err := table.Read(ctx, strings.NewReader(file), table.Options{Target: "bought", OneHot: true})
	if err != nil {
		log.Fatal(err)
	}
	config := pare.Config{Model: pare.Logistic, Standardize: true}
	y, classes, err := config.Target(d.Y, d.Labels) // −1 for "no", 1 for "yes"
	if err != nil {
		log.Fatal(err)
	}
	f, err := pare.Fit(ctx, d.X, y, []float64{math.Log(0.05)}, config)
	if err != nil {
		log.Fatal(err)
	}
	p, err := f.Predictor().With(pare.Provenance{Names: d.Names, Labels: classes, Schema: d.Schema})
	if err != nil {
		log.Fatal(err)
	}
	var saved bytes.Buffer // or a file, with Save and Load
	if err := p.Write(&saved); err != nil {
		log.Fatal(err)
	}
	if p, err = pare.Read(&saved); err != nil {
		log.Fatal(err)
	}
	const others = "age,name,color\n28,Ann,red\n70,Bob,violet\n"
	scores := make([]float64, p.Scores())
	for row, err := range p.Provenance().Schema.ReadRows(ctx, strings.NewReader(others), p.Columns(), table.Options{Name: "others"}) {
		if err != nil {
			log.Fatal(err)
		}
		if err := p.DecideRow(row.Columns, row.Values, scores); err != nil {
			log.Fatal(err)
		}
		class := slices.Index(p.Classes(), p.Target(scores))
		if err := p.Probabilities(scores); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("row %d: %s, of yes the probability is %.2f; unknown words: %d\n", row.Number, p.Label(class), scores[0], row.Unknown)
	}
	// Output:
	// row 1: yes, of yes the probability is 0.95; unknown words: 0
	// row 2: no, of yes the probability is 0.00; unknown words: 1
}

// Predict the class probabilities of a row.
func ExamplePredictor_Probabilities() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	for i, progression := range y {
		y[i] = math.Floor(progression / 120) // 0, 1 or 2
	}
	c := pare.Config{Model: pare.Multiclass}
	f, err := pare.Fit(context.Background(), x, y, []float64{-5, -5, -5}, c)
	if err != nil {
		log.Fatal(err)
	}
	p := f.Predictor()
	shares := make([]float64, p.Scores())
	if err := p.DecideRow([]int32{2, 8}, []float64{0.08, 0.06}, shares); err != nil {
		log.Fatal(err)
	}
	label := p.Target(shares)
	if err := p.Probabilities(shares); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("class %g of %v, with probabilities %.2f\n", label, p.Classes(), shares)
	// Output:
	// class 1 of [0 1 2], with probabilities [0.23 0.51 0.26]
}

// Choose one λ per column, starting from the best common λ.
func ExampleSelect_columns() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	options := pare.SelectOptions{Validation: pare.Validation{}}
	s, err := pare.Select(context.Background(), x, y, options, pare.Config{Model: pare.WeightedLasso})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d λ's: mean squared error %.0f, with one for all %.0f\n", len(s.LogLambda), s.Value, s.Common.Value)
	// Output:
	// 10 λ's: mean squared error 3058, with one for all 3069
}

// Fit a model to columns scaled to norm 1, and predict with it on the original data.
func ExamplePredictor_Unprepared() {
	x, err := sparse.NewCSC(4, 2, []int64{0, 4, 7}, []int32{0, 1, 2, 3, 1, 2, 3}, []float64{3, 1, 4, 1, 50, 90, 20})
	if err != nil {
		log.Fatal(err)
	}
	y := []float64{3, 6, 13, 3}
	unit, prepared, err := sparse.Preparation{UnitColumns: true}.Apply(x)
	if err != nil {
		log.Fatal(err)
	}
	f, err := pare.Fit(context.Background(), unit, y, []float64{-9}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := f.Predictor().Unprepared(prepared)
	if err != nil {
		log.Fatal(err)
	}
	targets, err := p.Predict(x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f for %.2f\n", targets, y)
	// Output:
	// [3.00 6.00 13.00 3.00] for [3.00 6.00 13.00 3.00]
}

// Reuse one working memory for many fits on the same data.
func ExampleFitter() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	fitter, err := pare.NewFitter(x, y, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	for _, share := range []float64{0.3, 0.1, 0.03} {
		f, err := fitter.Fit(context.Background(), []float64{fitter.LogLambdaMax()[0] + math.Log(share)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d columns, objective %.0f\n", len(f.Support), f.Objective)
	}
	// Output:
	// 4 columns, objective 2298
	// 5 columns, objective 1807
	// 7 columns, objective 1565
}

// Choose λ again after rows were added, starting from the previous choice.
func ExampleSelectOptions_from() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	const before = 420 // the number of rows of the previous selection
	old := make([]float64, 0, before*10)
	for j := range 10 {
		_, values := x.Column(j)
		old = append(old, values[:before]...)
	}
	then, err := sparse.NewDense(before, 10, old)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	yesterday, err := pare.Select(ctx, then, y[:before], pare.SelectOptions{}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	anew, err := pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	today, err := pare.Select(ctx, x, y, pare.SelectOptions{From: yesterday}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("half the evaluations or less:", 2*len(today.Evaluations) <= len(anew.Evaluations))
	fmt.Println("as good to a hundredth of a standard error:", today.Value <= anew.Value+0.01*anew.StandardError)
	// Output:
	// half the evaluations or less: true
	// as good to a hundredth of a standard error: true
}

// Run ten selections on two threads; the pool admits four at a time.
func ExamplePool() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	pool, err := pare.NewPool(pare.PoolOptions{Threads: 2, Calls: 4})
	if err != nil {
		log.Fatal(err)
	}
	results := make([]*pare.Selection, 10)
	var calls sync.WaitGroup
	for k := range results {
		calls.Go(func() {
			var err error
			if results[k], err = pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Pool: pool}); err != nil {
				log.Fatal(err)
			}
		})
	}
	calls.Wait()
	same := 0
	for _, s := range results {
		if s.LogLambda[0] == results[0].LogLambda[0] {
			same++
		}
	}
	fmt.Printf("%d of %d with the same λ, %d calls left in the pool\n", same, len(results), pool.State().Running)
	// Output:
	// 10 of 10 with the same λ, 0 calls left in the pool
}

// Log what a call does.
func ExampleLogTo() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "seconds" || a.Key == "relative_gap" {
				return slog.Attr{}
			}
			return a
		},
	}))
	if _, err := pare.Fit(context.Background(), x, y, []float64{-2}, pare.Config{Observer: pare.LogTo(plain)}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// level=DEBUG msg=solve model=lasso support=7 status=converged
}

// Replace the model of a service while it predicts.
func ExampleLive() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	var live pare.Live
	for _, lambda := range []float64{0, -2} {
		f, err := pare.Fit(context.Background(), x, y, []float64{lambda}, pare.Config{})
		if err != nil {
			log.Fatal(err)
		}
		live.Swap(f.Predictor())
		predicted, err := live.Predict(x)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.1f\n", predicted[0])
	}
	// Output:
	// 181.1
	// 201.5
}

// Find out what was wrong with the arguments of a call, and in which row.
func ExampleFit_errors() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	y[7] = math.NaN()
	_, err = pare.Fit(context.Background(), x, y, []float64{-2}, pare.Config{})
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		fmt.Printf("%s, row %d of the target: %s\n", e.Kind, e.Row, e.Reason())
	}
	y[7] = 0
	_, err = pare.Fit(context.Background(), x, y, []float64{-2, 0}, pare.Config{})
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		fmt.Printf("%s, %s: %s\n", e.Kind, e.Flag, e.Reason())
	}
	// Output:
	// non_finite, row 7 of the target: the target is not finite
	// shape, log-lambda: one λ is needed per hyperparameter, 1 for lasso; got 2
}

// Choose λ on folds of your own. Rows with the id −1 are never held out, here the first hundred.
func ExampleValidation_foldIDs() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	ids := make([]int, len(y))
	for i := range ids {
		if ids[i] = -1; i >= 100 {
			ids[i] = i % 4
		}
	}
	options := pare.SelectOptions{Validation: pare.Validation{FoldIDs: ids}}
	s, err := pare.Select(context.Background(), x, y, options, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d folds, the first row is in fold %d\n", s.Status, len(s.Evaluations[0].FoldValues), s.Folds[0])
	// Output:
	// converged, 4 folds, the first row is in fold -1
}

// Keep the rows of a group in one fold, such as the visits of a patient.
func ExampleValidation_groups() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	groups := make([]int, len(y))
	for i := range groups {
		groups[i] = i / 3 // three rows each
	}
	options := pare.SelectOptions{Validation: pare.Validation{Groups: groups}}
	s, err := pare.Select(context.Background(), x, y, options, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Status, s.Folds[0] == s.Folds[1] && s.Folds[1] == s.Folds[2])
	// Output:
	// converged true
}

// Choose λ for labels 0 and 1, whose rare class counts as much as the other in the fit. Models of two classes take −1 and 1:
// Target converts the labels.
func ExampleConfig_classes() {
	x, progression, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	label := make([]float64, len(progression))
	for i, v := range progression {
		if v > 250 {
			label[i] = 1
		}
	}
	config := pare.Config{Model: pare.Logistic, Balanced: true}
	y, classes, err := config.Target(label, nil)
	if err != nil {
		log.Fatal(err)
	}
	options := pare.SelectOptions{Validation: pare.Validation{Split: pare.Stratified}}
	s, err := pare.Select(context.Background(), x, y, options, config)
	if err != nil {
		log.Fatal(err)
	}
	p := s.Final.Predictor()
	score := make([]float64, p.Scores())
	if err := p.DecideRow([]int32{2, 8}, []float64{0.1, 0.1}, score); err != nil {
		log.Fatal(err)
	}
	k := slices.Index(p.Classes(), p.Target(score))
	fmt.Printf("%s: class %s of %v\n", s.Status, classes[k], classes)
	// Output:
	// converged: class 1 of [0 1]
}

// Show progress, and end a search early with the best λ so far and a model fitted at it.
func ExampleSelectOptions_stop() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	stop := make(chan struct{}) // or MaxDuration
	seen := 0
	options := pare.SelectOptions{Stop: stop, Precision: true, Progress: func(e search.Evaluation) {
		fmt.Printf("λ = %5.2f: %.0f\n", e.LogLambda[0], e.Value)
		if seen++; seen == 2 {
			close(stop)
		}
	}}
	s, err := pare.Select(context.Background(), x, y, options, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if s.Final == nil { // stopped before the first evaluation, or the context has ended
		log.Fatal(s.Err)
	}
	fmt.Printf("%s at λ = %.2f, %d columns\n", s.Status, s.LogLambda[0], len(s.Final.Support))
	// Output:
	// λ = -0.44: 3495
	// λ = -1.94: 3089
	// cancelled at λ = -1.94, 7 columns
}

// Go on with a search that was interrupted, from the evaluations in its log.
func ExampleSelectOptions_log() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	for _, most := range []int{3, 0} { // the first search is interrupted after three evaluations
		record, err := search.OpenLog(filepath.Join(dir, "search.json"), "diabetes, lasso") // a key of your choice
		if err != nil {
			log.Fatal(err)
		}
		ctx, interrupt := context.WithCancel(context.Background())
		known, done := record.Len(), 0
		options := pare.SelectOptions{Log: record, Progress: func(search.Evaluation) {
			if done++; done == most {
				interrupt()
			}
		}}
		s, err := pare.Select(ctx, x, y, options, pare.Config{})
		interrupt()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d known, %s, a model: %v\n", known, s.Status, s.Final != nil)
	}
	if err := os.RemoveAll(dir); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0 known, cancelled, a model: false
	// 3 known, converged, a model: true
}

// Compare a hypergradient with a difference of the criterion. The inner problems must be solved much more precisely than the
// difference is small: at the default Tol, solutions so near each other are the same.
func ExampleGradient_difference() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	config := pare.Config{Tol: 1e-13}
	g, err := pare.Gradient(ctx, x, y, []float64{-1}, pare.Validation{}, config)
	if err != nil {
		log.Fatal(err)
	}
	const h = 1e-4
	var values []float64
	for e, err := range pare.Validate(ctx, x, y, [][]float64{{-1 + h}, {-1 - h}}, pare.Validation{}, config) {
		if err != nil {
			log.Fatal(err)
		}
		values = append(values, e.Value)
	}
	difference := (values[0] - values[1]) / (2 * h)
	fmt.Println("within a millionth:", math.Abs(g.Gradient[0]-difference) <= 1e-6*math.Abs(difference))
	// Output:
	// within a millionth: true
}

// Predict every row by a model that was not fitted to it.
func ExampleOutOfFold() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	held, err := pare.OutOfFold(context.Background(), x, y, []float64{-2}, pare.Validation{}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	var squared float64
	for i, scores := range held.Scores {
		squared += (y[i] - scores[0]) * (y[i] - scores[0]) / float64(len(y))
	}
	fmt.Printf("mean squared error %.0f\n", squared)
	// Output:
	// mean squared error 3085
}

// objective is the cross-validation error of a Lasso, for a search of your own.
type objective struct {
	x sparse.Matrix
	y []float64
}

func (o objective) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	g, err := pare.Gradient(ctx, o.x, o.y, r.LogLambda, pare.Validation{}, pare.Config{Tol: r.Tol})
	if err != nil {
		return search.Evaluation{}, err
	}
	return search.Evaluation{Value: g.Value, Gradient: g.Gradient, Tol: g.RelativeGap, Trusted: g.Status.OK(), Status: g.Status}, nil
}

// Choose λ with a search of your own, here the secant method on the slope between two bounds.
func Example_ownSearch() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	box := search.Box{Lower: []float64{-6}, Upper: []float64{0}}
	found, err := search.Secant(context.Background(), objective{x, y}, -1, box, search.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("λ = %.1f, mean squared error %.0f\n", found.Best.LogLambda[0], found.Best.Value)
	// Output:
	// λ = -2.7, mean squared error 3069
}

// Keep a selection as JSON, and begin with it another day.
func ExampleSelection() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		log.Fatal(err)
	}
	var kept pare.Selection
	if err := json.Unmarshal(text, &kept); err != nil {
		log.Fatal(err)
	}
	again, err := pare.Select(ctx, x, y, pare.SelectOptions{From: &kept}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("λ = %.1f, then %.1f in fewer evaluations: %v\n", kept.LogLambda[0], again.LogLambda[0], len(again.Evaluations) < len(s.Evaluations))
	// Output:
	// λ = -2.7, then -2.7 in fewer evaluations: true
}

// Approximate the error of leaving out one row at a time, from one fit.
func ExampleLeaveOneOut() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	left, err := pare.LeaveOneOut(context.Background(), x, y, []float64{-2}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("mean squared error %.0f ± %.0f\n", left.Value, left.StandardError)
	// Output:
	// mean squared error 3049 ± 181
}

// Fit the columns that a Lasso has selected again, without penalty.
func ExampleRelax() {
	x, y, err := diabetes()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	f, err := pare.Fit(ctx, x, y, []float64{-1}, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	relaxed, err := pare.Relax(ctx, x, y, f, pare.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("column %d: %.0f, then %.0f\n", f.Support[0], f.Coef[0], relaxed.Coef[0])
	// Output:
	// column 2: 493, then 555
}
