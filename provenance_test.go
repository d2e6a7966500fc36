package pare_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
)

// A target of two kinds becomes −1 and 1 and keeps its names; others are refused or stay.
func TestTargetsOfModels(t *testing.T) {
	for _, c := range []struct {
		model   pare.Model
		y       []float64
		labels  []string
		want    []float64
		classes string
		kind    outcome.Kind
	}{
		{pare.Logistic, []float64{0, 1, 1}, nil, []float64{-1, 1, 1}, "0 1", ""},
		{pare.SVM, []float64{2, 1}, nil, []float64{1, -1}, "1 2", ""},
		{pare.Logistic, []float64{-1, 1}, nil, []float64{-1, 1}, "-1 1", ""},
		{pare.Logistic, []float64{1, 0}, []string{"no", "yes"}, []float64{1, -1}, "no yes", ""},
		{pare.Logistic, []float64{1, -1, 0}, nil, nil, "", outcome.BadParameter},
		{pare.Logistic, []float64{3, 3}, nil, []float64{1, 1}, "3", ""},
		{pare.Lasso, []float64{0, 1}, nil, []float64{0, 1}, "", ""},
		{pare.Lasso, []float64{0, 1}, []string{"a", "b"}, nil, "", outcome.BadParameter},
		{pare.Multiclass, []float64{2, 0, 1}, []string{"a", "b", "c"}, []float64{2, 0, 1}, "a b c", ""},
		{pare.Multiclass, []float64{0.5, 7}, nil, []float64{0.5, 7}, "0.5 7", ""},
	} {
		before := slices.Clone(c.y)
		y, classes, err := c.model.Target(c.y, c.labels)
		if outcome.KindOf(err) != c.kind || !slices.Equal(y, c.want) || strings.Join(classes, " ") != c.classes || !slices.Equal(c.y, before) {
			t.Errorf("%s of %v: %v, %q, %v", c.model, c.y, y, classes, err)
		}
	}
}

// What a model is told about itself is kept with it, and what does not fit it is refused.
func TestProvenanceIsKept(t *testing.T) {
	f := &pare.Fitted{Model: pare.Logistic, Loss: "logistic", Link: loss.Logit, Columns: 3, LogLambda: []float64{-2.5}, Support: []int32{0, 2}, Coef: []float64{1.5, -0.25}, Intercept: 0.1, Status: outcome.Converged}
	from := pare.Provenance{
		Names: []string{"a", "c=x", "c=y"}, Labels: []string{"no", "yes"}, Standardized: true, Data: "1234", Program: "a program",
		Schema: &table.Schema{Width: 4, Target: "t", TargetPosition: 3, Missing: table.Mean, Inputs: []table.Input{
			{Name: "a", Position: 0, Fill: []float64{0.1}}, {Name: "c", Position: 2, Categories: []string{"x", "y"}, Fill: []float64{1.0 / 3, 2.0 / 3}},
		}},
	}
	p, err := f.Predictor().With(from)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := p.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := pare.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Provenance(), from) || !slices.Equal(again.LogLambda(), f.LogLambda) || again.Label(1) != "yes" {
		t.Errorf("%+v", again.Provenance())
	}
	columns, coef, intercept := again.Coefficients(0)
	if !slices.Equal(columns, f.Support) || !slices.Equal(coef, f.Coef) || intercept != 0.1 {
		t.Errorf("%v %v %v", columns, coef, intercept)
	}
	if status, _ := again.Status(); status != outcome.Converged {
		t.Errorf("status %s", status)
	}
	for name, spoil := range map[string]func(*pare.Provenance, *table.Schema){
		"names":      func(p *pare.Provenance, _ *table.Schema) { p.Names = p.Names[1:] },
		"labels":     func(p *pare.Provenance, _ *table.Schema) { p.Labels = p.Labels[1:] },
		"place":      func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Position = 0 },
		"far":        func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Position = 4 },
		"fill":       func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Fill = []float64{1} },
		"categories": func(_ *pare.Provenance, s *table.Schema) { s.Inputs[1].Categories = []string{"y", "x"} },
		"columns":    func(_ *pare.Provenance, s *table.Schema) { s.Inputs = s.Inputs[:1] },
	} {
		own, schema := from, *from.Schema
		schema.Inputs = slices.Clone(schema.Inputs)
		own.Schema = &schema
		spoil(&own, &schema)
		if _, err := f.Predictor().With(own); outcome.KindOf(err) != outcome.Shape {
			t.Errorf("%s: %v", name, err)
		}
	}
}
