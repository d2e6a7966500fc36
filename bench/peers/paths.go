package peers

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/sparse"
)

// Points are strengths, ℓ1 and ridge, along paths with a constant ratio of the two, since glmnet solves one
// path at a time.
type Points [][][2]float64

// PathAnswer is glmnet's cross-validation along paths at one thresh.
type PathAnswer struct {
	Seconds float64   `json:"seconds"` // of all folds, fits and predictions
	Values  []float64 `json:"values"`  // mean loss over the folds, path by path
	Samples []struct {
		Fold, Path, Point int
		Index             []int32
		Value             []float64
	} `json:"samples"` // coefficients of every tenth point of a path
	Gap float64 // the largest relative gap of the samples, as we certify it
}

// PathPeer is glmnet with a problem, folds and paths in memory.
type PathPeer struct {
	*process
	problem *Problem
	points  Points
	parts   map[int]*Problem // training rows of each fold
	dir     string
}

// Version returns the name and version of the program.
func (g *PathPeer) Version() string { return g.version }

// StartPaths starts glmnet. Rows with a negative fold only train. The error says if glmnet is not installed.
func StartPaths(ctx context.Context, p *Problem, folds []int, points Points, covariance bool) (*PathPeer, error) {
	dir, err := os.MkdirTemp("", "perf-paths-")
	if err != nil {
		return nil, err
	}
	g := &PathPeer{problem: p, points: points, parts: map[int]*Problem{}, dir: dir}
	for _, k := range folds {
		if k < 0 || g.parts[k] != nil {
			continue
		}
		part := &Problem{Model: p.Model}
		var rows []int32
		for i, fold := range folds {
			if fold != k {
				rows, part.Y = append(rows, int32(i)), append(part.Y, p.Y[i])
			}
		}
		part.X = sparse.Rows(nil, p.X, rows)
		g.parts[k] = part
	}
	command, err := g.files(folds, covariance)
	if err == nil {
		g.process, err = startCommand(ctx, command)
	}
	if err != nil {
		_ = os.RemoveAll(dir) // in the temporary directory
		return nil, err
	}
	return g, nil
}

// files writes what the script reads.
func (g *PathPeer) files(folds []int, covariance bool) (*exec.Cmd, error) {
	script, err := scripts.ReadFile("scripts/glmnet-cv.R")
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(g.dir, name) }
	if err := g.problem.save(at("problem.bin")); err != nil {
		return nil, err
	}
	var ids []byte
	for _, k := range folds {
		ids = binary.LittleEndian.AppendUint32(ids, uint32(int32(k)))
	}
	var text strings.Builder
	for _, path := range g.points {
		for _, a := range path {
			fmt.Fprintf(&text, "%.17g %.17g ", a[0], a[1])
		}
		text.WriteByte('\n')
	}
	for name, b := range map[string][]byte{"paths.R": script, "folds.bin": ids, "points.txt": []byte(text.String())} {
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			return nil, err
		}
	}
	variant := "naive"
	if covariance {
		variant = "covariance"
	}
	return exec.Command("Rscript", at("paths.R"), at("problem.bin"), string(g.problem.Model), at("folds.bin"), at("points.txt"), variant), nil
}

// Solve runs all folds and paths, and certifies the samples.
func (g *PathPeer) Solve(ctx context.Context, thresh float64) (*PathAnswer, error) {
	var a PathAnswer
	if err := g.ask(ctx, fmt.Sprintf("%.17g", thresh), &a); err != nil {
		return nil, err
	}
	if count := len(slices.Concat(g.points...)); len(a.Values) != count || !(a.Seconds > 0) {
		return nil, fmt.Errorf("%d values for %d points in %g s", len(a.Values), count, a.Seconds)
	}
	for _, s := range a.Samples {
		part := *g.parts[s.Fold]
		part.Alpha, part.Ridge = g.points[s.Path][s.Point][0], g.points[s.Path][s.Point][1]
		found, err := part.Certify(s.Index, s.Value)
		if err != nil {
			return nil, err
		}
		a.Gap = math.Max(a.Gap, found.Gap)
	}
	return &a, nil
}

