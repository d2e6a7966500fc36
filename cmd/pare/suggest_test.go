package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
)

// TestFlagsOfOtherProgramsAreUnderstood lists flags that users of glmnet, scikit-learn and
// liblinear know, without hyphens, and the flags of pare that must be suggested for them.
func TestFlagsOfOtherProgramsAreUnderstood(t *testing.T) {
	for line, want := range map[string]string{
		// glmnet and cv.glmnet
		"nfolds foldid":                     "--folds --fold-ids",
		"family type.measure":               "--model --validation-loss",
		"nlambda lambda.min.ratio":          "--points --min-ratio",
		"lambda.1se penalty.factor":         "--one-se --penalty-factors",
		"lower.limits upper.limits exclude": "--lower --upper --drop",
		"thresh maxit parallel relax":       "--tol --evaluations --threads --relaxed",
		"standardise trace.it newx":         "--standardize --progress predict",
		// scikit-learn
		"cv n_splits n_jobs random_state":              "--folds --folds --threads --seed",
		"l1_ratio fit_intercept max_iter":              "--model=enet --intercept --evaluations",
		"n_alphas scoring positive_only":               "--points --validation-loss -",
		"verbose normalize sample_weight proba":        "--progress --standardize --sample-weights --scores",
		"class_weights multi_class warm_start":         "--class-weight multiclass --checkpoint",
		"Cs alphas eps":                                "select path --min-ratio",
		"target_column label delimiter timeout memory": "- --target separator --max-seconds --max-memory",
	} {
		wants := strings.Fields(want)
		for i, flag := range strings.Fields(line) {
			o := pareRun(t, "select", "--"+flag, "1")
			said, _, _ := strings.Cut(strings.TrimPrefix(o.stderr, "pare: --"+flag), `"pare select --help"`)
			said = strings.ReplaceAll(said, "--model enet", "--model=enet")
			want := wants[i]
			if o.code != exitUsage || want != "-" && !regexp.MustCompile(`[ ,;]`+regexp.QuoteMeta(want)+`\b`).MatchString(said) || want == "-" && strings.Contains(said, "--") {
				t.Errorf("--%s: exit %d, %q without %s", flag, o.code, said, want)
			}
		}
	}
}

// TestSuggestionsExist checks that every suggested flag is one of some command, and that every
// suggested name of a model is a value of a flag.
func TestSuggestionsExist(t *testing.T) {
	parser, err := newParser(io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{"version": true}
	for _, c := range parser.Model.Children {
		for _, name := range flags(c) {
			there[name] = true
			there["no-"+name] = true
		}
	}
	for from, to := range elsewhere {
		for _, m := range flagPattern.FindAllStringSubmatch(to, -1) {
			if !there[m[1]] {
				t.Errorf("%s: there is no --%s", from, m[1])
			}
		}
		if from != plain(from) {
			t.Errorf("%q is never looked up", from)
		}
	}
	for from, to := range otherNames {
		known := false
		for _, flag := range []string{"model", "loss", "penalty", "criterion", "validation-loss", "search"} {
			said := pareRun(t, "select", "--"+flag, from).stderr
			known = known || strings.Contains(said, ", perhaps "+to+";")
		}
		if !known {
			t.Errorf("no flag takes %s, said to be %s", to, from)
		}
	}
}

// TestSuggestedFitsLeaveColumnsApart checks that the command which a result suggests fits the
// same model: columns that define groups or folds are not features of it.
func TestSuggestedFitsLeaveColumnsApart(t *testing.T) {
	rows := lines("a,b,visit,y\n", 60, func(i int) string { return fmt.Sprintf("%d,%d,%d,%d\n", i*i%11, i*7%5, i%6, i*i%11+i%6) })
	file := writeFile(t, "visits.csv", rows)
	for _, flag := range []string{"--groups=visit", "--fold-ids=visit", "--groups=3"} {
		for _, command := range []string{"select", "path"} {
			args := append(proposed(t, pareRun(t, command, "--target=y", flag, file).stdout, "fit"), "--coef", "--json")
			if p := decoded[fitResult](t, exitOK, args...).P; p != 2 {
				t.Errorf("%s %s suggests pare %s, which has %d columns", command, flag, strings.Join(args, " "), p)
			}
		}
	}
	o := pareRun(t, "select", "--folds=3", "--groups="+writeFile(t, "groups", strings.Repeat("1\n2\n3\n", 20)), "--target=y", file)
	for command, wants := range map[string]bool{"fit": false, "path": true} { // whether the command takes a file of groups
		if line := proposed(t, o.stdout, command); strings.Contains(strings.Join(line, " "), "--groups") != wants {
			t.Errorf("%q", line)
		}
	}
}
