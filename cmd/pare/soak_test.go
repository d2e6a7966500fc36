package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

var soak = flag.Duration("soak", 0, "how long TestSoak goes on, instead of for two hundred commands")

// TestSoak runs random commands on intact and damaged files, with limits and interrupts at any time,
// in one process. Each must end with a documented status and print one object: a result, whose gap
// for a Lasso must agree with its definition, or an error of a kind other than internal. Saved
// models must be readable, goroutines must end, and memory must not grow.
func TestSoak(t *testing.T) {
	s := soaking{dir: t.TempDir(), ended: map[string]int{}}
	s.x, s.y = diabetesRows(t)
	s.files(t)
	oracle.Soak(t, oracle.Cases(200), *soak, 4<<20, func(k uint64) { s.round(t, oracle.NewRandom(k)) })
	t.Logf("%v", s.ended)
	if oracle.Few() {
		return // too few rounds to reach every outcome
	}
	for _, end := range []string{"gap", "parse", "limit", "saved", "status 0", "status 1", "status 2"} {
		if s.ended[end] == 0 {
			t.Errorf("no %s in %v", end, s.ended)
		}
	}
}

type soaking struct {
	dir   string
	x     [][]float64 // the embedded data
	y     []float64
	whole []string // files that are intact
	ended map[string]int
}

// files writes data in several formats, and models.
func (s *soaking) files(t *testing.T) {
	t.Helper()
	kept := func(name string) string { return filepath.Join("testdata", "kept", name) }
	s.whole = []string{kept("two.svm"), kept("three.svm"), kept("table.csv")}
	for _, pattern := range []string{"*.pare", "*.model", "*.log"} {
		s.whole = append(s.whole, keptFiles(t, pattern)...)
	}
	for _, name := range []string{"numpy.npz", "numpy.npy", "scipy.mtx", "scipy-csr.npz", "pandas.tsv.gz", "sklearn.svm", "mixed.csv"} {
		s.whole = append(s.whole, filepath.Join("..", "..", "table", "testdata", name))
	}
}

// damaged writes a copy of a file with a byte changed, a byte removed, or the rest cut off.
func (s *soaking) damaged(t *testing.T, r *oracle.Random, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := r.Intn(len(text))
	switch r.Intn(3) {
	case 0:
		text = text[:at]
	case 1:
		text[at] ^= 1 << r.Intn(8)
	default:
		text = slices.Delete(text, at, at+1)
	}
	path := filepath.Join(s.dir, filepath.Base(file))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// line draws a command line. exact says that it fits a Lasso to the embedded data.
func (s *soaking) line(t *testing.T, r *oracle.Random, model string) (args []string, exact bool) {
	t.Helper()
	pick := func(of ...string) string { return of[r.Intn(len(of))] }
	command := pick("fit", "fit", "fit", "select", "grad", "path", "predict", "inspect", "info", "convert")
	args = []string{command, "--json", "--quiet"}
	exact = command == "fit" && r.Intn(2) == 0
	file := s.whole[r.Intn(len(s.whole))]
	if r.Intn(3) == 0 {
		file = s.damaged(t, r, file)
	}
	switch command {
	case "fit", "grad":
		args = append(args, fmt.Sprintf("--ratio=%g", math.Exp(-5*r.Float64())), "--tol="+pick("1e-4", "1e-6", "1e-9"))
	case "select":
		args = append(args, "--evaluations="+pick("1", "3", "8"), "--search="+pick("scan", "grid", "gradient", "tpe", "none"), "--save="+model)
	case "path":
		args = append(args, "--points="+pick("0", "1", "7"))
	case "convert":
		return append(args, file, filepath.Join(s.dir, "converted.pare")), false
	case "predict":
		return append(args, file, s.whole[r.Intn(3)]), false
	case "inspect", "info":
		return append(args, file), false
	}
	if exact {
		return append(args, "--coef", "--intercept="+pick("true", "false"), "--threads="+pick("1", "2")), true
	}
	for r.Intn(2) == 0 {
		args = append(args, pick("--max-rows=50", "--max-bytes=1k", "--max-memory=64M", "--max-support=2", "--standardize", "--positive", "--time-limit=1ms", "--threads=1"))
	}
	if r.Intn(2) == 0 {
		return append(args, "--model="+pick("lasso", "enet", "ridge", "huber")), false
	}
	return append(args, "--model="+pick("lasso", "logreg", "svm", "multiclass", "poisson", "nothing"), file), false
}

// round runs a command and checks its output and the files it leaves.
func (s *soaking) round(t *testing.T, r *oracle.Random) {
	t.Helper()
	model := filepath.Join(s.dir, "model")
	args, exact := s.line(t, r, model)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if r.Intn(4) == 0 {
		time.AfterFunc(time.Duration(math.Exp(10*r.Float64()))*time.Microsecond, stop)
	}
	o := pareRunWith(ctx, "", args...)
	said := "pare " + strings.Join(args, " ")
	s.ended[fmt.Sprintf("status %d", o.code)]++
	var result struct{ Error *errorReport }
	if err := json.Unmarshal([]byte(o.stdout), &result); err != nil {
		t.Fatalf("%s: exit %d, %v in\n%.500s\n%s", said, o.code, err, o.stdout, o.stderr)
	}
	switch {
	case o.code < exitOK || o.code > exitUntrusted, (o.code == exitFailed || o.code == exitUsage) != (result.Error != nil):
		t.Errorf("%s: exit %d, %.500s", said, o.code, o.stdout)
	case result.Error != nil:
		s.ended[string(result.Error.Kind)]++
		if result.Error.Kind == outcome.Internal || result.Error.Message == "" {
			t.Errorf("%s: %s", said, o.stdout)
		}
	case exact:
		s.gap(t, said, o.stdout, slices.Contains(args, "--intercept=true"))
	}
	if text, err := os.ReadFile(model); err == nil {
		if pareRun(t, "inspect", model).code != exitOK {
			t.Errorf("%s: has left %.300s", said, text)
		}
		s.ended["saved"]++
		if err := os.Remove(model); err != nil {
			t.Fatal(err)
		}
	}
}

// gap compares the gap that a Lasso on the embedded data reports with its definition.
func (s *soaking) gap(t *testing.T, said, printed string, centred bool) {
	t.Helper()
	var f fitResult
	if err := json.Unmarshal([]byte(printed), &f); err != nil {
		t.Fatalf("%s: %v in %s", said, err, printed)
	}
	if f.Status != outcome.Converged {
		return // this gap is not claimed to hold
	}
	beta := make([]float64, len(s.x[0]))
	for k, j := range f.Coef.Index {
		beta[j] = float64(f.Coef.Value[k])
	}
	gap, null := lassoGap(s.x, s.y, beta, float64(f.Intercept), math.Exp(float64(f.LogLambda[0])), centred)
	if gap > float64(f.Gap)+1e-9*null {
		t.Errorf("%s: gap %.3e, reported %.3e", said, gap, float64(f.Gap))
	}
	s.ended["gap"]++
}
