package main

import (
	"strings"
	"testing"
)

// Every end of a search, and every refusal, says what to do next.
func TestWhatToDoNext(t *testing.T) {
	for args, want := range map[string]string{
		"select --model=enet":                     "lasso is as good",
		"select --search=random --evaluations=20": "the best of the points drawn",
		"select --search=tpe --evaluations=20":    "the best of the points drawn",
		"select --search=grid --min-ratio=0.5":    "lower --min-ratio",
		"select --model=logreg":                   "--model multiclass takes labels of any kind",
		"select --model=svm":                      "lasso, enet and ridge take numbers",
		"select --model=wlasso":                   "pare select --save=MODEL --model=wlasso",
		"fit --ratio=0.1":                         "pare select",
	} {
		o := pareRun(t, strings.Fields(args)...)
		if !strings.Contains(o.stdout+o.stderr, want) {
			t.Errorf("pare %s: exit %d\n%s%swithout %q", args, o.code, o.stdout, o.stderr, want)
		}
		if strings.Contains(args, "random") && o.code != exitOK {
			t.Errorf("pare %s: exit %d", args, o.code)
		}
	}
}
