package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/distributed/internal/program"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
)

// TestMain also runs the workers that the command starts: they are this binary with --part.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--part" {
		if os.Getenv("PARE_TEST_PART") == "ends" {
			os.Exit(9)
		}
		main()
		return
	}
	os.Exit(m.Run())
}

// data writes a table with a target.
func data(t *testing.T) string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 1))
	var text bytes.Buffer
	text.WriteString("target,a,b,c\n")
	for range 80 {
		a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		fmt.Fprintf(&text, "%g,%g,%g,%g\n", 3*a-b+r.NormFloat64(), a, b, c)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// printed returns the output that f prints.
func printed(t *testing.T, f func() error) []byte {
	t.Helper()
	was := os.Stdout
	defer func() { os.Stdout = was }()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = in
	text := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(out)
		text <- all
	}()
	if err := f(); err != nil {
		t.Error(err)
	}
	_ = in.Close()
	return <-text
}

// TestLocalWorkers checks that one command with its own worker processes and server selects as the library does
// in one process, and saves a model that predicts.
func TestLocalWorkers(t *testing.T) {
	c := command{File: data(t), Target: "target", Model: pare.Lasso, Intercept: true, Tol: 1e-6, Search: pare.Auto, Workers: 2, JSON: true}
	c.Save = filepath.Join(t.TempDir(), "model.json")
	text := printed(t, func() error { return c.run(t.Context(), slog.New(slog.DiscardHandler)) })
	var got struct{ LogLambda []float64 }
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	d, err := table.Open(t.Context(), c.File, table.Options{Target: "target"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := pare.Select(t.Context(), d.X, d.Y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.LogLambda) != 1 || got.LogLambda[0] != want.LogLambda[0] {
		t.Errorf("%s, in one process %g", text, want.LogLambda)
	}
	p, err := pare.Load(c.Save)
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Predict(d.X)
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Final.Predictor().Predict(d.X)
	if err != nil || a[7] != b[7] {
		t.Errorf("%g, in one process %g, %v", a[7], b[7], err)
	}
}

// TestFlagsThatDoNotGoTogether checks that incompatible flags are refused by name.
func TestFlagsThatDoNotGoTogether(t *testing.T) {
	for flag, c := range map[string]command{
		"workers":  {File: "x"},
		"state":    {File: "x", Runner: "nats://localhost", State: "y"},
		"cancel":   {Runner: "nats://localhost", Cancel: true},
		"file":     {Workers: 2},
		"runner":   {File: "x", Runner: "nats://127.0.0.1:1"},
		"tls-cert": func() command { c := command{File: "x", Runner: "nats://127.0.0.1:1"}; c.Cert = "c"; return c }(),
	} {
		err := c.run(context.Background(), slog.New(slog.DiscardHandler))
		if e, ok := err.(*outcome.Error); !ok || e.Flag != flag { //nolint:errorlint // not wrapped
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestWorkersThatAllEnd checks that the command does not wait for workers that have all ended.
func TestWorkersThatAllEnd(t *testing.T) {
	t.Setenv("PARE_TEST_PART", "ends")
	c := command{File: data(t), Target: "target", Model: pare.Lasso, Intercept: true, Tol: 1e-6, Search: pare.Auto, Workers: 2}
	err := c.run(t.Context(), slog.New(slog.DiscardHandler))
	if outcome.KindOf(err) != outcome.IO || !strings.Contains(err.Error(), "workers have ended") {
		t.Errorf("%v", err)
	}
}

// TestUntrustedSelectionsAreToldApart checks that a selection which has not converged is printed and has an exit
// status of its own.
func TestUntrustedSelectionsAreToldApart(t *testing.T) {
	c := command{File: data(t), Target: "target", Model: pare.Lasso, Intercept: true, Tol: 1e-6, Search: pare.Auto, Workers: 1, Evaluations: 1}
	var err error
	text := printed(t, func() error { err = c.run(t.Context(), slog.New(slog.DiscardHandler)); return nil })
	if !errors.Is(err, program.ErrUntrusted) || !strings.Contains(string(text), "budget") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestModelsAreSavedOrRefusedAtOnce checks that a file to which the model cannot be saved is refused before the
// search.
func TestModelsAreSavedOrRefusedAtOnce(t *testing.T) {
	c := command{File: data(t), Target: "target", Runner: "nats://127.0.0.1:1", Save: filepath.Join(t.TempDir(), "none", "model.json")}
	err := c.run(t.Context(), slog.New(slog.DiscardHandler))
	if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Flag != "save" {
		t.Errorf("%v", err)
	}
}
