package bilevel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestMergeIsWhatPairsSay checks merging against brute force: all pairs of columns are compared on the training
// rows of every fold until no two are alike, and each group is replaced by its signed mean. Some groups are
// connected only through a third column in another fold.
func TestMergeIsWhatPairsSay(t *testing.T) {
	merges := 0
	for seed := range uint64(40) {
		r := oracle.NewRandom(7300 + seed)
		n, p, folds := 9, 4+r.Intn(9), 2+r.Intn(2)
		spec := bilevel.Spec{Folds: make(bilevel.Folds, n), Intercept: seed%2 == 0}
		for i := range spec.Folds {
			if spec.Folds[i] = i % folds; i > 5 {
				spec.Folds[i] = bilevel.AlwaysTrain
			}
		}
		q := &oracle.Problem{Y: make([]float64, n), Alpha: make([]float64, p), X: make([][]float64, n)}
		for i := range n {
			q.X[i], q.Y[i] = make([]float64, p), r.Normal()
		}
		for j := range p {
			of, sign, fold := -1, 1., r.Intn(folds)
			if j > 1 && r.Intn(3) > 0 {
				of, sign = r.Intn(j), r.Pick(1, -1)
			}
			for i := range n {
				switch {
				case of < 0 && r.Intn(4) > 0, of >= 0 && spec.Folds[i] == fold && r.Intn(2) == 0: // a copy differs in some rows that one fold holds out
					q.X[i][j] = float64(1 + r.Intn(50))
				case of >= 0:
					q.X[i][j] = sign * q.X[i][of]
				}
			}
		}
		if seed%4 == 0 { // two columns that are 0 on the training rows of all folds but one, which does not make them copies of each other
			for i := range n {
				for j := range 2 {
					if q.X[i][j] = 0; spec.Folds[i] == 0 {
						q.X[i][j] = float64(1 + r.Intn(50))
					}
				}
			}
		}
		merged, group, err := bilevel.Merge(fixture.Kernels(t), fixture.Matrix(t, q, seed%3 == 0), spec, false)
		if err != nil {
			t.Fatal(err)
		}
		// By definition: the current columns, and the current column to which each column of X belongs.
		var columns [][]float64
		at := make([]int32, p)
		for j := range p {
			column := make([]float64, n)
			for i := range n {
				column[i] = q.X[i][j]
			}
			columns, at[j] = append(columns, column), int32(j)
		}
		alike := func(a, b []float64, sign float64) bool {
			for fold := range folds {
				same, some := true, false
				for i := range n {
					if spec.Folds[i] != fold {
						same = same && a[i] == sign*b[i]
						some = some || a[i] != 0
					}
				}
				if same && some {
					return true
				}
			}
			return false
		}
		for {
			root, sign := make([]int, len(columns)), make([]float64, len(columns))
			for j := range columns {
				root[j], sign[j] = j, 1
			}
			found := false
			for range columns { // until the partition no longer changes
				for a := range columns {
					for b := range a {
						for _, s := range []float64{1, -1} {
							if root[a] != root[b] && alike(columns[a], columns[b], s) {
								least, most, turn := min(root[a], root[b]), max(root[a], root[b]), s*sign[a]*sign[b]
								for k := range root {
									if root[k] == most {
										root[k], sign[k] = least, turn*sign[k]
									}
								}
								found = true
							}
						}
					}
				}
			}
			if !found {
				break
			}
			merges++
			place, means, count := map[int]int32{}, [][]float64(nil), []float64(nil)
			for j, column := range columns {
				if root[j] == j {
					place[j] = int32(len(means))
					means, count = append(means, make([]float64, n)), append(count, 0)
				}
				k := place[root[j]]
				count[k]++
				for i, v := range column {
					means[k][i] += sign[j] * v
				}
			}
			for k, mean := range means {
				for i := range mean {
					mean[i] /= count[k]
				}
			}
			for j, k := range at {
				at[j] = place[root[k]]
			}
			columns = means
		}
		if !slices.Equal(group, at) {
			t.Errorf("seed %d: groups %v, by pairs %v", seed, group, at)
			continue
		}
		for j, want := range columns {
			got := make([]float64, n)
			rows, values := merged.Column(j)
			for k, v := range values {
				i := k
				if rows != nil {
					i = int(rows[k])
				}
				got[i] = v
			}
			for i := range want {
				if !(math.Abs(got[i]-want[i]) <= 1e-13*math.Abs(want[i])) {
					t.Errorf("seed %d: column %d is %v, want %v", seed, j, got, want)
					break
				}
			}
		}
	}
	if merges < 20 {
		t.Errorf("%d merges", merges)
	}
}
