package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck checks that errors are found which appear only on another system, with an int of 32
// bits, or in a test.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.org/m\n\ngo 1.26\n",
		"m.go":         "package m\n\nfunc F() int { return g() }\n",
		"m_linux.go":   "package m\n\nfunc g() int { return 1 << 20 }\n",
		"m_windows.go": "package m\n\nfunc g() int { return 1 << 40 }\n",
		"m_test.go":    "package m\n\nvar _ int = F()\n",
		"js_test.go":   "//go:build js\n\npackage m\n\nvar _ string = F()\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{
		"linux/amd64": "", "linux/386": "", "windows/amd64": "", "windows/386": "overflows", "darwin/arm64": "undefined: g", "js/wasm": "string",
	} {
		goos, goarch, _ := strings.Cut(system, "/")
		wrong, err := check(dir, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch), []string{"./..."})
		if all := strings.Join(wrong, "\n"); err != nil || (want == "") != (all == "") || !strings.Contains(all, want) {
			t.Errorf("%s: %q, %v", system, all, err)
		}
	}
}
