package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestSplits checks that every split of the rows leads to a choice of λ, that the output says
// how it was judged, and that the suggested command repeats the split.
func TestSplits(t *testing.T) {
	var groups, order strings.Builder
	for i := range 442 {
		fmt.Fprintln(&groups, i/7)
		fmt.Fprintln(&order, i/100-1)
	}
	patients, stretches := writeFile(t, "groups", groups.String()), writeFile(t, "order", order.String())
	for args, want := range map[string]string{
		"--split=stratified":                      "5 folds stratified by the target, rows shuffled with seed 0",
		"--split=blocks --folds=3":                "3 folds of neighbouring rows",
		"--split=forward":                         "5 folds, each predicted from the rows before it",
		"--groups=" + patients:                    "5 folds of whole groups, rows shuffled with seed 0",
		"--split=forward --fold-ids=" + stretches: "folds of " + stretches + ", each from those before it",
		"--split=forward --criterion=holdout":     "the last of 5 folds, each predicted from the rows before it",
	} {
		first := strings.Fields(args)
		o := pareRun(t, append([]string{"select"}, first...)...)
		if o.code != exitOK || !strings.Contains(flat(o.stdout), want) {
			t.Errorf("%s: exit %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
		for _, flag := range first {
			if !strings.Contains(o.stdout, flag) {
				t.Errorf("%s: the next command lacks %s\n%s", args, flag, o.stdout)
			}
		}
	}
	for args, want := range map[string]string{
		"--split=odd":                                       "unknown value \"odd\"; choose from rows, stratified, blocks, forward",
		"--split=blocks --groups=" + patients:               "can be used with split rows",
		"--fold-ids=" + stretches + " --split=stratified":   "fold ids can be used with rows and forward",
		"--fold-ids=" + stretches + " --groups=" + patients: "cannot be used with fold ids, which already",
		"--criterion=sure --groups=" + patients:             "applies only to --criterion cv and holdout",
		"--groups=" + writeFile(t, "words", "one\ntwo\n"):   "not a group: give an integer",
	} {
		o := pareRun(t, append([]string{"select"}, strings.Fields(args)...)...)
		if o.code == exitOK || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit %d, %s", args, o.code, o.stderr)
		}
	}
}
