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

// standIns have the names and parameters of celer and skglm, and scikit-learn inside.
const standIns = `
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

// The adapter of celer and skglm states the problems that it is given, as far as can
// be told without them.
func TestWorkingSetPeersSolve(t *testing.T) {
	if !*long {
		t.Skip("go test ./bench/peers -long starts Python")
	}
	if _, err := interpreter("sklearn"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	t.Setenv("PYTHONPATH", dir)
	for _, name := range []string{"celer", "skglm"} {
		if err := os.WriteFile(filepath.Join(dir, name+".py"), []byte(standIns), 0o600); err != nil {
			t.Fatal(err)
		}
		peer := workingSets(name)
		for _, m := range peer.Models {
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
