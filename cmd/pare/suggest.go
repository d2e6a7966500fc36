package main

import "strings"

// known are flags of other programs, in the words of those who come from there, and what
// does the same here.
var known = map[string]string{
	"lambda":           "--log-lambda takes λ = ln α, --ratio takes α/αmax, --alpha takes α, which is the lambda of glmnet",
	"l1-ratio":         "--model enet takes two strengths, ℓ1 then ridge: --alpha α·l1_ratio,α·(1−l1_ratio)",
	"cv":               "--folds",
	"nfolds":           "--folds",
	"n-folds":          "--folds",
	"kfold":            "--folds",
	"foldid":           "--fold-ids",
	"penalty":          "--model",
	"family":           "--model",
	"type":             "--model",
	"nlambda":          "--points",
	"n-alphas":         "--points",
	"n-lambdas":        "--points",
	"lambda-min-ratio": "--min-ratio",
	"eps":              "--min-ratio for a path, --tol for the precision",
	"thresh":           "--tol",
	"epsilon":          "--tol",
	"max-iter":         "--evaluations for the search; solves end by --tol",
	"maxit":            "--evaluations for the search; solves end by --tol",
	"n-iter":           "--evaluations",
	"n-jobs":           "--threads",
	"jobs":             "--threads",
	"cores":            "--threads",
	"parallel":         "--threads",
	"random-state":     "--seed",
	"random-seed":      "--seed",
	"normalize":        "--standardize",
	"scale":            "--standardize",
	"fit-intercept":    "--intercept, or --no-intercept",
	"bias":             "--intercept",
	"non-negative":     "--positive",
	"lower-limits":     "--positive for coefficients of 0 or more",
	"weight":           "--sample-weights",
	"sample-weight":    "--sample-weights",
	"lambda-1se":       "the one-SE rule of select",
	"verbose":          "--progress",
	"output":           "--report for a page, --save for the model, --json for numbers",
	"out":              "--report for a page, --save for the model, --json for numbers",
	"silent":           "--quiet",
	"proba":            "--scores",
	"probability":      "--scores",
	"q":                "--quiet",
	"v":                "--progress",
	"o":                "--report for a page, --save for the model",
	"j":                "--threads",
	"s":                "--model",
	"e":                "--tol",
	"c":                "--C, of fit with --model logreg or svm",
}

// suggestion is what a flag of another program is called here, "" where that is not
// known. Words may be joined by _ and ., as in Python and R.
func suggestion(flag string) string {
	return known[strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(flag))]
}
