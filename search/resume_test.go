package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TestResume: O3. Every method, stopped after each evaluation and started again
// from its log, takes bit for bit the way of a search that nothing stopped,
// asks for nothing that it has, and gives the same result.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, dim := range []int{1, 2} {
		centre, curvature := []float64{-6.3, -2.1}[:dim], []float64{0.2, 1.1}[:dim]
		objective := func() *analytic {
			return &analytic{f: func(x []float64) (float64, []float64) {
				value, gradient := bowl(centre, curvature)(x)
				if x[0] > -1 {
					return math.NaN(), gradient
				}
				return value + 0.01*math.Sin(30*x[0]), gradient
			}}
		}
		for _, name := range contenders(context.Background(), dim) {
			run := func(ctx context.Context, f *analytic, log *Log) (*Result, error) {
				for _, m := range contenders(ctx, dim) {
					if m.name == name.name {
						return m.run(f, []float64{-4.6, -4.6}[:dim], cube(dim, -12, 0), Options{Evaluations: 9, Schedule: Auto, Log: log})
					}
				}
				panic("no such method")
			}
			whole := objective()
			want, err := run(context.Background(), whole, nil)
			if err != nil {
				t.Fatal(err)
			}
			for k := range whole.seen {
				where := fmt.Sprintf("%s, %d coordinates, stopped after %d", name.name, dim, k)
				log := NewLog("key")
				if name.name == "secant" { // through a file; one method is enough
					_ = os.Remove(path)
					if log, err = OpenLog(path, "key"); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithCancel(context.Background())
				first := objective()
				first.at = func(i int, _ *Evaluation) error {
					if i == k {
						cancel()
					}
					return nil
				}
				r, err := run(ctx, first, log)
				cancel()
				if err != nil || r.Status != outcome.Cancelled || log.Len() != k {
					t.Fatalf("%s: %v, %v, %d in the log", where, r.Status, err, log.Len())
				}
				if name.name == "secant" {
					log, err = OpenLog(path, "key")
				} else {
					var b bytes.Buffer
					if err := log.Write(&b); err != nil {
						t.Fatal(err)
					}
					log, err = ReadLog(&b, "key")
				}
				if err != nil {
					t.Fatal(err)
				}
				second := objective()
				got, err := run(context.Background(), second, log)
				if err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				if a, b := fmt.Sprintf("%#v", whole.seen[k:]), fmt.Sprintf("%#v", second.seen); a != b {
					t.Errorf("%s: asked %s, want %s", where, b, a)
				}
				if a, b := fmt.Sprintf("%#v", *want), fmt.Sprintf("%#v", *got); a != b {
					t.Errorf("%s: ended as %s, want %s", where, b, a)
				}
			}
		}
	}
}

