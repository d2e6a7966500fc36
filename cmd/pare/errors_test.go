package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestUsageErrorsNameWhatThereIs checks that an invalid command line ends with exit status 2
// and lists the valid alternatives.
func TestUsageErrorsNameWhatThereIs(t *testing.T) {
	for i, test := range []struct {
		args string
		flag string
		want []string
	}{
		{"predict", "", []string{"pare predict MODEL FILE", "--save"}},
		{"slect", "", []string{`"slect"`, "select, fit, grad, report, path, predict, convert, inspect, info"}},
		{"--quiet", "quiet", []string{"select, fit, grad, report, path, predict, convert, inspect, info"}},
		{"select one two", "", []string{"two"}},
		{"select --model forest", "model", []string{`"forest"`, "lasso, enet, wlasso, ridge, logreg, poisson, gamma, tweedie, huber, squared_hinge, multiclass, svm, svr, simplex_svr"}},
		{"select --model svm --standardize", "standardize", []string{"only with an intercept; fit one"}},
		{"fit --model svr --ratio 0.1", "ratio", []string{"no αmax", "ln C"}},
		{"select --model svr --method forward", "method", []string{"only method implicit"}},
		{"select --model wlasso --search grid", "search", []string{"too many for grid", "gradient"}},
		{"path --model svm", "model", []string{"no αmax", "select"}},
		{"select --search luck", "search", []string{`"luck"`, "auto, gradient, linesearch, lbfgs, adam, grid, random, halton, tpe"}},
		{"select --criterion tea", "criterion", []string{`"tea"`, "cv, holdout, sure, aic, bic"}},
		{"select --criterion tea --folds 3", "criterion", []string{`"tea"`, "cv, holdout, sure, aic, bic"}},
		{"grad --ratio 1 --method sideways", "method", []string{`"sideways"`, "implicit, forward, backward"}},
		{"grad --ratio 1 --method forward --solver newton", "solver", []string{`"newton"`, "cd, pgd"}},
		{"grad --ratio 1 --solver newton", "solver", []string{`"newton"`, "cd"}},
		{"fit --ratio 1 --solver pgd", "solver", []string{"forward and backward", "cd"}},
		{"fit --ratio 1 --method backward", "method", []string{"fit computes no hypergradient", "grad and select"}},
		{"path --method backward", "method", []string{"path computes no hypergradient", "grad and select"}},
		{"grad --ratio 1 --model multiclass --method forward", "method", []string{"multiclass is supported by method implicit only"}},
		{"select --unit-rows --min-nnz 2 --save model", "save", []string{"--min-nnz", "leave out"}},
		{"select --standardize --model svm", "standardize", []string{"svm", "scale the columns in the data"}},
		{"select --positive --model ridge", "positive", []string{"ridge", "ℓ1 or elastic net penalty"}},
		{"fit --positive --model multinomial --ratio 0.1", "positive", []string{"except multinomial ones"}},
		{"select --one-hot", "one-hot", []string{"applies only to tables", "svmlight text"}},
		{"select --missing mean", "missing", []string{"applies only to tables", "svmlight text"}},
		{"select --header", "header", []string{"applies only to tables of text", "svmlight text"}},
		{"fit --no-header --ratio 1", "header", []string{"applies only to tables of text", "svmlight text"}},
		{"fit --ratio 1 --penalty-factors 1=0,1=2", "penalty-factors", []string{"column 1 has two values"}},
		{"fit --ratio 1 --columns 1,1", "columns", []string{"column 1 is listed twice"}},
		{"select --min-nnz 1000", "min-nnz", []string{"leaves out all of 10 columns", "1,000 nonzeros"}},
		{"select --model multiclass --per-class --one-se", "one-se", []string{"one α/αmax for all classes", "--per-class"}},
		{"fit --positive --model wlasso --log-lambda=-inf", "positive", []string{"ℓ1 strength"}},
		{"select --sigma 1", "sigma", []string{"sure, aic and bic"}},
		{"select --criterion sure --sigma 0", "sigma", []string{"positive"}},
		{"select --criterion sure --model huber", "criterion", []string{"for huber use cv, holdout, alo or gcv"}},
		{"select --criterion sure --model mcp", "criterion", []string{"for mcp use cv or holdout"}},
		{"select --criterion sure --fold-ids file", "fold-ids", []string{"cv and holdout"}},
		{"select --criterion sure --folds 5", "folds", []string{"cv and holdout", "all rows"}},
		{"select --criterion aic --shuffle", "shuffle", []string{"cv and holdout", "all rows"}},
		{"select --shuffle --split forward", "shuffle", []string{"forward", "determine the folds"}},
		{"select --points 5", "points", []string{"grid", "with auto use --evaluations"}},
		{"select --search tpe --points 5", "points", []string{"grid"}},
		{"select --min-ratio 0.1", "min-ratio", []string{"grid, random, halton and tpe"}},
		{"select --search grid --start 0.1", "start", []string{"grid", "such as gradient"}},
		{"select --start 0.1", "start", []string{"auto", "begins at αmax"}},
		{"select --search halton --tol-schedule exact", "tol-schedule", []string{"same tolerance", "auto"}},
		{"select --per-class", "per-class", []string{"lasso has a single predictor", "multiclass"}},
		{"select --model multiclass --per-class --search grid", "per-class", []string{"one α/αmax", "gradient"}},
		{"fit --ratio 1 --per-class", "per-class", []string{"a flag of select and report, not of fit"}},
		{"select --tol-schedule steep", "tol-schedule", []string{`"steep"`, "auto, exact, approx"}},
		{"fit --ratio 1 --tol-schedule exact", "tol-schedule", []string{"a flag of select and report, not of fit"}},
		{"select --seed -1", "seed", []string{`expected a whole number of 0 or more, got "-1"`}},
		{"select --folds 2.5", "folds", []string{`expected a whole number, got "2.5"`}},
		{"select --tol small", "tol", []string{`expected a number, got "small"`}},
		{"select --frobnicate", "frobnicate", []string{"unknown flag"}},
		{"select -q", "", []string{"unknown flag -q", "--quiet"}},
		{"select --foldz 3", "foldz", []string{"perhaps --folds"}},
		{"select --stand", "stand", []string{"perhaps --standardize"}},
		{"select --class_weights balanced", "class_weights", []string{"perhaps --class-weight"}},
		{"select --model softmax", "model", []string{"perhaps multinomial"}},
		{"select --model lassso", "model", []string{"perhaps lasso"}},
		{"select --model ElasticNet", "model", []string{"perhaps enet"}},
		{"select --cv 5", "cv", []string{"--folds"}},
		{"select --lambda 1", "lambda", []string{"--log-lambda", "--ratio", "--alpha"}},
		{"select --l1_ratio 1", "l1_ratio", []string{"enet"}},
		{"select --n_jobs 2", "n_jobs", []string{"--threads"}},
		{"select --lambda.min.ratio 0.1", "lambda.min.ratio", []string{"--min-ratio"}},
		{"select --alpha 1", "alpha", []string{"a flag of fit and grad, not of select; select chooses"}},
		{"fit -c 1", "", []string{"unknown flag -c", "--C"}},
		{"fit --C 1", "C", []string{"logreg, multiclass and svm", "--alpha"}},
		{"fit --alpha 0", "alpha", []string{"positive"}},
		{"fit --alpha 1e-320", "alpha", []string{"underflows"}},
		{"grad --ratio 1e-320", "ratio", []string{"underflows"}},
		{"fit --model svm --alpha 1", "alpha", []string{"--C"}},
		{"fit --alpha 1 --ratio 1", "alpha", []string{"one of them"}},
		{"select --ratio 1", "ratio", []string{"a flag of fit and grad, not of select"}},
		{"fit --ratio 1 --output page.html", "output", []string{"a flag of report and predict, not of fit; here it is --report"}},
		{"fit --ratio 1 --points 3", "points", []string{"a flag of select, report and path, not of fit"}},
		{"fit", "", []string{"--ratio", "--log-lambda", "pare select"}},
		{"grad", "", []string{"--ratio", "--log-lambda"}},
		{"fit --quiet --ratio", "ratio", []string{"missing"}},
		{"fit --ratio --quiet", "ratio", []string{"missing"}},
		{"fit --columns 1,-2 --ratio 1", "columns", []string{"minus sign", "--columns=VALUE"}},
		{"fit --ratio 1 --log-lambda 1", "ratio", []string{"one of them"}},
		{"fit --ratio 1,2", "ratio", []string{"2 values", "1 hyperparameter"}},
		{"fit --model enet --ratio 1,2,3", "ratio", []string{"3 values", "ℓ1, then ridge"}},
		{"fit --model wlasso --ratio 1,2,3", "ratio", []string{"3 values", "10 (one per column)"}},
		{"fit --ratio one", "ratio", []string{`"one" is not a number`}},
		{"fit --ratio nan", "ratio", []string{"not a number"}},
		{"fit --ratio 0x1", "ratio", []string{"not a number"}},
		{"fit --ratio=-1", "ratio", []string{"negative"}},
		{"fit --ratio 0", "ratio", []string{"no penalty"}},
		{"fit --log-lambda 800", "log-lambda", []string{"overflows"}},
		{"fit --log-lambda -800", "log-lambda", []string{"underflows"}},
		{"select --folds 1", "folds", []string{"at least 2"}},
		{"select --folds 0", "folds", []string{"at least 2"}},
		{"select --folds 443", "folds", []string{"442"}},
		{"select --folds many", "folds", []string{"many"}},
		{"select --tol 0", "tol", []string{"positive"}},
		{"select --tol nan", "tol", []string{"positive"}},
		{"select --tol inf", "tol", []string{"below 1"}},
		{"fit --ratio 0.1 --tol 1", "tol", []string{"below 1, the gap of the null model"}}, // it would converge at once
		{"select --tol 1e-30", "tol", []string{"1e-15"}},
		{"select --start 0", "start", []string{"positive"}},
		{"select --evaluations 0", "evaluations", []string{"at least 1"}},
		{"path --points 0", "points", []string{"from 1 to 1,000,000"}},
		{"path --points 1000000000", "points", []string{"from 1 to 1,000,000"}},
		{"fit --ratio @", "ratio", []string{"name of a file"}},
		{"fit --ratio=", "ratio", []string{"empty"}},
		{"path --min-ratio 2", "min-ratio", []string{"above 0 and at most 1"}},
		{"select --threads -1", "threads", []string{"all cores"}},
		{"select --kernels fast", "kernels", []string{`"fast"`, "purego"}},
		{"select --features -1", "features", []string{"negative"}},
		{"select --min-nnz -1", "min-nnz", []string{"negative"}},
		{"select --seed -1", "seed", []string{"-1"}},
	} {
		if !oracle.Turn(i, 4) {
			continue
		}
		t.Run(test.args, func(t *testing.T) {
			args := strings.Fields(test.args)
			o := pareRun(t, args...)
			if o.code != exitUsage || o.stdout != "" {
				t.Errorf("exit %d, standard output %q", o.code, o.stdout)
			}
			e := decoded[failure](t, exitUsage, append([]string{args[0], "--json"}, args[1:]...)...).Error
			if e.Flag != test.flag || e.Kind != outcome.Usage && e.Kind != outcome.BadParameter {
				t.Errorf("kind %s, flag %q, want flag %q", e.Kind, e.Flag, test.flag)
			}
			for _, want := range test.want {
				if !strings.Contains(o.stderr, want) || !strings.Contains(e.Message, want) {
					t.Errorf("no %q in %q and %q", want, o.stderr, e.Message)
				}
			}
		})
	}
}

