package distributed

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// fill sets all plain fields of a struct to nonzero values, and returns the names of its other fields.
func fill(to any) (others []string) {
	v := reflect.ValueOf(to).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if !plain(field.Type()) {
			others = append(others, v.Type().Field(i).Name)
			continue
		}
		set := func(v reflect.Value) {
			switch v.Kind() {
			case reflect.Bool:
				v.SetBool(true)
			case reflect.String:
				v.SetString("é")
			case reflect.Float64:
				v.SetFloat(math.Inf(1))
			case reflect.Uint64:
				v.SetUint(math.MaxUint64)
			default:
				v.SetInt(-7)
			}
		}
		if field.Kind() == reflect.Slice {
			field.Set(reflect.MakeSlice(field.Type(), 3, 3))
			set(field.Index(1))
			continue
		}
		set(field)
	}
	return others
}

// TestJobsTravelWhole checks that every field of a Config and a Validation is transmitted, or is listed as
// one that is not.
func TestJobsTravelWhole(t *testing.T) {
	j := pare.Job{MaxGram: 7, MaxPacked: 9}
	if others := fill(&j.Config); !slices.Equal(others, []string{"Loss", "Pool", "Observer", "Solved"}) {
		t.Errorf("fields of Config that are not plain: %v; newRecord must send them, refuse them or leave them out on purpose", others)
	}
	if others := fill(&j.Validation); !slices.Equal(others, []string{"Loss"}) {
		t.Errorf("fields of Validation that are not plain: %v", others)
	}
	for _, j.Config.Loss = range append(loss.All(), nil, loss.Huber{Delta: 1.0 / 3}) {
		for _, name := range append(criterion.Names(), "") {
			if j.Validation.Loss = nil; name != "" {
				j.Validation.Loss = criterion.Named(name)
			}
			r, err := newRecord(j)
			if err != nil {
				t.Fatal(err)
			}
			text, err := encode(r)
			if err != nil {
				t.Fatal(err)
			}
			var there record
			if err := decode(text, &there); err != nil {
				t.Fatal(err)
			}
			got, err := there.job()
			want := j
			want.Config.Threads, want.Config.Solved = 0, nil
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v arrives as %+v: %v", want, got, err)
			}
		}
	}
}

type ownLoss struct{ loss.Squared }

func (ownLoss) Name() string { return "own" }

// TestCodeDoesNotTravel checks that a user's own loss or criterion is refused by name.
func TestCodeDoesNotTravel(t *testing.T) {
	mine := criterion.Func("mine", func(_, _, _ []float64) float64 { return 0 })
	for flag, j := range map[string]pare.Job{
		"loss":            {Config: pare.Config{Loss: ownLoss{}}},
		"validation-loss": {Validation: pare.Validation{Loss: mine}},
	} {
		_, err := newRecord(j)
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Usage || e.Flag != flag {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestLanesOfGroups checks that every lane is in exactly one group, and that the group lists it.
func TestLanesOfGroups(t *testing.T) {
	for _, r := range []record{{Folds: 5}, {Folds: 3, Classes: 8}, {Folds: 2, Classes: 53}} {
		seen := map[bilevel.LaneID]bool{}
		for group := range r.groups() {
			for _, id := range r.lanes(group) {
				if seen[id] || r.group(id) != group {
					t.Errorf("%+v: lane %v of group %d", r, id, group)
				}
				seen[id] = true
			}
		}
		if len(seen) != r.Folds*max(1, r.Classes) {
			t.Errorf("%+v: %d lanes", r, len(seen))
		}
	}
}

// FuzzMessages checks that a worker and a coordinator respond to any message with a typed error or with what
// it asks for, and never panic.
func FuzzMessages(f *testing.F) {
	for _, message := range [][]any{
		{&record{Version: Version(), Folds: 2}},
		{&answer{}, &bilevel.LaneResult{}},
		{bilevel.LaneRequest{}, bilevel.LaneRequest{Lane: bilevel.LaneID{Fold: 1}, Ask: bilevel.AskSolve, LogLambda: []float64{-1}}},
		{bilevel.LaneRequest{Ask: bilevel.AskSolve, LogLambda: []float64{-2}, Start: &bilevel.Solution{Support: []int32{1}, Coef: []float64{3}}, Tell: true}},
		{bilevel.LaneRequest{Ask: bilevel.AskRestore, State: []byte("state")}},
	} {
		text, err := encodeEach(nil, message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte{0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}) // an array that claims 2⁶³ entries
	x, err := sparse.NewDense(6, 2, []float64{1, 2, 3, 4, 5, 6, 2, 1, 2, 1, 2, 1})
	if err != nil {
		f.Fatal(err)
	}
	y := []float64{1, 2, 4, 3, 5, 7}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<12 {
			return
		}
		typed := func(err error) {
			if err != nil && outcome.KindOf(err) == "" {
				t.Errorf("%v has no kind", err)
			}
		}
		var r record
		err := decode(text, &r)
		typed(err)
		if err == nil && r.check() == nil {
			_, err := r.job()
			typed(err)
		}
		c := coordinator{run: &Run{ID: "f", workers: map[string]Work{}}}
		_, _, err = c.read(&batch{at: []int{0}, text: text}, text)
		typed(err)
		lanes, err := pare.NewLanes(t.Context(), x, y, pare.Job{Config: pare.Config{Threads: 1, MaxEpochs: 100}, Validation: pare.Validation{Folds: 2}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = serve(t.Context(), lanes, &record{Folds: 2}, 0, text)
		typed(err)
	})
}

// TestErrorsOfWorkersSayWhere checks that errors of workers keep their position: the row, the column, the
// class.
func TestErrorsOfWorkersSayWhere(t *testing.T) {
	sent := &outcome.Error{Kind: outcome.NonFinite, Part: "fold 2", HasRow: true, Row: 3, HasColumn: true, Column: 7, HasClass: true, Class: -1.5, Message: "the value is not finite"}
	text, err := encode(newRefusal(sent))
	if err != nil {
		t.Fatal(err)
	}
	var r refusal
	if err := decode(text, &r); err != nil {
		t.Fatal(err)
	}
	want := *sent
	want.Message += " (worker 5)"
	if got, ok := errors.AsType[*outcome.Error](r.err("5")); !ok || *got != want {
		t.Errorf("%#v, want %#v", got, want)
	}
}

// TestHostileMessagesAreSmall checks that a record of more groups than workers accept, and requests and
// answers of more parts than possible, are refused before they take memory.
func TestHostileMessagesAreSmall(t *testing.T) {
	for _, r := range []record{{Folds: mostGroups + 1}, {Folds: 1, Classes: mostClasses + 1}, {Folds: mostGroups, Classes: perGroup + 1}} {
		r.Data, r.Bytes = strings.Repeat("a", 64), 100
		if err := r.check(); outcome.KindOf(err) != outcome.Limit {
			t.Errorf("%d folds of %d classes: %v", r.Folds, r.Classes, err)
		}
	}
	parts := bytes.Repeat([]byte{0xa0}, 1<<20) // empty maps
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := serve(t.Context(), nil, &record{Folds: 2}, 0, parts); outcome.KindOf(err) != outcome.Parse {
		t.Errorf("request: %v", err)
	}
	c := coordinator{run: &Run{ID: "f", workers: map[string]Work{}}}
	if _, _, err := c.read(&batch{at: []int{0}, text: parts}, parts); err == nil {
		t.Error("an answer of many parts is read")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%d bytes for messages of %d", took, len(parts))
	}
}
