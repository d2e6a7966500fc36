package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// elsewhere maps flags and arguments of other programs to their names here, or to what has the same effect.
var elsewhere = map[string]string{
	// Strengths.
	"lambda":     "give λ = ln α with --log-lambda, α/αmax with --ratio, or α, the lambda of glmnet, with --alpha",
	"lambdas":    "path makes its own grid from --points and --min-ratio; fit takes one --alpha at a time",
	"alphas":     "path makes its own grid from --points and --min-ratio; fit takes one --alpha at a time",
	"cs":         "select finds the strength itself; fit --model logreg takes one --C",
	"l1":         "fit takes the strength of the ℓ1 penalty with --alpha or --ratio",
	"l2":         "--model ridge, or --model enet with two strengths, ℓ1 then ridge",
	"l1-ratio":   "--model enet with two strengths, ℓ1 then ridge: --alpha α·l1_ratio,α·(1−l1_ratio)",
	"lambda-1se": "--one-se",
	"lambda-min": "select chooses the minimum, and --one-se the one-standard-error rule",
	"1se":        "--one-se",
	"onese":      "--one-se",
	// Grids and folds.
	"nlambda":          "--points",
	"n-alphas":         "--points",
	"n-lambdas":        "--points",
	"lambda-min-ratio": "--min-ratio",
	"eps":              "--min-ratio for a path, --tol for the precision",
	"param-grid":       "--search grid, with --points and --min-ratio",
	"grid":             "--search grid, with --points and --min-ratio",
	"cv":               "--folds",
	"nfolds":           "--folds",
	"n-folds":          "--folds",
	"n-splits":         "--folds",
	"kfold":            "--folds",
	"k":                "--folds",
	"fold":             "--folds",
	"cross-validation": "--folds",
	"foldid":           "--fold-ids",
	"stratify":         "--split stratified",
	"stratified":       "--split stratified",
	"test-size":        "--criterion holdout, which holds out one of --folds",
	"scoring":          "--validation-loss",
	"metric":           "--validation-loss",
	"type-measure":     "--validation-loss",
	// Models.
	"family":      "--model",
	"type":        "--model",
	"multi-class": "--model multiclass, or --loss multinomial for softmax",
	"epsilon":     "--delta for huber, --tol for the precision; svr takes ln C and ln ε with --log-lambda",
	// The inner problem.
	"normalize":      "--standardize",
	"standardise":    "--standardize",
	"scale":          "--standardize",
	"fit-intercept":  "--intercept, or --no-intercept",
	"bias":           "--intercept",
	"non-negative":   "--positive",
	"lower-limits":   "--lower, or --positive for coefficients of 0 or more",
	"upper-limits":   "--upper",
	"exclude":        "--drop, or --penalty-factors COLUMN=inf",
	"relax":          "--relaxed",
	"weight":         "--sample-weights",
	"wi":             "--class-weight CLASS:W",
	"penalty-factor": "--penalty-factors",
	"sample-weight":  "--sample-weights",
	"balanced":       "--class-weight balanced",
	"exposure":       "--offset with its logarithm",
	// The work.
	"thresh":      "--tol",
	"max-iter":    "--evaluations for the search; solves end by --tol",
	"maxit":       "--evaluations for the search; solves end by --tol",
	"n-iter":      "--evaluations",
	"n-jobs":      "--threads",
	"jobs":        "--threads",
	"nthread":     "--threads",
	"cores":       "--threads",
	"parallel":    "--threads",
	"timeout":     "--max-seconds",
	"time-limit":  "--max-seconds",
	"memory":      "--max-memory",
	"mem":         "--max-memory",
	"dfmax":       "nothing limits the support; --evaluations and --max-seconds limit the work",
	"pmax":        "nothing limits the support; --evaluations and --max-seconds limit the work",
	"warm-start":  "searches always use warm starts; --checkpoint resumes an interrupted search",
	"random":      "--search random",
	"random-seed": "--seed",
	// Data.
	"random-state": "--seed",
	"y":            "--target",
	"label":        "--target",
	"response":     "--target",
	"outcome":      "--target",
	"ignore":       "--drop",
	"group":        "--groups for folds, --column-groups for penalties",
	"sep":          "not needed: the separator is detected",
	"delimiter":    "not needed: the separator is detected",
	"csv":          "not needed: the format is detected; give only the file",
	"format":       "not needed: the format is detected",
	"input":        "give the file without a flag: pare select FILE",
	"file":         "give the file without a flag: pare select FILE",
	"data":         "give the file without a flag: pare select FILE",
	"x":            "give the file without a flag: pare select FILE",
	"newx":         "give the file without a flag: pare predict MODEL FILE",
	// What is printed.
	"verbose":       "--progress",
	"trace-it":      "--progress",
	"silent":        "--quiet",
	"output":        "--report for a page, --save for the model, --json for numbers",
	"out":           "--report for a page, --save for the model, --json for numbers",
	"save-model":    "--save",
	"model-file":    "--save",
	"load":          "predict reads what --save wrote: pare predict MODEL FILE",
	"proba":         "--scores",
	"probability":   "--scores",
	"predict-proba": "--scores",
	"coefficients":  "--coef",
	"beta":          "--coef",
	"version":       "pare --version, without a command",
	// Letters, as in liblinear and svmlight.
	"b": "--intercept, which is not penalised, or --scores of predict",
	"c": "--C, of fit with --model logreg or svm",
	"e": "--tol",
	"j": "--threads",
	"n": "--threads",
	"o": "--report for a page, --save for the model",
	"p": "with --model svr, ε is the second value of --log-lambda ln C,ln ε",
	"q": "--quiet",
	"s": "--model, where logreg is type 6 of liblinear and svm type 3",
	"t": "--target",
	"v": "--folds for cross-validation, --progress for more output",
	"w": "--class-weight CLASS:W",
}

