package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/bench/peers"
)

func TestPagesAreRenewedFromFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a.csv", "x,y,z\n1,0.123456789,a|b\n2,,c\n")
	write("a.json", `{"command": "perf figures a", "seconds": 2, "machine": "M", "date": "D"}`)
	entry := func(name string, seconds ...float64) peers.Entry { return peers.Entry{Name: name, Seconds: seconds} }
	if err := writeCSV(filepath.Join(dir, "p.csv"), peersTable([]peers.Comparison{{Row: "lasso d 0.1", Target: 1e-6, Outcomes: []peers.Entry{
		entry(peers.Ours, 0.5, 0.5), entry(peers.Prepared, 0.25), entry("other", 1, 1.5), {Name: "gone", Absent: "too slow"}, {Name: "nowhere", Absent: "not installed"},
	}}})); err != nil {
		t.Fatal(err)
	}
	if err := writeCSV(filepath.Join(dir, "q.csv"), peersTable([]peers.Comparison{
		{Row: "lasso d 0.1", Target: 1e-6, Outcomes: []peers.Entry{entry(peers.Ours, 0.4), entry(peers.Prepared, 0.1), entry("third", 1.6)}},
		{Row: "lasso d 0.01", Target: 1e-6, Outcomes: []peers.Entry{entry(peers.Ours, 1), entry("third", 10)}},
		{Row: "logreg d 0.1", Target: 1e-6, Outcomes: []peers.Entry{entry(peers.Ours, 1), {Name: "third", Absent: "too slow"}}},
		{Row: "svm d 1", Target: 1e-4, Outcomes: []peers.Entry{entry(peers.Ours, 1), entry("third", 1)}},
	})); err != nil {
		t.Fatal(err)
	}
	page := write("page.md", "Before <!-- a remark -->.\n<!-- table a.csv: z, y -->\nold\n<!-- end -->\n<!-- run a.json -->\n<!-- end -->\n"+
		"<!-- peers p.csv: enet,lasso 1e-6 -->\n<!-- end -->\n<!-- best p.csv, q.csv: lasso 0.1 = 3; lasso,logreg = 2 -->\n<!-- end -->\n<!-- table none.csv -->\nstays\n<!-- end -->\nAfter.\n")
	_, errs := perf(t, 0, "page", page)
	if !strings.Contains(errs, "none.csv") {
		t.Errorf("%s", errs)
	}
	read := func() string {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	got := read()
	for _, want := range []string{
		"Before <!-- a remark -->.\n", "| z | y |\n|---|---|\n| a\\|b | 0.12346 |\n| c |  |\n", "`perf figures a`: 2 s on D; M",
		"| problem | pare | pare, prepared | other | gone |\n", "| lasso d 0.1 | 0.5 s | 0.25 s | 2.5 [2, 3] | too slow |\n", "\nstays\n", "After.\n",
		"| lasso d 0.1 | 0.4 s | other | 2.5 | 3 | **no** |\n| lasso d 0.01 | 1 s | third | 10 | 2 | yes |\n| logreg d 0.1 | 1 s | not in time |  | 2 | yes |\n\n" +
			"2 of 3 problems meet their goal; the geometric mean over the 2 that somebody else solved is 5.00.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "old") {
		t.Error("the old table is still there")
	}
	perf(t, 0, "page", page)
	if again := read(); again != got {
		t.Errorf("renewed twice:\n%s", again)
	}
	for _, bad := range []string{
		"<!-- table a.csv -->", "<!-- table a.csv: w -->\n<!-- end -->", "<!-- peers a.csv: lasso 1 -->\n<!-- end -->", "<!-- table",
		"<!-- best p.csv: lasso -->\n<!-- end -->", "<!-- best a.csv: lasso = 2 -->\n<!-- end -->", "<!-- table a.csv, p.csv -->\n<!-- end -->",
	} {
		perf(t, 1, "page", write("bad.md", bad))
	}
}
