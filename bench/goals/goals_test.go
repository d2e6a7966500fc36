package goals

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/sparse"
)

var long = flag.Bool("long", false, "let the peers that are installed solve")

func diabetes(t *testing.T) studies.Data {
	t.Helper()
	d, err := studies.Diabetes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFoldsAreRunsOfEqualLength(t *testing.T) {
	if got := fifths(7); !slices.Equal(got, []int{0, 0, 1, 1, 2, 3, 4}) {
		t.Errorf("%v", got)
	}
	if got := halves(3); !slices.Equal(got, []int{0, -1, 0}) {
		t.Errorf("%v", got)
	}
}

// TestDiagonalsAreTheSquare checks that every pair of the square occurs exactly once, and that
// each line has a single ratio.
func TestDiagonalsAreTheSquare(t *testing.T) {
	seen := map[[2]int]bool{}
	lines := diagonals(2, 1e-2, 4)
	for _, line := range lines {
		for _, a := range line {
			if math.Abs(a[0]/a[1]-line[0][0]/line[0][1]) > 1e-9*a[0]/a[1] {
				t.Errorf("%v beside %v", a, line[0])
			}
			seen[[2]int{int(math.Round(1e6 * a[0])), int(math.Round(1e6 * a[1]))}] = true
		}
	}
	if len(lines) != 7 || len(seen) != 16 {
		t.Errorf("%d lines, %d points", len(lines), len(seen))
	}
}

func TestLoadingWatchesTheHeap(t *testing.T) {
	d := diabetes(t)
	path := filepath.Join(t.TempDir(), "diabetes.svm")
	if err := write(path, d); err != nil {
		t.Fatal(err)
	}
	seconds, peak, err := load(t.Context(), path)
	if err != nil || !(seconds > 0) || peak < 8*4420 || peak > 100<<20 {
		t.Errorf("%g s, %d bytes, %v", seconds, peak, err)
	}
	if _, _, err := load(t.Context(), path+"?"); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestHeldOutIsTheCriterion checks that heldOut agrees with the library's own validation of the
// same model.
func TestHeldOutIsTheCriterion(t *testing.T) {
	d := diabetes(t)
	ids := halves(len(d.Y))
	c := pare.Config{NoIntercept: true, Tol: 1e-12}
	l, err := pare.LogLambdaMax(d.X, d.Y, c)
	if err != nil {
		t.Fatal(err)
	}
	l[0] -= 2
	h, err := pare.Gradient(t.Context(), d.X, d.Y, l, pare.Validation{FoldIDs: ids}, c)
	if err != nil {
		t.Fatal(err)
	}
	train, target := studies.Rows(d.X, d.Y, func(i int) bool { return ids[i] == -1 })
	held, labels := studies.Rows(d.X, d.Y, func(i int) bool { return ids[i] == 0 })
	got, err := heldOut(t.Context(), train, target, l, c, held, labels)
	if err != nil || math.Abs(got-h.Value) > 1e-6*h.Value {
		t.Errorf("%g, want %g: %v", got, h.Value, err)
	}
}

// TestRowsEndWithAndWithoutData checks that every row that needs no other program ends on the
// right data, and that rows without their data files are left out with a message.
func TestRowsEndWithAndWithoutData(t *testing.T) {
	d := diabetes(t)
	dir := t.TempDir()
	y := slices.Clone(d.Y)
	for i := range y {
		y[i] = math.Copysign(1, y[i]-140)
	}
	for _, name := range []string{"leukemia", "rcv1_dev", "reuters_places"} {
		file, err := os.Create(filepath.Join(dir, name+".svm"))
		if err != nil {
			t.Fatal(err)
		}
		if err := sparse.WriteSVMLight(file, d.X, y); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, goal := range All() {
		if !slices.Contains([]string{"S7", "S10", "S12", "O4", "O5"}, goal.Name) {
			continue
		}
		for _, where := range []string{dir, t.TempDir()} {
			r, err := goal.Run(t.Context(), studies.Options{Library: studies.Library{Dir: where}, Quick: true})
			if err != nil {
				t.Fatal(err)
			}
			table := r.Tables[goal.Name]
			if len(table.Rows) == 0 {
				t.Errorf("%s is empty", goal.Name)
			}
			for _, row := range table.Rows {
				if left := row[1] == "left out"; left != (where != dir) {
					t.Errorf("%s: %v", goal.Name, row)
				}
			}
		}
	}
}

// TestGlmnetAgreesAlongPaths checks that the cross-validation errors of glmnet equal those of
// pare, for the path of the Lasso and the diagonals of the elastic net, and that its
// coefficients are certified.
func TestGlmnetAgreesAlongPaths(t *testing.T) {
	if !*long {
		t.Skip("go test ./bench/goals -long starts glmnet")
	}
	d := diabetes(t)
	ids := fifths(len(d.Y))
	grid, points, err := gridOf(d.X, d.Y, 0.01, 12)
	if err != nil {
		t.Fatal(err)
	}
	square := diagonals(math.Exp(grid[0][0]), 0.01, 3)
	for m, points := range map[peers.Model]peers.Points{peers.Lasso: points, peers.ElasticNet: square} {
		g, err := peers.StartPaths(t.Context(), &peers.Problem{X: d.X, Y: d.Y, Model: m}, ids, points, true)
		if err != nil {
			t.Skip(err)
		}
		defer g.Close()
		a, err := g.Solve(t.Context(), 1e-18)
		if err != nil {
			t.Fatal(err)
		}
		if !(a.Gap < 1e-8) {
			t.Errorf("%s: a gap of %g", m, a.Gap)
		}
		var all [][]float64
		for _, line := range points {
			for _, p := range line {
				l := []float64{math.Log(p[0])}
				if m == peers.ElasticNet {
					l = append(l, math.Log(p[1]))
				}
				all = append(all, l)
			}
		}
		k := 0
		for e, err := range pare.Validate(t.Context(), d.X, d.Y, all, pare.Validation{FoldIDs: ids}, pare.Config{Model: pare.Model(m), NoIntercept: true, Tol: 1e-10}) {
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(e.Value-a.Values[k]) > 1e-6*e.Value {
				t.Errorf("%s, point %d: glmnet's error is %g, ours %g", m, k, a.Values[k], e.Value)
			}
			k++
		}
	}
}
