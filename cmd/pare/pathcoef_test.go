package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPathCoefficientsAreThoseOfFits checks that the coefficients along a path are those of
// fits at its points, in the JSON and in the text, for models with one predictor and with one
// per class.
func TestPathCoefficientsAreThoseOfFits(t *testing.T) {
	for _, more := range [][]string{nil, {"--model=enet", "--no-intercept"}, {"--model=multiclass", relabelled(t, thirds)}} {
		path := append([]string{"path", "--points=4", "--coef", "--tol=1e-12"}, more...)
		r := decoded[pathResult](t, exitOK, path...)
		entries := 0
		for _, point := range r.Points {
			var lambda []string
			for _, l := range point.LogLambda {
				lambda = append(lambda, strconv.FormatFloat(float64(l), 'g', -1, 64))
			}
			fit := decoded[fitResult](t, exitOK, append([]string{"fit", "--coef", "--tol=1e-12", "--log-lambda=" + strings.Join(lambda, ",")}, more...)...)
			if (point.Coef == nil) != (fit.Coef == nil) || len(point.Classes) != len(fit.Classes) {
				t.Fatalf("%v: the point has other parts than the fit", path)
			}
			if point.Coef != nil {
				entries += len(point.Coef.Index)
				if !slices.Equal(point.Coef.Index, fit.Coef.Index) || *point.Intercept-fit.Intercept > 1e-6 {
					t.Errorf("%v: %v and %v, fit %v and %v", path, point.Coef, *point.Intercept, fit.Coef, fit.Intercept)
				}
			}
			for k, one := range point.Classes {
				entries += len(one.Coef.Index)
				if !slices.Equal(one.Coef.Index, fit.Classes[k].Coef.Index) {
					t.Errorf("%v, class %v: columns %v, fit %v", path, one.Label, one.Coef.Index, fit.Classes[k].Coef.Index)
				}
			}
		}
		listed := 0
		for line := range strings.Lines(pareRun(t, path...).stdout) {
			if fields := strings.Fields(line); len(fields) > 2 && strings.ContainsAny(fields[0], ".") && !strings.Contains(line, "e-") && len(fields) <= 5 {
				listed++
			}
		}
		if listed < entries {
			t.Errorf("%v: %d coefficients, the text lists %d", path, entries, listed)
		}
	}
}

// TestPathWithoutGaps checks that the table shows no gap for points without a known duality
// gap.
func TestPathWithoutGaps(t *testing.T) {
	o := pareRun(t, "path", "--model=mcp", "--standardize", "--points=3")
	if o.code != exitOK || strings.Contains(o.stdout, "NaN") || !strings.Contains(flat(o.stdout), " gap sweeps") || strings.Count(flat(o.stdout), " - ") != 3 {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}
