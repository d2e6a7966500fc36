package peers

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// WholePeer is cv.glmnet at its defaults: a strength chosen by cross-validation.
type WholePeer struct {
	*process
	dir string
}

// WholeAnswer is the choice of cv.glmnet.
type WholeAnswer struct {
	Seconds float64 `json:"seconds"`
	Value   float64 `json:"value"` // the criterion at Lambda, the mean over the rows
	Lambda  float64 `json:"lambda"`
}

// StartWhole starts cv.glmnet with a problem and the fold of each row. The error says if it is not installed.
func StartWhole(ctx context.Context, p *Problem, folds []int) (*WholePeer, error) {
	dir, err := os.MkdirTemp("", "perf-whole-")
	if err != nil {
		return nil, err
	}
	g := &WholePeer{dir: dir}
	if g.process, err = g.start(ctx, p, folds); err != nil {
		_ = os.RemoveAll(dir) // in the temporary directory
		return nil, err
	}
	return g, nil
}

func (g *WholePeer) start(ctx context.Context, p *Problem, folds []int) (*process, error) {
	script, err := scripts.ReadFile("scripts/glmnet-default.R")
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return filepath.Join(g.dir, name) }
	if err := p.save(at("problem.bin")); err != nil {
		return nil, err
	}
	var ids []byte
	for _, k := range folds {
		ids = binary.LittleEndian.AppendUint32(ids, uint32(int32(k)))
	}
	for name, b := range map[string][]byte{"default.R": script, "folds.bin": ids} {
		if err := os.WriteFile(at(name), b, 0o600); err != nil {
			return nil, err
		}
	}
	return startCommand(ctx, exec.Command("Rscript", at("default.R"), at("problem.bin"), string(p.Model), at("folds.bin")))
}

// Solve makes one choice.
func (g *WholePeer) Solve(ctx context.Context) (WholeAnswer, error) { return g.solve(ctx, "") }

// SolveDownTo makes one choice, on a path that ends at a fraction of the largest strength.
func (g *WholePeer) SolveDownTo(ctx context.Context, share float64) (WholeAnswer, error) {
	return g.solve(ctx, strconv.FormatFloat(share, 'g', -1, 64))
}

func (g *WholePeer) solve(ctx context.Context, line string) (a WholeAnswer, err error) {
	if err = g.ask(ctx, line, &a); err == nil && !(a.Seconds > 0) {
		err = fmt.Errorf("a choice in %g s", a.Seconds)
	}
	return a, err
}

// Version returns the name and version of the program.
func (g *WholePeer) Version() string { return g.version }

// Close ends the program and removes its files.
func (g *WholePeer) Close() {
	g.close()
	_ = os.RemoveAll(g.dir) // in the temporary directory
}
