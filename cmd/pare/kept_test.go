package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
)

var keepAs = flag.String("keep", "", "write files as this version does to testdata/kept, in a folder of this name")

// keptData returns the data on which a model in testdata/kept was fitted, determined by how its file
// name begins, or nil for the embedded data.
func keptData(file string) []string {
	for begin, data := range map[string]string{
		"two": "two.svm", "logreg": "two.svm", "svm": "two.svm", "three": "three.svm", "multiclass": "three.svm", "table": "table.csv",
	} {
		if strings.HasPrefix(filepath.Base(file), begin) {
			return []string{filepath.Join("testdata", "kept", data)}
		}
	}
	return nil
}

// keptRows returns the data together with the further arguments that predictions need.
func keptRows(file string) []string {
	data := keptData(file)
	if strings.Contains(filepath.Base(file), "offset") {
		data = append(data, "--offset="+filepath.Join("testdata", "kept", "offset.txt"))
	}
	return data
}

func keptFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "kept", "*", pattern))
	if err != nil || len(files) == 0 {
		t.Fatal("no files ", pattern, err)
	}
	return files
}

// TestEarlierFilesAreRead checks that models, checkpoints and mapped files of earlier versions are
// still read with the same meaning. testdata/kept has one folder per version, named for its commit,
// with the files that its command wrote and the predictions and results that it printed.
func TestEarlierFilesAreRead(t *testing.T) {
	for _, model := range keptFiles(t, "*.model") {
		if o := pareRun(t, "inspect", "--json", model); o.code != exitOK {
			t.Errorf("%s: %s", model, o.stdout)
		}
		want, err := os.ReadFile(strings.TrimSuffix(model, "model") + "predictions")
		if err != nil {
			continue // one of them is enough
		}
		if o := pareRun(t, append([]string{"predict", model}, keptRows(model)...)...); o.code != exitOK || o.stdout != string(want) {
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

// keptSearches holds the arguments of the search of each checkpoint.
var keptSearches = map[string][]string{
	"lasso": nil,
	"enet":  {"--model=enet", "--search=gradient", "--evaluations=8"},
	"ridge": {"--model=ridge", "--search=tpe", "--evaluations=8"},
	"sure":  {"--model=wlasso", "--criterion=sure", "--search=adam", "--evaluations=8"},
}

// TestEarlierCheckpointsAreRead checks that checkpoints from version 3 on answer the evaluations
// that they hold. Checkpoints of searches that no longer exist are refused with that reason: all of
// version 2, and those of the default search, whose points change when the search is improved.
func TestEarlierCheckpointsAreRead(t *testing.T) {
	for _, log := range keptFiles(t, "*.log") {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		model := strings.TrimSuffix(filepath.Base(log), ".log")
		own := writeFile(t, "log", string(text)) // a copy that may be written to
		o := pareRun(t, append([]string{"select", "--json", "--checkpoint=" + own}, keptSearches[model]...)...)
		if strings.HasPrefix(string(text), `{"pare_search_log":2,`) {
			if o.code != exitFailed || !strings.Contains(o.stdout, "version 2 of a log") {
				t.Errorf("%s: exit %d, %s", log, o.code, o.stdout)
			}
			continue
		}
		if keptSearches[model] == nil {
			if o.code != exitUsage || !strings.Contains(o.stdout, "the log belongs to another search") {
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

// TestEarlierJSONIsKept checks that every name in the results of earlier versions is in those of
// this version, with a value of the same type.
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

// TestEarlierNamesAreKept checks that no name which an earlier version could print, in any result,
// is missing or has values of another type.
func TestEarlierNamesAreKept(t *testing.T) {
	now := printable()
	for _, file := range keptFiles(t, "names.txt") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.Lines(string(text)) {
			if !now[strings.TrimSuffix(name, "\n")] {
				t.Errorf("%s: no %q any more", file, name)
			}
		}
	}
}

// printable returns the paths of everything that results can contain, each with the type of its
// values.
func printable() map[string]bool {
	all := map[string]bool{}
	for command, result := range map[string]any{
		"fit": fitResult{}, "grad": gradResult{}, "select": selectResult{}, "path": pathResult{}, "info": infoResult{},
		"predict": predictResult{}, "inspect": inspectResult{}, "convert": convertResult{}, "any": failure{},
	} {
		paths(command, reflect.TypeOf(result), all)
	}
	return all
}

func paths(prefix string, of reflect.Type, into map[string]bool) {
	kind := of.Kind().String()
	switch of.Kind() {
	case reflect.Pointer:
		paths(prefix, of.Elem(), into)
		return
	case reflect.Slice, reflect.Array:
		paths(prefix+"[]", of.Elem(), into)
		return
	case reflect.Map:
		paths(prefix+".*", of.Elem(), into)
		return
	case reflect.Struct:
		for field := range of.Fields() {
			switch name, _, _ := strings.Cut(field.Tag.Get("json"), ","); {
			case name != "":
				paths(prefix+"."+name, field.Type, into)
			case field.Anonymous:
				paths(prefix, field.Type, into)
			}
		}
		return
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Float64:
		kind = "number"
	}
	into[prefix+" "+kind] = true
}

// TestKeepFiles writes the files that later versions must read: a model of every kind, with the
// options that models store, mapped files, checkpoints with their results, and the names in the
// JSON.
func TestKeepFiles(t *testing.T) {
	if *keepAs == "" {
		t.Skip("-keep NAME writes a folder, once for a version")
	}
	dir := filepath.Join("testdata", "kept", *keepAs)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := func(args ...string) string {
		o := pareRun(t, args...)
		if o.code != exitOK && o.code != exitUntrusted {
			t.Fatalf("%v: exit %d, %s%s", args, o.code, o.stdout, o.stderr)
		}
		return o.stdout
	}
	models := map[string][]string{ // the arguments by name; keptData derives the data from the name
		"three-offset":       {"--model=poisson", "--ratio=0.1", "--offset=" + filepath.Join("testdata", "kept", "offset.txt")},
		"three-standardized": {"--standardize", "--ratio=0.1"},
		"two-loss":           {"--loss=logistic", "--penalty=group", "--column-groups=size:2", "--ratio=0.1", "--unit-rows"},
		"table":              {"--target=y", "--one-hot", "--missing=mean", "--model=logreg", "--ratio=0.1"},
	}
	for _, m := range pare.Models() {
		traits, name, at := m.Traits(), "three-"+string(m), "--ratio=0.1"
		if m == pare.Logistic || m == pare.SVM || m == pare.SquaredHinge {
			name = "two-" + string(m)
		}
		if traits.Samples {
			at = "--log-lambda=-1"
		}
		models[name] = []string{"--model=" + string(m), at}
		if traits.Grouped {
			models[name] = append(models[name], "--column-groups=size:2")
		}
		if !traits.Convex {
			models[name] = append(models[name], "--standardize")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(models)) {
		file := filepath.Join(dir, name+".model")
		done(append(append([]string{"fit", "--save=" + file}, keptData(name)...), models[name]...)...)
		write(name+".predictions", done(append([]string{"predict", file}, keptRows(name)...)...))
	}
	done("convert", filepath.Join("testdata", "kept", "two.svm"), filepath.Join(dir, "two.pare"))
	done("convert", filepath.Join("testdata", "kept", "table.csv"), filepath.Join(dir, "table.pare"), "--target=y", "--one-hot", "--missing=mean")
	for name, search := range keptSearches {
		args := append([]string{"select", "--json"}, search...)
		if search != nil { // the default search may change, so only its names are kept
			args = append(args, "--checkpoint="+filepath.Join(dir, name+".log"))
		}
		write(name+".json", done(args...))
	}
	write("names.txt", strings.Join(slices.Sorted(maps.Keys(printable())), "\n")+"\n")
}

// covers checks that a JSON value has everything that an earlier value had: the members of objects
// and, in lists, those of the first element.
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
