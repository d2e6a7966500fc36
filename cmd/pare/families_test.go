package main

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
)

// drawnFor writes svmlight text with labels suitable for the loss.
func drawnFor(t *testing.T, of string, link loss.Link) string {
	t.Helper()
	r := oracle.NewRandom(19)
	var text strings.Builder
	for i := range 48 {
		var row strings.Builder
		score := 0.0
		for j := range 6 {
			v := r.Normal()
			fmt.Fprintf(&row, " %d:%.3f", j+1, v)
			score += v * float64(j%3) / 2
		}
		score += r.Normal() / 2
		switch {
		case of == multinomial:
			score = float64(i % 3)
		case link.Classes():
			score = math.Copysign(1, score)
		case link == loss.Log:
			score = math.Floor(math.Exp(score/2)) + 1
		}
		fmt.Fprintf(&text, "%.3f%s\n", score, row.String())
	}
	return writeFile(t, of+".svm", text.String())
}

// TestEveryLossWithEveryPenaltyByFlags checks --loss and --penalty: combinations in the table of
// models are fitted, saved, reported, differentiated and used for prediction; other combinations
// are refused under the name of the flag.
func TestEveryLossWithEveryPenaltyByFlags(t *testing.T) {
	links := map[string]loss.Link{multinomial: ""}
	for _, l := range loss.All() {
		links[l.Name()] = l.Link()
	}
	turn := 0
	for _, of := range slices.Sorted(maps.Keys(links)) {
		file := drawnFor(t, of, links[of])
		for _, penalty := range slices.Sorted(maps.Keys(penalties(of))) {
			if turn++; !oracle.Turn(turn, 9) {
				continue
			}
			state := []string{file, "--loss", of, "--penalty", penalty, "--standardize", "--ratio", "0.2", "--tol", "1e-8"}
			if strings.Contains(penalty, "group") && of != multinomial {
				state = append(state, "--column-groups", "size:2")
			}
			switch penalty {
			case "mcp":
				state = append(state, "--gamma", "9")
			case "scad":
				state = append(state, "--a", "9")
			}
			kept := filepath.Join(t.TempDir(), "model.pare")
			if concave := penalty == "mcp" || penalty == "scad"; concave && links[of] == loss.Log {
				if o := pareRun(t, append([]string{"fit"}, state...)...); o.code != exitUsage || !strings.Contains(o.stderr, "--penalty") {
					t.Errorf("%s, %s: exit %d, %s", of, penalty, o.code, o.stderr)
				}
				continue
			}
			f := decoded[fitResult](t, exitOK, append([]string{"fit", "--save", kept}, state...)...)
			if f.Status != "converged" && f.Status != "stationary" {
				t.Errorf("%s, %s: %s", of, penalty, f.Status)
			}
			g := decoded[gradResult](t, exitOK, append([]string{"grad", "--folds", "3"}, state...)...)
			if slope, ok := g.Gradient.([]any); !ok || len(slope) != len(g.LogLambda) || !(float64(g.Value) > 0) {
				t.Errorf("%s, %s: %v at %v, value %g", of, penalty, g.Gradient, g.LogLambda, float64(g.Value))
			}
			if o := pareRun(t, "predict", kept, file); o.code != exitOK || strings.Count(o.stdout, "\n") != 48 {
				t.Errorf("%s, %s: predict exits with %d\n%s%s", of, penalty, o.code, o.stdout, o.stderr)
			}
		}
	}
}
