package search_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-45b9a24c/pare/search"
)

// valley is an objective with its minimum, 1, where every λ is −6.
type valley struct{}

func (valley) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	e := search.Evaluation{Value: 1, Tol: r.Tol, Trusted: true}
	for _, x := range r.LogLambda {
		e.Value += 0.1 * (x + 6) * (x + 6)
		if !r.ValueOnly {
			e.Gradient = append(e.Gradient, 0.2*(x+6))
		}
	}
	return e, nil
}

func ExampleSecant() {
	box := search.Box{Lower: []float64{-12}, Upper: []float64{0}}
	result, err := search.Secant(context.Background(), valley{}, -4.6, box, search.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.4f at λ = %.3f\n", result.Status, result.Best.Value, result.Best.LogLambda[0])
	// Output: stationary: 1.0000 at λ = -6.000
}

func ExampleGradient() {
	box := search.Box{Lower: []float64{-12}, Upper: []float64{0}}
	result, err := search.Gradient(context.Background(), valley{}, []float64{-4.6}, box, search.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.4f after %d evaluations\n", result.Status, result.Best.Value, len(result.Evaluations))
	// Output: stationary: 1.0000 after 4 evaluations
}

// A geometric grid down from λ = 0 to ln 10⁻⁴.
func ExampleGrid() {
	result, err := search.Grid(context.Background(), valley{}, search.Geometric(0, -9.21, 10), search.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.4f at λ = %.2f after %d evaluations\n", result.Status, result.Best.Value, result.Best.LogLambda[0], len(result.Evaluations))
	// Output: exhausted: 1.0020 at λ = -6.14 after 10 evaluations
}

func ExampleTPE() {
	box := search.Box{Lower: []float64{-9, -9}, Upper: []float64{0, 4}}
	result, err := search.TPE(context.Background(), valley{}, box, search.TPEOptions{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f after %d values\n", result.Best.Value, len(result.Evaluations))
	// Output: 1.0 after 50 values
}

func ExampleTrustRegion() {
	box := search.Box{Lower: []float64{-9, -9}, Upper: []float64{0, 4}}
	result, err := search.TrustRegion(context.Background(), valley{}, []float64{-4, -4}, box, search.Options{Schedule: search.Auto})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range result.Evaluations {
		fmt.Printf("to %.0e: %.4f\n", e.Tol, e.Value)
	}
	fmt.Println(result.Status, result.Best.Final)
	// Output:
	// to 1e-03: 1.8000
	// to 1e-04: 1.3343
	// to 1e-04: 1.0172
	// to 1e-04: 1.0000
	// to 1e-06: 1.0000
	// stationary true
}

// A search that stops when a third split of the data gets worse.
func ExampleLBFGS() {
	third := func(e search.Evaluation) (value float64) {
		for _, x := range e.LogLambda {
			value += (x + 5.5) * (x + 5.5)
		}
		return value
	}
	start, box := []float64{-5, -5, -4}, search.Box{Lower: []float64{-7, -7, -6}, Upper: []float64{-3, -3, -2}}
	result, err := search.LBFGS(context.Background(), valley{}, start, box, search.LBFGSOptions{
		Prox:  0.02,
		Judge: func(_ context.Context, e search.Evaluation) (float64, error) { return third(e), nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, third split %.2f\n", result.Status, third(result.Best))
	// Output: stationary, third split 0.25
}

// A search that is stopped and resumed repeats no evaluation.
func ExampleOpenLog() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	box := search.Box{Lower: []float64{-12}, Upper: []float64{0}}
	for range 2 {
		log, err := search.OpenLog(filepath.Join(dir, "search.json"), "valley")
		if err != nil {
			fmt.Println(err)
			return
		}
		known := log.Len()
		result, err := search.Secant(context.Background(), valley{}, -4.6, box, search.Options{Log: log})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d of %d evaluations were known\n", known, len(result.Evaluations))
	}
	// Output:
	// 0 of 3 evaluations were known
	// 3 of 3 evaluations were known
}

// A scan follows the criterion down from the null model, and then refines the best point that it has seen.
func ExampleScan() {
	null := search.Evaluation{Value: 4}
	result, err := search.Scan(context.Background(), valley{}, search.ScanOptions{Null: null, Free: 1e9})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.3f after a scan down to λ = %.1f\n", result.Status, result.Best.Value, result.Seen.To)
	// Output: converged: 1.000 after a scan down to λ = -8.8
}