// Close ends the program and removes its files.
func (g *PathPeer) Close() {
	g.close()
	_ = os.RemoveAll(g.dir) // in the temporary directory
}

// LoadPeer is scikit-learn's reader of svmlight text.
type LoadPeer struct{ *process }

// StartLoad starts the reader. The error says if scikit-learn is not installed.
func StartLoad(ctx context.Context, dir string) (*LoadPeer, error) {
	p, err := startPython(ctx, dir, "load.py", "sklearn")
	return &LoadPeer{p}, err
}

// startPython starts a script that needs some modules.
func startPython(ctx context.Context, dir, name string, modules ...string) (*process, error) {
	script, err := scripts.ReadFile("scripts/" + name)
	if err != nil {
		return nil, err
	}
	python, err := interpreter(modules...)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, script, 0o600); err != nil {
		return nil, err
	}
	return startCommand(ctx, exec.Command(python, path))
}

// TablePeer has the readers of pandas, SciPy and scikit-learn, chosen by the extension of a file's name.
type TablePeer struct{ *process }

// StartTables starts the readers. The error says if they are not installed.
func StartTables(ctx context.Context, dir string) (*TablePeer, error) {
	p, err := startPython(ctx, dir, "tables.py", "pandas", "scipy", "sklearn")
	return &TablePeer{p}, err
}

// Read reads a file with the given number of rows and returns the processor time in seconds.
func (t *TablePeer) Read(ctx context.Context, path string, rows int) (seconds float64, err error) {
	var a struct {
		Seconds float64
		Rows    int
	}
	if err = t.ask(ctx, path, &a); err == nil && a.Rows != rows {
		err = fmt.Errorf("%s: %d rows are read, not %d", path, a.Rows, rows)
	}
	return a.Seconds, err
}

// Version returns the names and versions of the programs.
func (t *TablePeer) Version() string { return t.version }

// Close ends the program.
func (t *TablePeer) Close() { t.close() }

// Load reads a file and returns the seconds it took, and the numbers of rows and nonzeros read.
func (l *LoadPeer) Load(ctx context.Context, path string) (seconds float64, rows, nonzeros int, err error) {
	var a struct {
		Seconds        float64
		Rows, Nonzeros int
	}
	err = l.ask(ctx, path, &a)
	return a.Seconds, a.Rows, a.Nonzeros, err
}

// Version returns the name and version of the program.
func (l *LoadPeer) Version() string { return l.version }

// Close ends the program.
func (l *LoadPeer) Close() { l.close() }

// MeasureFactor measures how much slower this machine is than the machine of the records, by scikit-learn at
// its tolerance 1e-6 on the quick rows whose files are in dir; see [Factor]. rows is 0 if there are no such
// files or no scikit-learn.
func MeasureFactor(ctx context.Context, dir string, progress func(string)) (factor float64, rows int, err error) {
	var ratios []float64
	peer := Peers()[0]
	for _, row := range Choose("lasso rcv1_dev,lasso leukemia 0.1,lasso reuters_places 0.1") {
		path, err := row.File(dir)
		if err != nil {
			continue
		}
		progress("scikit-learn on " + row.Name() + ", for the factor")
		p, err := row.Load(ctx, path)
		if err != nil {
			return 0, 0, err
		}
		seconds, err := yardstickSeconds(ctx, peer, p)
		if ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		if err == nil {
			ratios = append(ratios, seconds/yardstick[row.Name()])
		}
	}
	return median(ratios), len(ratios), nil
}

func yardstickSeconds(ctx context.Context, peer Peer, p *Problem) (float64, error) {
	dir, err := os.MkdirTemp("", "perf-factor-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the temporary directory
	data := filepath.Join(dir, "problem.bin")
	if err := p.save(data); err != nil {
		return 0, err
	}
	c, err := startPeer(ctx, peer, dir, data, p)
	if err != nil {
		return 0, err
	}
	defer c.close()
	var all []float64
	for range 5 {
		a, err := c.solve(ctx, peer.Yardstick)
		if err != nil {
			return 0, err
		}
		all = append(all, a.Seconds)
	}
	return median(all), nil
}
