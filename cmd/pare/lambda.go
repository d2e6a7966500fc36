package main

import (
	"errors"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// lambdaFlags are the flags that state one λ.
type lambdaFlags struct {
	LogLambda string `placeholder:"λ,..." help:"λ = ln α: one value for all, one per hyperparameter, or @FILE with one per line." group:"Strength (one of these)"`
	Ratio     string `placeholder:"R,..." help:"α/αmax, given in the same way; 0.01 is a hundredth of the strength that makes every coefficient zero." group:"Strength (one of these)"`
	Alpha     string `placeholder:"α,..." help:"α itself: the alpha of scikit-learn, the lambda of glmnet (not svm)." group:"Strength (one of these)"`
	C         string `name:"C" placeholder:"C" help:"logreg, multiclass and svm: the C of scikit-learn and liblinear, α = 1/(nC)." group:"Strength (one of these)"`
}

// strengths are the values of one of these flags.
type strengths struct {
	flag   string
	values []float64
}

// stated returns the flags that were given, and their values.
func (f lambdaFlags) stated() (flags, texts []string) {
	for _, one := range []struct{ flag, text string }{{"log-lambda", f.LogLambda}, {"ratio", f.Ratio}, {"alpha", f.Alpha}, {"C", f.C}} {
		if one.text != "" {
			flags, texts = append(flags, one.flag), append(texts, one.text)
		}
	}
	return flags, texts
}

// strengths parses the values, before any data are read.
func (f lambdaFlags) strengths(command string) (strengths, error) {
	flags, texts := f.stated()
	switch len(flags) {
	case 0:
		return strengths{}, outcome.Errorf(outcome.Usage,
			"%s needs a strength: give --ratio α/αmax, for example --ratio 0.01, or --log-lambda with λ = ln α; pare select chooses λ for you", command)
	case 1:
	default:
		return strengths{}, outcome.At(outcome.Usage, flags[1], "--%s and --%s both give the strength; use one of them", flags[0], flags[1])
	}
	values, err := parseList(flags[0], texts[0])
	if err != nil || flags[0] == "log-lambda" {
		return strengths{flags[0], values}, err
	}
	for _, v := range values {
		switch {
		case flags[0] == "ratio" && (!(v >= 0) || math.IsInf(v, 1)):
			return strengths{}, outcome.At(outcome.BadParameter, "ratio", "must be finite and not negative, for example 0.01; got %g", v)
		case flags[0] != "ratio" && (!(v > 0) || math.IsInf(v, 1)):
			return strengths{}, outcome.At(outcome.BadParameter, flags[0], "must be positive and finite, got %g", v)
		}
	}
	return strengths{flags[0], values}, nil
}

// logLambda returns λ for a problem on the data.
func (s strengths) logLambda(common commonFlags, d *dataset) ([]float64, error) {
	values, err := s.spread(common.problemFlags, d, common.Model.Hyperparameters(d.x, d.y))
	if err != nil || s.flag == "log-lambda" {
		return values, err
	}
	if s.flag != "ratio" {
		return s.logarithms(common, d, values)
	}
	if common.stated.traits.Samples {
		return nil, outcome.At(outcome.Usage, "ratio", "%s has no αmax; give --log-lambda instead, whose first value is ln C", common.Model)
	}
	top, err := common.alphaMax(d, "give --log-lambda instead of --ratio")
	if err != nil {
		return nil, err
	}
	for i, ratio := range values {
		if ratio == 0 && !common.on(pare.EachColumn) {
			return nil, outcome.At(outcome.BadParameter, "ratio", "must be positive; for nearly no penalty give 1e-6, or leave columns unpenalised with wlasso")
		}
		values[i] = top[i] + kernels.Log(ratio)
	}
	return values, nil
}

// stated replaces the flag log-lambda in an error by the flag that was given.
func (s strengths) stated(err error) error {
	if e, ok := errors.AsType[*outcome.Error](err); ok && e.Flag == "log-lambda" {
		own := *e
		own.Flag = s.flag
		return &own
	}
	return err
}

// logarithms converts values of --alpha and --C into λ.
func (s strengths) logarithms(common commonFlags, d *dataset, values []float64) ([]float64, error) {
	classifier := common.stated.traits.Link == loss.Logit
	switch {
	case s.flag == "C" && !classifier && !common.stated.traits.Samples:
		return nil, outcome.At(outcome.Usage, "C", "applies only to logreg, multiclass and svm; for %s give --alpha, the alpha of scikit-learn and the lambda of glmnet", common.Model)
	case s.flag == "alpha" && common.stated.traits.Samples:
		return nil, outcome.At(outcome.Usage, "alpha", "the strength of %s is C; give --C", common.Model)
	case s.flag == "C" && common.on(pare.CostAndTube):
		return nil, outcome.At(outcome.Usage, "C", "%s has two strengths; give ln C and ln ε with --log-lambda", common.Model)
	}
	rows := float64(len(d.y))
	if d.weights != nil {
		rows = 0
		for _, w := range d.weights {
			rows += w
		}
	}
	for i, v := range values {
		if values[i] = kernels.Log(v); s.flag == "C" && classifier {
			values[i] = -kernels.Log(v * rows) // C times a sum is 1/n times the sum with α = 1/(nC)
		}
	}
	return values, nil
}

// alphaMax returns ln αmax for every hyperparameter. If one is ln 0, it returns an error that names the
// consequence.
func (f commonFlags) alphaMax(d *dataset, consequence string) ([]float64, error) {
	top, err := pare.LogLambdaMax(d.x, d.y, f.config(d))
	if err != nil || len(top) > 0 && !slices.Contains(top, math.Inf(-1)) {
		return top, err
	}
	why := "the target does not depend on any penalised column, or only with a sign that is not allowed"
	if f.stated.traits.Dense {
		why = "no column varies"
	}
	return nil, outcome.Errorf(outcome.BadParameter, "αmax is 0, because %s: %s", why, consequence)
}

// spread returns one value per hyperparameter. For the weighted Lasso a list may have one value per column of
// the file, or per column that preparation left.
func (s strengths) spread(problem problemFlags, d *dataset, r int) ([]float64, error) {
	out := make([]float64, r)
	switch n := len(s.values); {
	case n == r:
		copy(out, s.values)
	case n == 1:
		for i := range out {
			out[i] = s.values[0]
		}
	case problem.on(pare.EachColumn) && n == d.prepared.Columns:
		for i, j := range d.prepared.Kept {
			out[i] = s.values[j]
		}
	default:
		return nil, outcome.At(outcome.Usage, s.flag, "%d values given, but %s has %s: give as many, or one for all", n, problem.Model, hyperparameters(problem, r))
	}
	return out, nil
}

func hyperparameters(problem problemFlags, r int) string {
	switch problem.stated.traits.Strengths {
	case pare.L1AndRidge, pare.GroupAndRidge, pare.L1AndGroup:
		names := pairOf(problem.stated.traits.Strengths)
		return "2 hyperparameters (" + names[0] + ", then " + names[1] + ")"
	case pare.CostAndTube:
		return "2 hyperparameters (ln C, then ln ε)"
	case pare.EachColumn:
		return count(r) + " (one per column)"
	case pare.EachClass:
		return count(r) + " (one per class, labels ascending)"
	default:
		return "1 hyperparameter"
	}
}
