package main

import (
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare"
)

// command returns a command line for the same data and problem, "" if the command does not serve the model.
func (a asked) command(name string, flags ...string) string {
	if name == "path" && a.stated.traits.Samples {
		return ""
	}
	args := append([]string{"pare", name}, flags...)
	add := func(set bool, flag string) {
		if set {
			args = append(args, flag)
		}
	}
	add(a.Model != pare.Models()[0], "--model="+string(a.Model))
	add(a.lossBeside() != "", "--loss="+a.lossBeside())
	add(a.Delta != "", "--delta="+quote(a.Delta))
	add(a.Power != nil, "--power="+short(given(a.Power, 0)))
	add(!given(a.Intercept, true), "--intercept=false")
	add(a.stated.traits.Bare && given(a.Intercept, false), "--intercept")
	add(a.Positive, "--positive")
	add(a.Standardize, "--standardize")
	add(a.Tol != 1e-6, "--tol="+short(a.Tol))
	if name == "select" {
		add(a.Method != "implicit", "--method="+a.Method)
		add(a.Solver != "", "--solver="+a.Solver)
	}
	judges := name != "fit"
	apart := func(column string) bool { // a fit leaves such a column out, too
		_, is := a.data.Aside[column]
		return is && column != ""
	}
	add((judges || apart(a.FoldIDs)) && a.FoldIDs != "", "--fold-ids="+quote(a.FoldIDs))
	add((judges || apart(a.Groups)) && a.Groups != "", "--groups="+quote(a.Groups))
	if judges {
		add(a.Criterion != pare.CV, "--criterion="+string(a.Criterion))
		add(a.ValidationLoss != "", "--validation-loss="+a.ValidationLoss)
		add(a.Sigma != nil, "--sigma="+short(given(a.Sigma, 0)))
		add(a.Split != pare.ByRow, "--split="+string(a.Split))
		add(given(a.Folds, 5) != 5, "--folds="+strconv.Itoa(given(a.Folds, 5)))
		add(!given(a.Shuffle, true), "--shuffle=false")
		add(a.Seed != 0, "--seed="+strconv.FormatUint(a.Seed, 10))
	}
	a.repeat(add)
	add(a.Features != 0, "--features="+strconv.Itoa(a.Features))
	add(a.MinNNZ != 0, "--min-nnz="+strconv.Itoa(a.MinNNZ))
	add(a.UnitRows, "--unit-rows")
	add(a.UnitColumns, "--unit-columns")
	add(a.ClassWeight != "", "--class-weight="+quote(a.ClassWeight))
	add(a.ClassWeight != "" && a.WeighIn != "both", "--class-weight-in="+a.WeighIn)
	add(a.PenaltyFactors != "", "--penalty-factors="+quote(a.PenaltyFactors))
	add(a.Lower != "", "--lower="+quote(a.Lower))
	add(a.Upper != "", "--upper="+quote(a.Upper))
	a.repeatGroups(add)
	add(a.Tau != nil, "--tau="+short(given(a.Tau, 0)))
	add(a.Gamma != nil, "--gamma="+short(given(a.Gamma, 0)))
	add(a.A != nil, "--a="+short(given(a.A, 0)))
	add(a.Weights != "", "--sample-weights="+quote(a.Weights))
	add(a.Offset != "", "--offset="+quote(a.Offset))
	add(a.File != "", quote(a.File))
	return strings.Join(args, " ")
}

// quote quotes a file name so that it can be pasted into a shell.
func quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("+-./:=@_", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