// otherNames maps names of models, losses and penalties in other programs to their names here.
var otherNames = map[string]string{
	"elastic-net": "enet", "elasticnet": "enet", "elastic": "enet",
	"gaussian": "lasso", "linear": "lasso", "squared-error": "squared", "mse": "squared", "l2": "ridge",
	"logistic": "logreg", "binomial": "logreg", "logistic-regression": "logreg", "log-loss": "logistic", "logit": "logreg",
	"softmax": "multinomial", "ovr": "multiclass", "linearsvc": "svm", "svc": "svm", "hinge": "svm", "linearsvr": "svr",
	"adaptive": "wlasso", "weighted": "wlasso", "group-lasso": "group", "grouplasso": "group", "glasso": "group", "none": "l1", "lasso": "l1",
	"kfold": "cv", "accuracy": "misclassification", "error": "misclassification", "rmse": "mse", "squared": "mse", "log": "logistic", "deviance": "logistic",
	"bayesian": "tpe", "optuna": "tpe", "bfgs": "lbfgs", "gd": "gradient",
}

// plain returns a name in lower case, with its words joined by hyphens rather than as in Python and R.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
}

// instead suggests a flag for one that does not exist.
func instead(flag string, there []string) string {
	if s := equivalent(flag); s != "" {
		return s
	}
	return perhaps(flag, there, "--")
}

// equivalent returns what has the effect of another program's flag, "" if that is not known.
func equivalent(flag string) string {
	switch s := elsewhere[plain(flag)]; {
	case s == "":
		return ""
	case strings.HasPrefix(s, "--"):
		return "; here it is " + s
	default:
		return "; " + s
	}
}

// perhaps suggests the name of there that is nearest to what was written, "" if none is near.
func perhaps(written string, there []string, prefix string) string {
	if name := nearest(written, there); name != "" {
		return ", perhaps " + prefix + name
	}
	return ""
}

// nearest returns the name that was probably meant: the one that other programs call so, the only one with this
// beginning, or the one with the fewest letters to change.
func nearest(written string, there []string) string {
	word := plain(written)
	if name := otherNames[word]; slices.Contains(there, name) {
		return name
	}
	if len(word) > 2 {
		begins := func(name string) bool { return strings.HasPrefix(name, word) }
		if k := slices.IndexFunc(there, begins); k >= 0 && !slices.ContainsFunc(there[k+1:], begins) {
			return there[k]
		}
	}
	best, least := "", 2+utf8.RuneCountInString(word)/5
	for _, name := range there {
		if d := changes(word, plain(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// changes returns the Levenshtein distance of a and b: the number of letters to insert, delete or replace.
func changes(a, b string) int {
	to := []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range []rune(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
