package table_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/table"
)

// TestDescribeListsWhatIsInTheColumns checks that a table is described whatever its cells hold,
// and that formats other than tables are refused.
func TestDescribeListsWhatIsInTheColumns(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("any.csv", "a,kind,a,y,void,price\n1,red,2,yes,,\"1,000\"\n2,blue,NA,no,,5\n3,,4,no,,6\n4,red,x,yes,,7\n")
	got, err := table.Describe(t.Context(), path, table.Options{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	for k := range got.Columns { // without unexported fields
		c := got.Columns[k]
		got.Columns[k] = table.Content{
			Name: c.Name, Target: c.Target, Feature: c.Feature, Again: c.Again, Numbers: c.Numbers, Texts: c.Texts, Missing: c.Missing,
			Categories: c.Categories, More: c.More, Fault: c.Fault,
		}
	}
	want := []table.Content{
		{Name: "a", Feature: true, Numbers: 4},
		{Name: "kind", Feature: true, Texts: 3, Missing: 1, Categories: []string{"blue", "red"}},
		{Name: "a", Feature: true, Again: true, Numbers: 2, Texts: 1, Missing: 1, Categories: []string{"x"}},
		{Name: "y", Target: true, Texts: 4, Categories: []string{"no", "yes"}},
		{Name: "void", Feature: true, Missing: 4},
		{Name: "price", Feature: true, Numbers: 3, Texts: 1, Categories: []string{"1,000"}, Fault: got.Columns[5].Fault},
	}
	if got.Rows != 4 || !got.Named || got.Format != "CSV" || !reflect.DeepEqual(got.Columns, want) || !strings.Contains(got.Columns[5].Fault, "comma") {
		t.Errorf("%+v", got)
	}
	if got, err := table.Describe(t.Context(), write("lines.svm", "1 1:2\n-1 2:3\n"), table.Options{}); got != nil || err != nil {
		t.Errorf("svmlight: %+v, %v", got, err)
	}
	if _, err := table.Describe(t.Context(), path, table.Options{Target: "z"}); err == nil {
		t.Error("a target that is not there")
	}
}
