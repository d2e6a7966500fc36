package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// keptData is what models in testdata/kept were fitted on, by how their names begin; the
// others on the embedded data.
func keptData(file string) []string {
	for begin, data := range map[string]string{"logreg": "two.svm", "svm": "two.svm", "multiclass": "three.svm", "table": "table.csv"} {
		if strings.HasPrefix(filepath.Base(file), begin) {
			return []string{filepath.Join("testdata", "kept", data)}
		}
	}
	return nil
}

func keptFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "kept", "*", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("no files ", pattern, err)
	}
	return files
}

// Models, checkpoints and mapped files that earlier versions wrote are read, and mean what they
// meant: testdata/kept has a folder for each version, named for its commit, with files as its
// command wrote them and the predictions and results it printed.
func TestEarlierFilesAreRead(t *testing.T) {
	for _, model := range keptFiles(t, "*.model") {
		if o := pareRun(t, "inspect", "--json", model); o.code != exitOK {
			t.Errorf("%s: %s", model, o.stdout)
		}
		want, err := os.ReadFile(strings.TrimSuffix(model, "model") + "predictions")
		if err != nil {
			continue // one of them is enough
		}
		if o := pareRun(t, append([]string{"predict", model}, keptData(model)...)...); o.code != exitOK || o.stdout != string(want) {
			t.Errorf("%s: exit %d, predicts\n%.300s\nand did\n%.300s", model, o.code, o.stdout, want)
		}
	}
	for _, mapped := range keptFiles(t, "*.pare") {
		source := append(keptData(mapped), "--target=y", "--one-hot", "--missing=mean")
		if strings.HasPrefix(filepath.Base(mapped), "two") {
			source = []string{filepath.Join("testdata", "kept", "two.svm")}
		}
		fit := []string{"fit", "--model=logreg", "--ratio=0.1", "--coef"}
		a, b := decoded[fitResult](t, exitOK, append(fit, mapped)...), decoded[fitResult](t, exitOK, append(fit, source...)...)
		if !slices.Equal(a.Coef.Value, b.Coef.Value) || !slices.Equal(a.Coef.Index, b.Coef.Index) {
			t.Errorf("%s: %v, its source %v", mapped, a.Coef, b.Coef)
		}
	}
}

// keptSearches are those of the checkpoints.
var keptSearches = map[string][]string{"lasso": nil, "enet": {"--model=enet", "--search=gradient", "--evaluations=8"}}

// Checkpoints of version 3 and later answer what they were asked; those of searches that are
// no more are refused by that name: all of version 2, and those of the default search, whose
// points change as it learns to look better.
func TestEarlierCheckpointsAreRead(t *testing.T) {
	for _, log := range keptFiles(t, "*.log") {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		model := strings.TrimSuffix(filepath.Base(log), ".log")
		own := writeFile(t, "log", string(text)) // to be written to
		o := pareRun(t, append([]string{"select", "--json", "--checkpoint=" + own}, keptSearches[model]...)...)
		if strings.HasPrefix(string(text), `{"pare_search_log":2,`) {
			if o.code != exitFailed || !strings.Contains(o.stdout, "version 2 of a log") {
				t.Errorf("%s: exit %d, %s", log, o.code, o.stdout)
			}
			continue
		}
		if keptSearches[model] == nil {
			if o.code != exitUsage || !strings.Contains(o.stdout, "the log is another search's") {
				t.Errorf("%s: exit %d, %s", log, o.code, o.stdout)
			}
			continue
		}
		earlier, err := os.ReadFile(strings.TrimSuffix(log, "log") + "json")
		if err != nil {
			t.Fatal(err)
		}
		var was, is map[string]any
		if err := json.Unmarshal(earlier, &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(o.stdout), &is); err != nil || o.code != exitOK && o.code != exitUntrusted {
			t.Fatalf("%s: exit %d, %s", log, o.code, o.stdout)
		}
		for _, name := range []string{"log_lambda", "value", "gradient_norm", "null_value"} {
			if a, b := fmt.Sprint(was[name]), fmt.Sprint(is[name]); a != b {
				t.Errorf("%s: %s is %s, and was %s", log, name, b, a)
			}
		}
	}
}

// Every name of the JSON of earlier versions is there still, with a value of its kind.
func TestEarlierJSONIsKept(t *testing.T) {
	for _, file := range keptFiles(t, "*.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var was, is any
		o := pareRun(t, append([]string{"select", "--json"}, keptSearches[strings.TrimSuffix(filepath.Base(file), ".json")]...)...)
		if err := json.Unmarshal(text, &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(o.stdout), &is); err != nil {
			t.Fatalf("%v in %s", err, o.stdout)
		}
		covers(t, file, was, is)
	}
}

// covers checks that a JSON value has all that an earlier one had: members of objects, and
// in lists what the first element has.
func covers(t *testing.T, where string, was, is any) {
	t.Helper()
	if a, b := fmt.Sprintf("%T", was), fmt.Sprintf("%T", is); a != b && was != nil && is != nil {
		t.Errorf("%s: %s, and was %s", where, b, a)
		return
	}
	switch was := was.(type) {
	case map[string]any:
		for name, member := range was {
			now, ok := is.(map[string]any)[name]
			if !ok {
				t.Errorf("%s: no %q any more", where, name)
				continue
			}
			covers(t, where+"."+name, member, now)
		}
	case []any:
		if now, _ := is.([]any); len(was) > 0 && len(now) > 0 {
			covers(t, where+"[0]", was[0], now[0])
		}
	}
}
