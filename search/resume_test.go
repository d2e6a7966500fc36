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
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// resumable returns all methods: those for any objective, and others that keep state.
func resumable(ctx context.Context, dim int) []contender {
	return append(contenders(ctx, dim),
		contender{"grid", false, func(f Objective, _ []float64, _ Box, o Options) (*Result, error) {
			var points [][]float64
			for k := range 7 {
				points = append(points, slices.Repeat([]float64{-float64(k)}, dim))
			}
			return Grid(ctx, f, points, o)
		}},
		contender{"l-bfgs with a judge", true, func(f Objective, start []float64, box Box, o Options) (*Result, error) {
			judge := func(_ context.Context, e Evaluation) (float64, error) { return e.Test, nil }
			return LBFGS(ctx, f, start, box, LBFGSOptions{Options: o, Judge: judge, Prox: 0.01, Keep: true})
		}})
}

// rough is a bowl with teeth that is NaN above −1. If hostile, it also has holes of all kinds: values and slopes
// that are NaN or infinite, untrusted points, and flat regions. All of this depends on λ and the tolerance alone.
func rough(dim int, hostile bool) *analytic {
	centre, curvature := []float64{-6.3, -2.1}[:dim], []float64{0.2, 1.1}[:dim]
	f := &analytic{f: func(x []float64) (float64, []float64) {
		value, gradient := bowl(centre, curvature)(x)
		if x[0] > -1 {
			return math.NaN(), gradient
		}
		return value + 0.01*math.Sin(30*x[0]), gradient
	}}
	f.at = func(k int, e *Evaluation) error {
		x := f.seen[k].LogLambda[0]
		e.Test, e.Tested = e.Value+0.1*x, true
		if !hostile {
			return nil
		}
		e.Curvature = make([]float64, dim*dim)
		for i := range dim {
			e.Curvature[i*dim+i] = 2 * curvature[i]
		}
		e.Trusted = x > -5 || f.seen[k].Tol < 1e-5
		switch hole := math.Mod(-3*x, 5); {
		case hole < 0.3:
			e.Value = math.NaN()
		case hole < 0.6:
			e.Value = math.Inf(-1)
		case hole < 0.9:
			e.Value = math.Inf(1)
		case hole < 1.2 && e.Gradient != nil:
			e.Gradient[0] = math.NaN()
		case hole < 1.5:
			e.Flat = true
		}
		return nil
	}
	return f
}

// TestResume checks that every method, stopped after each evaluation and resumed from its log, makes bit for bit
// the evaluations of an uninterrupted search, repeats none that the log has, and returns the same result.
func TestResume(t *testing.T) {
	for _, dim := range []int{1, 2} {
		for _, start := range []float64{-4.6, -2.3, -9.1}[:oracle.Draws(3)] {
			for _, hostile := range []bool{false, true} {
				for i, m := range resumable(context.Background(), dim) {
					name := fmt.Sprintf("%s, %d coordinates, from %g, hostile %t", m.name, dim, start, hostile)
					resumesAnywhere(t, name, func() *analytic { return rough(dim, hostile) }, func(ctx context.Context, f *analytic, log *Log) (*Result, error) {
						o := Options{Evaluations: 9, Schedule: Auto, Log: log}
						return resumable(ctx, dim)[i].run(f, slices.Repeat([]float64{start}, dim), cube(dim, -12, 0), o)
					})
				}
			}
		}
	}
}

