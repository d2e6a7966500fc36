package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// perf runs the command and returns its output.
func perf(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(context.Background(), args, &out, &errs); got != want {
		t.Fatalf("perf %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, want, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

func TestHelpAndUsage(t *testing.T) {
	if out, _ := perf(t, 0); !strings.Contains(out, "roofline") {
		t.Errorf("no commands in\n%s", out)
	}
	if _, errs := perf(t, 2, "solve", "everything"); !strings.Contains(errs, "fit") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "data", "rcv1"); !strings.Contains(errs, "syn_rcv1") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "solve", "fit", "--ratio", "1,2"); !strings.Contains(errs, "2 strengths for 1 hyperparameter") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "solve", "fit", "--ratio", "much"); !strings.Contains(errs, `must be a number, not "much"`) {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "solve", "fit", "--ratio", "0"); !strings.Contains(errs, "a share of αmax must be above 0, got 0") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "solve", "fit", "--target", "bmi"); !strings.Contains(errs, "the diabetes data is svmlight text") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "solve", "fit", "--model", "svm", "../../docs/data/high.svm"); !strings.Contains(errs, "no αmax") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "solve", "fit", "../../docs/data/diabetes.csv"); !strings.Contains(errs, "--target") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "solve", "select", "--model", "lasoo"); !strings.Contains(errs, "lasoo") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 1, "solve", "fit", "none.svm"); !strings.Contains(errs, "none.svm") {
		t.Errorf("%s", errs)
	}
	if _, errs := perf(t, 2, "peers", "--rows", "nothing"); !strings.Contains(errs, "nothing") {
		t.Errorf("%s", errs)
	}
}

func TestCPUNamesTheKernels(t *testing.T) {
	var m struct{ Active string }
	out, _ := perf(t, 0, "cpu", "--json")
	if err := json.Unmarshal([]byte(out), &m); err != nil || m.Active == "" {
		t.Errorf("%v in %s", err, out)
	}
	if out, _ := perf(t, 0, "cpu"); !strings.Contains(out, m.Active) {
		t.Errorf("%s", out)
	}
}

func TestSolveAccountsForItsPhases(t *testing.T) {
	for what, phases := range map[string][]string{
		"fit":    {"load", "alpha max", "fit"},
		"grad":   {"load", "alpha max", "grad", "solve, summed over folds", "gradient, summed over folds"},
		"select": {"load", "select", "search", "refit"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			var r solveReport
			out, _ := perf(t, 0, "solve", what, "--json", "--repeat", "2", "--cpuprofile", filepath.Join(dir, "cpu"), "--trace", filepath.Join(dir, "trace"))
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			if r.N != 442 || r.P != 10 || r.MatrixBytes != 8*4420 || r.Status == "" || len(r.Counters) == 0 {
				t.Errorf("%+v", r)
			}
			var names []string
			for _, p := range r.Phases {
				names = append(names, p.Name)
				if !(p.Seconds > 0) {
					t.Errorf("%s took no time", p.Name)
				}
			}
			if strings.Join(names, "; ") != strings.Join(phases, "; ") {
				t.Errorf("phases %q, want %q", names, phases)
			}
			if what == "fit" && r.Phases[2].Streamed != int64(r.Passes)*r.MatrixBytes {
				t.Errorf("%d bytes for %d passes of %d", r.Phases[2].Streamed, r.Passes, r.MatrixBytes)
			}
			if what == "fit" {
				a := r.Anatomy
				if a == nil || len(a.Rounds) != r.Passes || a.Rounds[len(a.Rounds)-1].RelativeGap != *r.GapRelative || !(a.Explained > 0.5*a.Seconds && a.Explained <= a.Seconds) {
					t.Errorf("taken apart: %+v", a)
				}
			}
			for _, name := range []string{"cpu", "trace"} {
				if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
					t.Errorf("%s: %v", name, err)
				}
			}
			if out, _ := perf(t, 0, "solve", what); !strings.Contains(out, "relative gap") {
				t.Errorf("%s", out)
			}
		})
	}
}

// TestSolveReadsWhatPareReads checks that solve reads every kind of table, with labels in words, for any model, and
// that the anatomy of the solve, where there is one, is of that problem.
func TestSolveReadsWhatPareReads(t *testing.T) {
	for _, c := range []struct {
		args  string
		n, p  int
		apart bool
	}{
		{"fit --model logreg --target progression --one-hot --missing mean ../../docs/data/patients.csv", 436, 10, true},
		{"fit --model logreg --target progression --one-hot --missing drop-rows --standardize ../../docs/data/patients.csv", 402, 10, false},
		{"fit --model poisson --target progression ../../docs/data/diabetes.csv", 442, 10, true},
		{"fit --model mcp --standardize --target 1 ../../docs/data/diabetes.csv", 442, 10, false},
		{"fit --model ridge --target progression ../../docs/data/diabetes.csv", 442, 10, false},
		{"fit --model svm --log-lambda=-1 ../../docs/data/high.svm", 250, 10, false},
		{"select --model multinomial ../../docs/data/high.svm", 250, 10, false},
	} {
		var r solveReport
		out, _ := perf(t, 0, append([]string{"solve", "--json"}, strings.Fields(c.args)...)...)
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.N != c.n || r.P != c.p || r.Status != "converged" && r.Status != "stationary" || (r.Anatomy != nil) != c.apart {
			t.Errorf("%s: %d × %d, %s, taken apart %t; want %d × %d, %t", c.args, r.N, r.P, r.Status, r.Anatomy != nil, c.n, c.p, c.apart)
		}
		if (r.GapRelative == nil) != strings.Contains(c.args, "mcp") {
			t.Errorf("%s: a gap of %v", c.args, r.GapRelative)
		}
		if c.apart && r.Anatomy.Rounds[len(r.Anatomy.Rounds)-1].Support != r.Support {
			t.Errorf("%s: a support of %d, taken apart %+v", c.args, r.Support, r.Anatomy.Rounds)
		}
	}
}

func TestRooflineIsAPicture(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	path := filepath.Join(t.TempDir(), "roof.svg")
	perf(t, 0, "roofline", "--quick", "--match", "MaxAbs", "-o", path)
	if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte("operations per byte")) {
		t.Errorf("%v", err)
	}
}

func TestKernelsSpeaksThreeFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	args := []string{"kernels", "--quick", "--match", "MaxAbs"}
	if out, _ := perf(t, 0, args...); !strings.Contains(out, "purego") || !strings.Contains(out, "ceilings") {
		t.Errorf("%s", out)
	}
	if out, _ := perf(t, 0, append(args, "--bench")...); strings.Count(out, "BenchmarkMaxAbs/set=purego/n=1024 ") != 3 {
		t.Errorf("%s", out)
	}
	var report struct {
		Results []struct{ Operation string }
	}
	out, _ := perf(t, 0, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Results) == 0 || report.Results[0].Operation != "MaxAbs" {
		t.Errorf("%v in %s", err, out)
	}
}
