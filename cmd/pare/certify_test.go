package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestProofsAreMadeOnRequest checks that proofs are made on request, and by default on small
// data, and that a result without a proof says that none was attempted.
func TestProofsAreMadeOnRequest(t *testing.T) {
	var wide strings.Builder // 300 columns, so that a factorisation takes 27 million multiplications
	for i := range 4 {
		wide.WriteString([]string{"1", "2", "4", "8"}[i] + " " + []string{"1:1", "2:1", "1:1", "300:2"}[i] + "\n")
	}
	file := writeFile(t, "wide.svm", wide.String())
	for _, c := range []struct {
		args    string
		checked bool
		unique  bool
		says    string
	}{
		{"fit --ratio 0.1", true, true, "proved: one solution, with this support"},
		{"fit --ratio 0.1 --certify=false", false, false, "not checked; --certify does"},
		{"fit --ratio 0.1,0.1 --model enet --no-certify", false, true, "proved: one solution\n"},
		{"fit --ratio 0.1 " + file, false, false, "not checked; --certify does"},
		{"fit --ratio 0.1 --certify " + file, true, true, "proved: one solution, with this support"},
		{"fit --ratio 0.1 --model huber", true, false, "not proved: no proof exists for this model"},
		{"fit --ratio 0.1 --model group --column-groups size:2", true, false, "not proved: no proof exists for this model"},
		{"fit --ratio 0.1 --model huber --no-certify", false, false, "not proved: no proof exists for this model"},
		{"fit --ratio 0.1 --tol 0.1 " + file, false, false, "not checked; --certify does"},
	} {
		args := strings.Fields(c.args)
		o := pareRun(t, args...)
		if o.code != exitOK || !strings.Contains(o.stdout, c.says) {
			t.Errorf("pare %s: exit %d\n%s%swithout %q", c.args, o.code, o.stdout, o.stderr, c.says)
		}
		var got struct {
			Unique     *bool
			Certified  *bool    `json:"support_certified"`
			DualMargin *float64 `json:"dual_margin"`
		}
		if err := json.Unmarshal([]byte(pareRun(t, append(args, "--json")...).stdout), &got); err != nil {
			t.Fatal(err)
		}
		if (got.Unique != nil) != c.unique || (got.Certified != nil) != c.checked || (got.DualMargin != nil) != c.checked {
			t.Errorf("pare %s: %+v", c.args, got)
		}
	}
}