// resumesAnywhere stops a search after each evaluation, by ctx and by a panic, and resumes it.
func resumesAnywhere(t *testing.T, name string, objective func() *analytic, run func(context.Context, *analytic, *Log) (*Result, error)) {
	t.Helper()
	whole := objective()
	want, wanted := run(context.Background(), whole, nil)
	for k := range whole.seen {
		for _, panics := range []bool{false, true} {
			where := fmt.Sprintf("%s, stopped after %d, by a panic %t", name, k, panics)
			log := interrupted(t, where, k, panics, objective(), run)
			second := objective()
			got, err := run(context.Background(), second, log)
			if outcome.KindOf(err) != outcome.KindOf(wanted) {
				t.Fatalf("%s: %v, want %v", where, err, wanted)
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

// interrupted runs a search up to its k-th evaluation, checks that the search reports the interruption and returns
// the best point so far, and returns its log after it has been written and read again.
func interrupted(t *testing.T, where string, k int, panics bool, f *analytic, run func(context.Context, *analytic, *Log) (*Result, error)) *Log {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	at := f.at
	f.at = func(i int, e *Evaluation) error {
		if i == k && panics {
			panic("broken")
		} else if i == k {
			cancel()
		}
		return at(i, e)
	}
	log := NewLog("key")
	r, err := run(ctx, f, log)
	if panics && outcome.KindOf(err) != outcome.Internal || !panics && (err != nil && outcome.KindOf(err) != outcome.NonFinite || r.Status != outcome.Cancelled) || log.Len() != k {
		t.Fatalf("%s: %v, %v, %d in the log", where, r.Status, err, log.Len())
	}
	if best := r.Best; math.IsNaN(best.Value) != (best.LogLambda == nil) || math.IsInf(best.Value, -1) {
		t.Errorf("%s: the best so far is %g at %g", where, best.Value, best.LogLambda)
	}
	var b bytes.Buffer
	if err := log.Write(&b); err != nil {
		t.Fatal(err)
	}
	if log, err = ReadLog(&b, "key"); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestResumeFromAFile checks resuming from a log in a file rather than in memory.
func TestResumeFromAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	run := func(evaluations int) *analytic {
		log, err := OpenLog(path, "key")
		if err != nil {
			t.Fatal(err)
		}
		f := rough(1, false)
		if _, err := Secant(context.Background(), f, -4.6, cube(1, -12, 0), Options{Evaluations: evaluations, Log: log}); err != nil {
			t.Fatal(err)
		}
		return f
	}
	var asked []Request
	for n := range 9 {
		asked = append(asked, run(n+1).seen...)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if whole := run(9); fmt.Sprintf("%#v", whole.seen) != fmt.Sprintf("%#v", asked) {
		t.Errorf("asked %#v, want %#v", asked, whole.seen)
	}
}

// sampleLog returns a log that contains values that JSON cannot represent.
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

// TestDamagedLogsAreRefused checks every flipped bit, every truncation, and added bytes.
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
	refused("another version", []byte(strings.Replace(string(data), `log":4`, `log":2`, 1)))
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

// TestLogsOfOtherSlopesAreRefused checks that a log with the wrong number of slopes or second derivatives is
// refused: a checksum does not detect this, and searches would read beyond the slopes that there are.
func TestLogsOfOtherSlopesAreRefused(t *testing.T) {
	type method func(context.Context, Objective, []float64, Box, Options) (*Result, error)
	lbfgs := func(ctx context.Context, f Objective, start []float64, box Box, o Options) (*Result, error) {
		return LBFGS(ctx, f, start, box, LBFGSOptions{Options: o})
	}
	for name, damage := range map[string]func(e *entry){
		"none":        func(e *entry) { e.Gradient = nil },
		"one more":    func(e *entry) { e.Gradient = append(e.Gradient, 1) },
		"a curvature": func(e *entry) { e.Curvature = []float64{1, 0} },
	} {
		for with, run := range map[string]method{"gradient": Gradient, "line search": LineSearch, "trust region": TrustRegion, "L-BFGS": lbfgs} {
			f, o := &analytic{f: bowl([]float64{-6, -3}, []float64{1, 2})}, Options{Tol: 1e-6, Log: NewLog("")}
			start, box := []float64{-4, -4}, cube(2, -12, 0)
			if _, err := run(t.Context(), f, start, box, o); err != nil || o.Log.Len() < 2 {
				t.Fatal(with, err)
			}
			damage(&o.Log.entries[1])
			if _, err := run(t.Context(), f, start, box, o); outcome.KindOf(err) != outcome.Parse {
				t.Errorf("%s, %s: %v", with, name, err)
			}
		}
	}
}

// TestAnotherSearchesLog checks that the log of a search with another start, tolerance or method is refused before
// the objective is evaluated.
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
	// The search's own log is accepted, and a larger budget continues from its end.
	r, err := Secant(ctx, f, -4.6, box, Options{Tol: 1e-6, Log: log, Evaluations: 500})
	if err != nil || len(f.seen) > 0 || r.Status != outcome.Stationary {
		t.Errorf("its own log: %v, %v", r.Status, err)
	}
}

// TestLogsThatCannotBeSaved checks that a log that cannot be saved ends the search with the results so far.
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

// TestSavingLeavesNothingBehind checks that saving leaves exactly one file, which is complete at every moment,
// whatever was there before, and contains all evaluations in the end.
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
		if err != nil || saved.Len() == 0 || !reflect.DeepEqual(saved.entries, log.entries[:saved.Len()]) {
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
	if saved, err := OpenLog(path, ""); err != nil || !reflect.DeepEqual(saved.entries, log.entries) {
		t.Errorf("in the end: %v", err)
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

// TestLogsTakeAShareOfTheTime checks that a log of many evaluations is not saved after each of them, that its file
// is complete at every moment, and that it contains all evaluations when the search ends for any reason.
func TestLogsTakeAShareOfTheTime(t *testing.T) {
	const many = 2000
	points := make([][]float64, many)
	for k := range points {
		points[k] = []float64{-float64(k)}
	}
	for _, way := range []string{"done", "cancelled", "panics"} {
		path := filepath.Join(t.TempDir(), "log")
		ctx, cancel := context.WithCancel(t.Context())
		f, saves := rough(1, false), 0
		var last os.FileInfo
		f.at = func(k int, _ *Evaluation) error {
			if info, err := os.Stat(path); err == nil && !os.SameFile(info, last) {
				saves, last = saves+1, info
			}
			if k%200 == 1 {
				file, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer file.Close()
				if log, err := ReadLog(file, "key"); err != nil || log.Len() == 0 || log.Len() > k {
					t.Errorf("before evaluation %d: %v", k, err)
				}
			}
			if k == many-100 && way == "panics" {
				panic("broken")
			} else if k == many-100 && way == "cancelled" {
				cancel()
			}
			return nil
		}
		log, err := OpenLog(path, "key")
		if err != nil {
			t.Fatal(err)
		}
		_, err = Grid(ctx, f, points, Options{Log: log})
		cancel()
		if (err != nil) != (way == "panics") || saves > many/10 {
			t.Errorf("%s: %v, saved %d times", way, err, saves)
		}
		again, err := OpenLog(path, "key")
		if err != nil || again.Len() != log.Len() || log.Len() < many-100 {
			t.Errorf("%s: %d of %d evaluations are saved, %v", way, again.Len(), log.Len(), err)
		}
	}
}
