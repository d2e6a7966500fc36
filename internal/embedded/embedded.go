// Package embedded holds the one data set that travels with pare, so that the
// command and the examples have something to show without a download.
//
// It is the diabetes study of B. Efron, T. Hastie, I. Johnstone and
// R. Tibshirani, "Least angle regression", Annals of Statistics 32 (2004),
// 407–499: 442 patients; age, sex, body mass index, blood pressure and six
// blood serum measurements; the target is the progression of the disease a
// year later. The columns are centred and have unit l2 norm, the target is as
// measured: the version of scikit-learn 1.2.1 (sklearn.datasets.load_diabetes,
// Debian package python3-sklearn, BSD-3-Clause), written as LIBSVM text with
// 17 significant digits.
package embedded

import (
	"compress/gzip"
	"context"
	_ "embed"
	"strings"

	"github.com/seed-45b9a24c/pare/sparse"
)

// DiabetesRows and DiabetesColumns are the shape of the design matrix.
const (
	DiabetesRows    = 442
	DiabetesColumns = 10
)

//go:embed diabetes.svm.gz
var diabetes string

// DiabetesFile returns a new reader of the compressed file: gzip, LIBSVM text, one
// sample a line, indices from 1.
func DiabetesFile() *strings.Reader { return strings.NewReader(diabetes) }

// Diabetes reads it, as [sparse.ReadSVMLight] does.
func Diabetes(ctx context.Context, opt sparse.ReadOptions) (*sparse.CSC, []float64, error) {
	text, err := gzip.NewReader(DiabetesFile())
	if err != nil {
		return nil, nil, err
	}
	return sparse.ReadSVMLight(ctx, text, opt)
}