// TestEmptyArgumentsAreRefused checks that an empty argument, such as an unset variable in a
// script, is not taken for the default.
func TestEmptyArgumentsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"select", ""}, {"select", "--save", ""}, {"fit", "--ratio", "0.1", "--weights="}, {"predict", "model", ""}} {
		o := pareRun(t, args...)
		if o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, "is empty") {
			t.Errorf("%q: exit %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
}

// TestFaultyFilesAreLocated checks that invalid files end with exit status 1 and an error that
// gives the position.
func TestFaultyFilesAreLocated(t *testing.T) {
	bad := writeFile(t, "bad.svm", "1 1:2 2:3\n-1 2:x\n")
	wide := writeFile(t, "wide.svm", "1 1:2\n-1 7:1\n")
	empty := writeFile(t, "empty.svm", "")
	single := writeFile(t, "single.svm", "1 1:2\n1 2:1\n1 1:1\n1 1:3\n-1 2:2\n-1 2:4\n1 1:5\n-1 2:1\n")
	words := writeFile(t, "words", "1\n 2\n\n  three\n")
	few := writeFile(t, "few", "0\n1\n")
	odd := writeFile(t, "odd", "0\n-3\n")
	far := writeFile(t, "far", "0\n1\n1700000000000\n")
	large := writeFile(t, "large", "1\n0\ninf\n")
	for _, test := range []struct {
		args []string
		want errorReport
	}{
		{[]string{"fit", bad, "--ratio", "1"}, errorReport{Kind: outcome.Parse, File: bad, Line: 2, Byte: 6}},
		{[]string{"select", bad}, errorReport{Kind: outcome.Parse, File: bad, Line: 2, Byte: 6}},
		{[]string{"info", bad}, errorReport{Kind: outcome.Parse, File: bad, Line: 2, Byte: 6}},
		{[]string{"info", wide, "--features", "3"}, errorReport{Kind: outcome.Shape, File: wide, Line: 2, Byte: 4, Flag: "features"}},
		{[]string{"select", "/nowhere/data.svm"}, errorReport{Kind: outcome.IO, File: "/nowhere/data.svm"}},
		{[]string{"select", empty}, errorReport{Kind: outcome.Shape, File: empty}},
		{[]string{"select", "--model", "logreg", "--split", "blocks", "--folds", "2", single}, errorReport{Kind: outcome.SingleClass, File: single, Part: "fold 1"}},
		{[]string{"fit", "--ratio", "@" + words}, errorReport{Kind: outcome.Parse, File: words, Line: 4, Byte: 3, Flag: "ratio"}},
		{[]string{"fit", "--ratio", "@" + empty}, errorReport{Kind: outcome.Shape, File: empty, Flag: "ratio"}},
		{[]string{"fit", "--ratio", "@/nowhere"}, errorReport{Kind: outcome.IO, File: "/nowhere", Flag: "ratio"}},
		{[]string{"select", "/nowhere/data.svm", "--fold-ids", "/nowhere/ids"}, errorReport{Kind: outcome.IO, File: "/nowhere/ids", Flag: "fold-ids"}},
		{[]string{"grad", "/nowhere/data.svm", "--ratio", "1", "--groups", "/nowhere/groups"}, errorReport{Kind: outcome.IO, File: "/nowhere/groups", Flag: "groups"}},
		{[]string{"info", "/nowhere/data.svm", "--weights", "/nowhere/weights"}, errorReport{Kind: outcome.IO, File: "/nowhere/weights", Flag: "sample-weights"}},
		{[]string{"select", "--fold-ids", words}, errorReport{Kind: outcome.Parse, File: words, Line: 4, Byte: 3, Flag: "fold-ids"}},
		{[]string{"select", "--fold-ids", odd}, errorReport{Kind: outcome.Parse, File: odd, Line: 2, Byte: 1, Flag: "fold-ids"}},
		{[]string{"select", "--fold-ids", far}, errorReport{Kind: outcome.Parse, File: far, Line: 3, Byte: 1, Flag: "fold-ids"}},
		{[]string{"select", "--fold-ids", few}, errorReport{Kind: outcome.Shape, File: few, Flag: "fold-ids"}},
		{[]string{"select", "--sample-weights", words}, errorReport{Kind: outcome.Parse, File: words, Line: 4, Byte: 3, Flag: "sample-weights"}},
		{[]string{"select", "--weights", odd}, errorReport{Kind: outcome.Parse, File: odd, Line: 2, Byte: 1, Flag: "sample-weights"}},
		{[]string{"fit", "--ratio", "1", "--weights", large}, errorReport{Kind: outcome.Parse, File: large, Line: 3, Byte: 1, Flag: "sample-weights"}},
		{[]string{"fit", "--ratio", "1", "--weights", few}, errorReport{Kind: outcome.Shape, File: few, Flag: "sample-weights"}},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			got := decoded[failure](t, exitFailed, test.args...).Error
			if got.Message == "" {
				t.Error("no message")
			}
			got.Message = ""
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			o := pareRun(t, test.args...)
			if o.code != exitFailed || o.stdout != "" || !strings.HasPrefix(o.stderr, "pare: "+test.want.File) {
				t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
			}
		})
	}
	o := pareRunWith(t.Context(), "1 1:1\n1 -1:1\n", "info", "-", "--json")
	var e failure
	if err := json.Unmarshal([]byte(o.stdout), &e); err != nil || e.Error.File != "standard input" || e.Error.Line != 2 {
		t.Errorf("%v: %s", err, o.stdout)
	}
}

