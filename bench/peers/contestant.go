package peers

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed scripts
var scripts embed.FS

// Answer is what a contestant returns at one tolerance.
type Answer struct {
	Seconds   float64   `json:"seconds"`
	Objective *float64  `json:"objective"` // as the contestant reports it, if it does
	Gap       *float64  `json:"gap"`       // likewise, in the contestant's units
	Index     []int32   `json:"index"`
	Value     []float64 `json:"value"`
}

// contestant solves one problem repeatedly, each time from a cold start.
type contestant interface {
	solve(ctx context.Context, tol float64) (Answer, error)
	close()
}

// Peer is a solver that can take part.
type Peer struct {
	Name   string
	Models []Model
	// Tolerances returns the tolerances that are tried in turn until the certified gap is at most the target.
	Tolerances func(target float64) []float64
	// Yardstick is a tolerance that is tried for any target; see [Factor].
	Yardstick float64
	// Fits reports whether the peer is suitable for the problem; nil means always.
	Fits func(p *Problem) bool
	// command starts the peer on the file of a problem.
	command func(dir, data string, p *Problem) (*exec.Cmd, error)
}

// ladder returns a decreasing geometric sequence of tolerances.
func ladder(first, factor float64, steps int) []float64 {
	var all []float64
	for t := first; steps > 0; steps-- {
		all = append(all, t)
		t /= factor
	}
	return all
}

const root10 = 3.1622776601683795

// Peers lists the peers that have adapters. Variants are peers of their own, so that no program is judged by a
// default that does not suit the problem.
func Peers() []Peer {
	squared, ridges := []Model{Lasso, WeightedLasso, ElasticNet}, []Model{LogisticRidge, PoissonRidge, GammaRidge, TweedieRidge}
	// Updates of inner products need p² numbers, and pay where rows are many.
	tall := func(p *Problem) bool {
		n, columns := p.X.Dims()
		return columns <= 2000 && n > columns
	}
	// The first tolerances are loose enough to miss the target, nearly always.
	scikit := func(target float64) []float64 { return ladder(100*target, root10, 9) }
	glmnet := func(target float64) []float64 { return ladder(target, root10, 28) }
	liblinear := func(target float64) []float64 { return ladder(min(10, 1e5*target), root10, 18) }
	return []Peer{
		{Name: "scikit-learn", Models: squared, Tolerances: scikit, Yardstick: 1e-6, command: python("scikit-learn.py", "", "sklearn")},
		{Name: "scikit-learn, gram", Models: squared, Tolerances: scikit, Fits: tall, command: python("scikit-learn.py", "gram", "sklearn")},
		{Name: "scikit-learn, lbfgs", Models: ridges, Tolerances: liblinear, command: python("scikit-learn.py", "lbfgs", "sklearn")},
		{Name: "scikit-learn, newton-cholesky", Models: ridges, Tolerances: liblinear, Fits: tall, command: python("scikit-learn.py", "newton-cholesky", "sklearn")},
		{Name: "scikit-learn, saga", Models: []Model{LogisticNet, Multinomial}, Tolerances: liblinear, command: python("scikit-learn.py", "saga", "sklearn")},
		{
			Name: "glmnet", Models: slices.Concat(squared, ridges, []Model{Logistic, LogisticNet, Poisson, Gamma, Tweedie, Multinomial, MultinomialGroup}),
			command: r("glmnet.R", ""), Tolerances: glmnet,
		},
		{
			Name: "glmnet, covariance", Models: squared, Fits: tall, command: r("glmnet.R", "covariance"),
			Tolerances: glmnet,
		},
		{
			Name: "liblinear", Models: []Model{Logistic, LogisticRidge, SquaredHinge, SquaredHingeRidge, SVM, SVR}, command: python("liblinear.py", "", "scipy"),
			Tolerances: liblinear,
		},
		{
			Name: "liblinear, dual", Models: []Model{LogisticRidge, SquaredHingeRidge}, command: python("liblinear.py", "dual", "scipy"),
			Tolerances: liblinear,
		},
		{
			Name: "adelie", Models: append(slices.Clone(squared), Logistic), command: python("grpnet.py", "", "adelie"),
			Tolerances: glmnet,
		},
		{
			Name: "adelie, path", Models: append(slices.Clone(squared), Logistic), command: python("grpnet.py", "path", "adelie"),
			Tolerances: glmnet,
		},
		{
			Name: "BlitzML", Models: []Model{Lasso, WeightedLasso, Logistic, SquaredHinge}, command: python("blitz.py", "", "blitzml"),
			Tolerances: func(target float64) []float64 { return ladder(100*target, root10, 12) },
		},
		workingSets("celer", Logistic),
		workingSets("skglm", Logistic, LogisticNet, Poisson, Gamma, Huber, Group, SparseGroup, MCP, SCAD),
	}
}

