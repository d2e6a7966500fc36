package peers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestInterpretersAreTriedForTheirModules(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Python")
	}
	_, err := interpreter("no_module_is_called_this")
	if !errors.Is(err, errMissing) {
		t.Errorf("%v", err)
	}
	if _, there := exec.LookPath("python3"); there != nil {
		t.Skip("there is no Python")
	}
	if !strings.Contains(err.Error(), "python") || !strings.Contains(err.Error(), "no_module_is_called_this") {
		t.Errorf("%v does not say what was tried", err)
	}
	if path, err := interpreter("json", "sys"); err != nil || !strings.Contains(path, "python") {
		t.Errorf("%q, %v", path, err)
	}
}

// standIns are modules with the names and parameters of celer, skglm, BlitzML and adelie that
// call scikit-learn.
var standIns = map[string]string{
	"celer": workingSetsStandIn, "skglm": workingSetsStandIn,
	"blitzml": `
from types import SimpleNamespace
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.svm import LinearSVC
__version__ = "0"
def suppress_warnings(): pass
def problem(fit):
    class Problem:
        def __init__(self, A, b):
            self.A, self.b = A, b
        def solve(self, l1_penalty, include_bias_term, stopping_tolerance):
            model = fit(l1_penalty, len(self.b), include_bias_term, stopping_tolerance)
            return SimpleNamespace(weights=model.fit(self.A, self.b).coef_.ravel())
    return Problem
LassoProblem = problem(lambda l1, n, bias, tol: Lasso(alpha=l1/n, fit_intercept=bias, tol=tol))
SparseLogisticRegressionProblem = problem(lambda l1, n, bias, tol: LogisticRegression(
    C=1/l1, penalty="l1", fit_intercept=bias, tol=tol, max_iter=100000, solver="saga"))
SparseSquaredHingeProblem = problem(lambda l1, n, bias, tol: LinearSVC(
    C=0.5/l1, penalty="l1", dual=False, fit_intercept=bias, tol=tol, max_iter=100000))
`,
	"adelie": `
from types import SimpleNamespace
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import ElasticNet, LogisticRegression
__version__ = "0"
glm = SimpleNamespace(gaussian=lambda y: ("gaussian", y), binomial=lambda y: ("binomial", y))
matrix = SimpleNamespace(sparse=lambda mat: mat, dense=lambda mat: mat)
def grpnet(X, glm, alpha, lmda_path, tol, irls_tol, intercept, early_exit, progress_bar, n_threads):
    name, y = glm
    if name == "gaussian":
        of = lambda lmda: ElasticNet(alpha=lmda, l1_ratio=alpha, fit_intercept=intercept, tol=tol)
    else:
        assert set(y) == {0, 1} and alpha == 1
        of = lambda lmda: LogisticRegression(C=1/(len(y)*lmda), penalty="l1", fit_intercept=intercept, tol=tol, max_iter=100000, solver="saga")
    return SimpleNamespace(lmdas=lmda_path, betas=csr_matrix(np.array([of(lmda).fit(X, y).coef_.ravel() for lmda in lmda_path])))
`,
}

const workingSetsStandIn = `
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression as Other
__version__ = "0"
class LogisticRegression(Other):
    def __init__(self, C, penalty, fit_intercept, tol, max_iter):
        super().__init__(C=C, penalty=penalty, fit_intercept=fit_intercept, tol=tol, max_iter=100000, solver="saga")
class SparseLogisticRegression:
    def __init__(self, alpha, fit_intercept, tol, max_iter):
        self.alpha, self.rest = alpha, dict(fit_intercept=fit_intercept, tol=tol, max_iter=max_iter)
    def fit(self, X, y):
        return LogisticRegression(C=1/(len(y)*self.alpha), penalty="l1", **self.rest).fit(X, y)
`

// TestAdaptersOfPythonPackagesSolve checks that the adapters of celer, skglm, BlitzML and adelie
// state the given problems correctly, as far as this is possible without these packages.
func TestAdaptersOfPythonPackagesSolve(t *testing.T) {
	if !*long {
		t.Skip("go test ./bench/peers -long starts Python")
	}
	if _, err := interpreter("sklearn"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	t.Setenv("PYTHONPATH", dir)
	for module, text := range standIns {
		if err := os.WriteFile(filepath.Join(dir, module+".py"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, peer := range Peers() {
		name, _, _ := strings.Cut(strings.ToLower(peer.Name), ",")
		if _, stood := standIns[name]; !stood {
			continue
		}
		models := peer.Models
		if name == "celer" || name == "skglm" {
			models = workingSets(name).Models // scikit-learn does not have skglm's other models
		}
		for _, m := range models {
			all, err := Compare(t.Context(), "row", small(t, m, true), Options{Targets: []float64{1e-4}, Rounds: 1, Peers: []Peer{peer}})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range all[0].Outcomes {
				if e.Absent != "" || e.False != "" || !(e.Gap <= 1e-4) {
					t.Errorf("%s: %+v", m, e)
				}
			}
		}
	}
}