// FuzzCommandLine checks that no command line makes the parser panic, or fail other than with a
// usage error.
func FuzzCommandLine(f *testing.F) {
	for _, seed := range []string{
		"select", "fit --ratio 0.1 -", "grad --log-lambda -1,-2", "path --points=3 --no-shuffle", "help", "--", "select --", "-x",
		"fit --ratio=@file", "select --start nan", "--model", "select -", "info --json=false x", "help help", "select --seed 18446744073709551616",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		var out strings.Builder
		command, err := parse(args, &out, &out)
		if err != nil {
			if e := classify(err); e.Kind != outcome.Usage || e.Message == "" {
				t.Errorf("%q: %+v", args, e)
			}
		} else if command == nil && out.Len() == 0 {
			t.Errorf("%q: neither a command nor help", args)
		}
	})
}

// FuzzList checks that a list of numbers is read as numbers, or refused under the name of its
// flag.
func FuzzList(f *testing.F) {
	for _, seed := range []string{"1", "-1.5,2e-3", " 1 , inf", "", ",", "nan", "1_0", "0x1p-2", "1e400", "1,5;2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.HasPrefix(text, "@") {
			return
		}
		values, err := parseList("ratio", text)
		if err != nil {
			if e := classify(err); e.Kind != outcome.Usage || e.Flag != "ratio" {
				t.Errorf("%q: %+v", text, e)
			}
			return
		}
		again, err := parseList("ratio", listAll(values))
		if err != nil || len(again) != len(values) {
			t.Fatalf("%q: %v, then %v, %v", text, values, again, err)
		}
		for i := range values {
			if values[i] != again[i] {
				t.Errorf("%q: %v, then %v", text, values[i], again[i])
			}
		}
	})
}
