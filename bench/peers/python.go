package peers

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// interpreter returns a Python that has the modules. It tries /usr/bin/python3 first, since Debian's packages
// belong to it whatever comes first in the path. The error says what was tried.
func interpreter(modules ...string) (string, error) {
	var tried []string
	for _, name := range []string{"/usr/bin/python3", "python3", "python"} {
		path, err := exec.LookPath(name)
		if err != nil || slices.Contains(tried, path) {
			continue
		}
		tried = append(tried, path)
		if exec.Command(path, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return path, nil
		}
	}
	if tried == nil {
		return "", fmt.Errorf("%w: there is no Python", errMissing)
	}
	return "", fmt.Errorf("%w: no %s in %s", errMissing, strings.Join(modules, ", "), strings.Join(tried, ", "))
}
