package peers

import (
	"errors"
	"os/exec"
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
