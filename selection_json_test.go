package pare_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/seed-45b9a24c/pare"
)

// A selection can be written whatever came of it: with λ = −∞, with numbers that are none,
// with an error.
func TestSelectionsMarshal(t *testing.T) {
	x, y := load(t)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, run := range map[string]func() (*pare.Selection, error){
		"enet": func() (*pare.Selection, error) {
			return pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: pare.ElasticNet})
		},
		"cancelled": func() (*pare.Selection, error) {
			return pare.Select(cancelled, x, y, pare.SelectOptions{}, pare.Config{})
		},
		"one-SE": func() (*pare.Selection, error) {
			return pare.Select(context.Background(), x, y, pare.SelectOptions{TakeOneSE: true}, pare.Config{})
		},
	} {
		s, err := run()
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var back struct {
			Status      string
			LogLambda   []*float64
			Value       *float64
			Evaluations []struct{ Value *float64 }
			Final       *struct{ Coef []float64 }
		}
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if back.Status != string(s.Status) || len(back.LogLambda) != len(s.LogLambda) || len(back.Evaluations) != len(s.Evaluations) || (back.Final == nil) != (s.Final == nil) {
			t.Errorf("%s: %s", name, data)
		}
		if s.Final != nil && (len(back.Final.Coef) != len(s.Final.Coef) || *back.Value != s.Value) {
			t.Errorf("%s: %s", name, data)
		}
	}
}