// workingSets returns the peer for a package that working-sets.py supports, for these models besides those of
// the squared loss.
func workingSets(name string, models ...Model) Peer {
	return Peer{
		Name: name, Models: append(models, Lasso, WeightedLasso, ElasticNet), command: python("working-sets.py", name, name),
		Tolerances: func(target float64) []float64 { return ladder(100*target, root10, 12) },
	}
}

// python returns a command that runs a script, which needs modules, after the code common to all scripts.
func python(script, variant string, modules ...string) func(dir, data string, p *Problem) (*exec.Cmd, error) {
	return func(dir, data string, p *Problem) (*exec.Cmd, error) {
		common, err := scripts.ReadFile("scripts/common.py")
		if err != nil {
			return nil, err
		}
		own, err := scripts.ReadFile("scripts/" + script)
		if err != nil {
			return nil, err
		}
		path, err := interpreter(modules...)
		if err != nil {
			return nil, err
		}
		return start(path, dir, script, slices.Concat(common, []byte("\n"), own), data, p, variant)
	}
}

func r(script, variant string) func(dir, data string, p *Problem) (*exec.Cmd, error) {
	return func(dir, data string, p *Problem) (*exec.Cmd, error) {
		text, err := scripts.ReadFile("scripts/" + script)
		if err != nil {
			return nil, err
		}
		return start("Rscript", dir, script, text, data, p, variant)
	}
}

func start(interpreter, dir, script string, text []byte, data string, p *Problem, variant string) (*exec.Cmd, error) {
	path := filepath.Join(dir, script)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	if variant == "" {
		variant = "-"
	}
	return exec.Command(interpreter, path, data, string(p.Model), number(p.Alpha), number(p.Ridge), variant, number(p.parameter())), nil
}

// process is a contestant that runs as another program.
type process struct {
	command *exec.Cmd
	version string
	in      io.WriteCloser
	answers chan []byte // closed when the program ends
	errors  *tail
}

// tail keeps the end of what a program writes to standard error.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - 2000; extra > 0 {
		t.text = t.text[extra:]
	}
	return len(p), nil
}

// lastLine returns the last line that a program wrote, where most languages put the error message.
func (t *tail) lastLine() string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return lines[len(lines)-1]
}

// errMissing says that a peer is not installed.
var errMissing = errors.New("not installed")

// startPeer starts a peer and waits until it has read the problem.
func startPeer(ctx context.Context, peer Peer, dir, data string, p *Problem) (*process, error) {
	command, err := peer.command(dir, data, p)
	if err != nil {
		return nil, err
	}
	return startCommand(ctx, command)
}

// startCommand starts a program that first prints its name and then answers line by line.
func startCommand(ctx context.Context, command *exec.Cmd) (*process, error) {
	c := &process{command: command, answers: make(chan []byte), errors: &tail{}}
	// One thread each, since goals are stated per core.
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1")
	command.Stderr = c.errors
	var err error
	if c.in, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errMissing, err)
	}
	go func() {
		defer close(c.answers)
		for reader := bufio.NewReaderSize(out, 1<<20); ; {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return
			}
			c.answers <- line
		}
	}()
	line, err := c.next(ctx)
	if err != nil {
		c.close()
		if strings.Contains(c.errors.lastLine(), "ModuleNotFoundError") || strings.Contains(string(c.errors.text), "there is no package") {
			return nil, fmt.Errorf("%w: %s", errMissing, c.errors.lastLine())
		}
		return nil, err
	}
	c.version = strings.TrimSpace(string(line))
	return c, nil
}

func (c *process) next(ctx context.Context) ([]byte, error) {
	select {
	case line, ok := <-c.answers:
		if !ok {
			_ = c.command.Wait() // its message says more than its status
			return nil, fmt.Errorf("ended: %s", c.errors.lastLine())
		}
		return line, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *process) solve(ctx context.Context, tol float64) (Answer, error) {
	var a Answer
	if err := c.ask(ctx, fmt.Sprintf("%.17g", tol), &a); err != nil {
		return a, err
	}
	if !(a.Seconds > 0) || math.IsInf(a.Seconds, 1) {
		return a, fmt.Errorf("claims to have taken %g seconds", a.Seconds)
	}
	return a, nil
}

// ask sends a line and decodes the JSON answer.
func (c *process) ask(ctx context.Context, question string, answer any) error {
	if _, err := fmt.Fprintln(c.in, question); err != nil {
		return fmt.Errorf("ended: %s", c.errors.lastLine())
	}
	line, err := c.next(ctx)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, answer); err != nil {
		return fmt.Errorf("an answer that cannot be read: %w", err)
	}
	return nil
}

// close ends the program, by force if needed, and waits for it.
func (c *process) close() {
	_ = c.in.Close()
	if c.command.ProcessState == nil {
		_ = c.command.Process.Kill() // an error means that it has ended already
		for range c.answers {
		}
		_ = c.command.Wait()
	}
}
