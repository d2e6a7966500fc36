package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestTextSaysWhatMatters checks that the text output says that the choice was made, how good
// it is, why the search stopped, and what to do next.
func TestTextSaysWhatMatters(t *testing.T) {
	for _, test := range []struct {
		args string
		want []string
	}{
		{"select", []string{"α/αmax", "λ = ln α", "CV error", "null model", "explained", "7 of 10 columns", "3: +5", "duality gap", "KKT", "converged: less than", "evaluations", "pare fit --log-lambda=-"}},
		{"select --evaluations 2", []string{"budget: ", "--evaluations"}},
		{"select --search grid --points 4 --min-ratio 0.5", []string{"box: ", "--min-ratio"}},
		{"select --criterion sure --seed 3", []string{"degrees of freedom estimated with seed 3"}},
		{"select --criterion gcv", []string{"(all rows)"}},
		{"info --model enet", []string{"αmax           2.14804", "(enet with intercept)"}},
		{"info --model svm", []string{"pare select --model=svm"}},
		{"info --model logreg", []string{"none: the target does not suit logreg"}},
		{"fit --ratio 0.1 --coef", []string{"5 of 10 columns", "       3  510.", "pare path", "pare select"}},
		{"grad --ratio 0.1", []string{"CV error", "the criterion falls as α shrinks", "error bound"}},
		{"grad --ratio 0.1 --criterion holdout", []string{"hold-out error"}},
		{"path --points 5", []string{"α/αmax", "*", "converged: every point", "pare fit --log-lambda="}},
		{"info", []string{"442 rows, 10 columns, 4,420 nonzeros", "real numbers from 25 to 346", "αmax           2.14804", "pare select"}},
		{"select --unit-columns --min-nnz 3 --intercept=false --folds 4", []string{"--intercept=false", "--min-nnz=3 --unit-columns", "--folds=4"}},
	} {
		o := pareRun(t, strings.Fields(test.args)...)
		for _, want := range test.want {
			if !strings.Contains(o.stdout, want) {
				t.Errorf("pare %s: no %q in\n%s%s", test.args, want, o.stdout, o.stderr)
			}
		}
		if o.stderr != "" {
			t.Errorf("pare %s: progress where there is no terminal: %q", test.args, o.stderr)
		}
	}
}

// TestTheNextCommandRefitsTheChoice checks that the command which a result suggests runs and
// fits the same model.
func TestTheNextCommandRefitsTheChoice(t *testing.T) {
	for _, args := range []string{"select", "select --model enet --tol 1e-8", "select --intercept=false --folds 3 --shuffle=false"} {
		chosen := decoded[selectResult](t, exitOK, strings.Fields(args+" --coef")...)
		text := pareRun(t, strings.Fields(args)...).stdout
		line := proposed(t, text, "fit")
		refit := decoded[fitResult](t, exitOK, line...)
		// The refit of a choice starts from the folds' solutions, so the last digits may
		// differ.
		same := func(a, b number) bool { return math.Abs(float64(a-b)) <= 1e-9*math.Abs(float64(b)) }
		if !same(refit.Objective, chosen.Final.Objective) || !slices.EqualFunc(refit.Coef.Value, chosen.Final.Coef.Value, same) {
			t.Errorf("pare %s suggests %v, whose solution differs", args, line)
		}
	}
}

// TestStatedProblemsStayStated checks that the flags which define the problem are repeated in
// the suggested command.
func TestStatedProblemsStayStated(t *testing.T) {
	for _, args := range [][]string{
		{"fit", "--standardize", "--ratio=0.1"}, {"select", "--positive"}, {"path", "--points=3", "--model=ridge", "--standardize"},
	} {
		plain, stated := pareRun(t, args[0], args[len(args)-1]), pareRun(t, args...)
		if stated.code != exitOK {
			t.Fatalf("%v: exit %d, %s", args, stated.code, stated.stderr)
		}
		for _, flag := range args[1:] {
			if name, _, _ := strings.Cut(flag, "="); !slices.Contains([]string{"--ratio", "--points"}, name) && !strings.Contains(stated.stdout, flag) {
				t.Errorf("%v: what comes next has no %s\n%s", args, flag, stated.stdout)
			}
		}
		if args[0] != "path" && plain.stdout == stated.stdout {
			t.Errorf("%v changes nothing", args)
		}
	}
	r := decoded[fitResult](t, exitOK, "fit", "--model=wlasso", "--log-lambda=-inf")
	if r.Support != 10 || r.Status != "converged" {
		t.Errorf("least squares: support of %d, %s", r.Support, r.Status)
	}
}

// TestSampleWeights checks that equal weights change nothing, and that other weights do and are
// in every suggested command.
func TestSampleWeights(t *testing.T) {
	var equal, rising strings.Builder
	for i := range 442 {
		fmt.Fprintln(&equal, 1)
		fmt.Fprintln(&rising, i)
	}
	path := writeFile(t, "rising", rising.String())
	line := func(s string) string { return strings.Split(s, "\n")[4] } // the first number that is not λ
	for _, command := range [][]string{{"select"}, {"fit", "--ratio", "0.1"}, {"grad", "--ratio", "0.1"}, {"path", "--points", "3"}} {
		plain, ones, risen := pareRun(t, command...), pareRun(t, append(command, "--sample-weights", writeFile(t, "equal", equal.String()))...), pareRun(t, append(command, "--weights", path)...)
		if command[0] != "path" && (line(plain.stdout) != line(ones.stdout) || line(ones.stdout) == line(risen.stdout)) {
			t.Errorf("%v: without weights\n%swith equal ones\n%swith others\n%s", command, plain.stdout, ones.stdout, risen.stdout)
		}
		if !strings.Contains(risen.stdout, "--sample-weights="+path) {
			t.Errorf("%v: what comes next has no weights\n%s", command, risen.stdout)
		}
	}
}

// TestSeveralClassesHaveNoSingleLambda checks that, since each class has its own λ, the text
// output gives the common ratio α/αmax.
func TestSeveralClassesHaveNoSingleLambda(t *testing.T) {
	rows := lines("a,b,c,y\n", 90, func(i int) string { return fmt.Sprintf("%d,%d,%d,%c\n", i%3*2+i*i%5, i*7%11-i%3, i*i*i%13, 'A'+i%3) })
	file := writeFile(t, "classes.csv", rows)
	for _, args := range [][]string{{"select"}, {"select", "--one-se"}} {
		o := pareRun(t, append(args, "--model=multiclass", "--target=y", file)...)
		if said := flat(o.stdout); o.code != exitOK || strings.Contains(said, "λ = ") || !strings.Contains(said, "one per class, α/αmax") {
			t.Errorf("%q: exit %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
	}
	o := pareRun(t, "info", "--model=multiclass", "--target=y", file)
	if !strings.Contains(flat(o.stdout), "λmax = ln αmax from") {
		t.Errorf("info has no αmax of the classes\n%s", o.stdout)
	}
}

// TestAreaAsACriterion checks that a criterion which is minimised is not called the area under
// the curve, which is maximised.
func TestAreaAsACriterion(t *testing.T) {
	o := pareRun(t, "select", "--model=logreg", "--validation-loss=auc", "--search=grid", "--points=3", "../../docs/data/high.svm")
	if o.code != exitOK || !strings.Contains(o.stdout, "(1 − auc; 5 folds") {
		t.Errorf("exit %d, %s%s", o.code, o.stdout, o.stderr)
	}
}