// sampleLog is a log with what JSON cannot say by itself.
func sampleLog(tb testing.TB) (*Log, []byte) {
	tb.Helper()
	l := NewLog("diabetes \"1\"")
	for _, e := range []Evaluation{
		{LogLambda: []float64{-1, 0.1}, Value: 1e-300, Gradient: []float64{math.Copysign(0, -1), 5e-324}, Trusted: true, Support: 3, Tol: 1e-7, Seconds: 0.25},
		{LogLambda: []float64{1e22, -1e-7}, Value: math.NaN(), Gradient: []float64{math.Inf(1), math.Inf(-1)}, Flat: true},
		{LogLambda: []float64{1, 2}, Value: math.MaxFloat64, Curvature: []float64{1, 0, 0, 1}, Gradient: []float64{}},
	} {
		if err := l.add(Request{LogLambda: e.LogLambda, Tol: 1e-6, ValueOnly: e.Gradient == nil}, e); err != nil {
			tb.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := l.Write(&b); err != nil {
		tb.Fatal(err)
	}
	return l, b.Bytes()
}

func TestLogsKeepEveryBit(t *testing.T) {
	l, data := sampleLog(t)
	back, err := ReadLog(bytes.NewReader(data), "diabetes \"1\"")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprintf("%#v", l.entries), fmt.Sprintf("%#v", back.entries); a != b {
		t.Errorf("read %s, wrote %s", b, a)
	}
	if !math.Signbit(back.entries[0].Gradient[0]) || back.entries[1].Gradient == nil || back.entries[0].Curvature != nil {
		t.Error("signs of zero or missing vectors are lost")
	}
}

// TestDamagedLogsAreRefused: each bit flipped, each length, bytes added.
func TestDamagedLogsAreRefused(t *testing.T) {
	_, data := sampleLog(t)
	const key = "diabetes \"1\""
	refused := func(name string, data []byte) {
		t.Helper()
		l, err := ReadLog(bytes.NewReader(data), key)
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != outcome.Parse || l != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			refused(fmt.Sprintf("bit %d of byte %d", bit, i), data)
			data[i] ^= 1 << bit
		}
		refused(fmt.Sprintf("%d bytes", i), data[:i])
	}
	refused("a byte more", append(bytes.Clone(data), '\n'))
	refused("twice", append(bytes.Clone(data), data...))
	refused("another version", []byte(strings.Replace(string(data), `log":2`, `log":1`, 1)))
	refused("spaces", []byte(strings.Replace(string(data), `,"body"`, `, "body"`, 1)))

	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, data[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := OpenLog(path, key)
	if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Parse || e.File != path {
		t.Errorf("a damaged file: %v", err)
	}
	if _, err := ReadLog(bytes.NewReader(data), "leukemia"); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("another problem's log: %v", err)
	}
}

// TestAnotherSearchesLog: the log of a search with another start, tolerance or
// method is refused before the objective is asked.
func TestAnotherSearchesLog(t *testing.T) {
	ctx, box := context.Background(), cube(1, -12, 0)
	log := NewLog("")
	f := &analytic{f: bowl([]float64{-6}, []float64{1})}
	if _, err := Secant(ctx, f, -4.6, box, Options{Tol: 1e-6, Log: log}); err != nil {
		t.Fatal(err)
	}
	f.seen = nil
	for name, run := range map[string]func() (*Result, error){
		"start":     func() (*Result, error) { return Secant(ctx, f, -4.5, box, Options{Tol: 1e-6, Log: log}) },
		"tolerance": func() (*Result, error) { return Secant(ctx, f, -4.6, box, Options{Tol: 1e-7, Log: log}) },
		"method":    func() (*Result, error) { return Random(ctx, f, box, 1, Options{Tol: 1e-6, Log: log}) },
	} {
		if _, err := run(); outcome.KindOf(err) != outcome.BadParameter || len(f.seen) > 0 {
			t.Errorf("another %s: %v after %d evaluations", name, err, len(f.seen))
		}
	}
	// Its own is not, and a larger budget goes on from where it ended.
	r, err := Secant(ctx, f, -4.6, box, Options{Tol: 1e-6, Log: log, Evaluations: 500})
	if err != nil || len(f.seen) > 0 || r.Status != outcome.Stationary {
		t.Errorf("its own log: %v, %v", r.Status, err)
	}
}

// TestLogsThatCannotBeSaved end the search with what there is.
func TestLogsThatCannotBeSaved(t *testing.T) {
	log, err := OpenLog(filepath.Join(t.TempDir(), "missing", "log"), "")
	if err != nil {
		t.Fatal(err)
	}
	f := &analytic{f: bowl([]float64{-6}, []float64{1})}
	r, err := Secant(context.Background(), f, -4.6, cube(1, -12, 0), Options{Log: log})
	if outcome.KindOf(err) != outcome.IO || len(r.Evaluations) != 1 || r.Best.LogLambda == nil {
		t.Errorf("%v, %+v", err, r)
	}
	if _, err := OpenLog(t.TempDir(), ""); outcome.KindOf(err) != outcome.IO {
		t.Errorf("a directory: %v", err)
	}
}

// TestSavingLeavesNothingBehind: one file, whole, whatever was there before.
func TestSavingLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	log, err := OpenLog(path, "")
	if err != nil {
		t.Fatal(err)
	}
	f := &analytic{f: bowl([]float64{-6}, []float64{1})}
	f.at = func(k int, _ *Evaluation) error {
		if k == 0 {
			return nil
		}
		saved, err := OpenLog(path, "")
		if err != nil || saved.Len() != k || !reflect.DeepEqual(saved.entries, log.entries) {
			t.Errorf("before evaluation %d: %v", k, err)
		}
		return nil
	}
	if _, err := Secant(context.Background(), f, -4.6, cube(1, -12, 0), Options{Log: log}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

func FuzzReadLog(f *testing.F) {
	_, data := sampleLog(f)
	f.Add(data)
	f.Add([]byte(`{"pare_search_log":1,"sha256":"","body":{}}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ReadLog(bytes.NewReader(data), "")
		if err != nil {
			if outcome.KindOf(err) == "" {
				t.Fatalf("not typed: %v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := l.Write(&b); err != nil || !bytes.Equal(b.Bytes(), data) {
			t.Fatalf("%q is written as %q, %v", data, b.Bytes(), err)
		}
	})
}
