package peers

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/sparse"
)

var long = flag.Bool("long", false, "let the peers that are installed solve")

// small is a problem of 40 rows and 60 columns with a few nonzero true coefficients.
func small(t testing.TB, m Model, dense bool) *Problem {
	t.Helper()
	const n, p = 40, 60
	state := uint64(7)
	uniform := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return float64(state>>11)*0x1p-52 - 1
	}
	y := make([]float64, n)
	ptr, rows, values := []int64{0}, []int32(nil), []float64(nil)
	for j := range p {
		for i := range n {
			if dense || uniform() < -0.6 {
				v := uniform()
				rows, values = append(rows, int32(i)), append(values, v)
				if j%9 == 0 {
					y[i] += v * float64(j%4+1)
				}
			}
		}
		ptr = append(ptr, int64(len(rows)))
	}
	for i := range y {
		y[i] += 0.3 * uniform()
		switch of := m.family(); {
		case of.classes:
			y[i] = math.Copysign(1, y[i])
		case of.together:
			y[i] = float64((int(math.Floor(y[i]))%3 + 3) % 3)
		}
	}
	x, err := sparse.NewCSC(n, p, ptr, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	problem := &Problem{X: sparse.Compact(x), Y: y, Model: m}
	if of := m.family(); of.draw != nil {
		problem.Draw(of.draw)
	}
	if err := problem.State(0.1); err != nil {
		t.Fatal(err)
	}
	if problem.Groups != nil {
		for j := range problem.Groups {
			problem.Groups[j] = j / 4
		}
	}
	if m.family().kind == ofVectors {
		if _, err := prepare(t.Context(), problem, ""); err != nil {
			t.Fatal(err)
		}
	}
	return problem
}

// models returns all models.
func models() []Model { return slices.Sorted(maps.Keys(families())) }

func TestNobodyIsBelieved(t *testing.T) {
	needProcesses(t)
	problem := small(t, Lasso, false)
	for kind, want := range map[string]string{
		"braggart":  "reaches a gap of",
		"liar":      "reaches a gap of",
		"nan":       "reaches a gap of 1.8e+308",
		"stranger":  "column 999 of 60",
		"babbler":   "cannot be read",
		"clockless": "0 seconds",
		"dead":      "out of luck",
		"sleeper":   "took more than",
	} {
		t.Run(kind, func(t *testing.T) {
			limit := time.Minute
			if kind == "sleeper" {
				limit = 2 * time.Second // our own solver must also meet this limit
			}
			all, err := Compare(t.Context(), "row", problem, Options{
				Targets: []float64{1e-6}, Rounds: 2, Limit: limit, Peers: []Peer{fakeOf(t, kind)},
			})
			if err != nil {
				t.Fatal(err)
			}
			us, them := all[0].Outcomes[0], all[0].Outcomes[2]
			if us.Name != Ours || us.Absent != "" || us.False != "" || len(us.Seconds) != 2 || !(us.Gap <= 1e-6) {
				t.Errorf("ours: %+v", us)
			}
			if !strings.Contains(them.Absent, want) || them.Seconds != nil {
				t.Errorf("%+v, want it absent: %s", them, want)
			}
			if _, _, ok := all[0].Best(); ok {
				t.Error("it counts as a peer that met the target")
			}
			if text, err := json.Marshal(all); err != nil {
				t.Errorf("%v in %s", err, text)
			}
			switch kind {
			case "braggart":
				if !strings.Contains(them.False, "claims a relative gap of 0.0e+00") {
					t.Errorf("not caught: %+v", them)
				}
			case "liar":
				if !strings.Contains(them.False, "claims an objective of 0.25") {
					t.Errorf("not caught: %+v", them)
				}
			}
		})
	}
}

func TestThoseWhoMeetTheTargetAreTimed(t *testing.T) {
	needProcesses(t)
	problem := small(t, Lasso, false)
	a, err := ours{problem: problem}.solve(t.Context(), 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	index, _ := json.Marshal(a.Index)
	value, _ := json.Marshal(a.Value)
	t.Setenv("PERF_FAKE_ANSWER", fmt.Sprintf(`"index": %s, "value": %s`, index, value))
	missing := Peer{Name: "missing", Models: []Model{Lasso}, command: func(string, string, *Problem) (*exec.Cmd, error) {
		return exec.Command(filepath.Join(t.TempDir(), "nothing")), nil
	}}
	all, err := Compare(t.Context(), "row", problem, Options{Targets: []float64{1e-6}, Rounds: 3, Peers: []Peer{fakeOf(t, "honest"), missing}})
	if err != nil {
		t.Fatal(err)
	}
	c := all[0]
	if e := c.Outcomes[2]; e.Absent != "" || e.Version != "fake 1.0" || len(e.Seconds) != 3 || e.Median() != 0.5 || e.False != "" {
		t.Errorf("%+v", e)
	}
	if e := c.Outcomes[3]; !strings.Contains(e.Absent, "not installed") {
		t.Errorf("%+v", e)
	}
	name, ratio, ok := c.Best()
	mid, least, most := c.Ratio(c.Outcomes[2])
	if name != "honest" || !ok || ratio != mid || !(least <= mid && mid <= most && least > 0) {
		t.Errorf("%s %g %v, %g [%g, %g]", name, ratio, ok, mid, least, most)
	}
}

// TestCertificatesOfAKnownOptimum checks the evaluator against an optimum in closed form, for
// orthogonal columns.
func TestCertificatesOfAKnownOptimum(t *testing.T) {
	x, err := sparse.NewDense(4, 2, []float64{1, 1, 1, 1, 1, -1, 1, -1})
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{X: x, Y: []float64{3, 1, 2, 0}, Model: Lasso, Alpha: 0.25}
	// X'y/4 = (1.5, 1), X'X/4 = I: β = (1.25, 0.75), and (1/1.5)(1.25, 0.75) with a ridge of ½.
	for ridge, scale := range map[float64]float64{0: 1, 0.5: 1 / 1.5} {
		p.Ridge = ridge
		c, err := p.Certify([]int32{0, 1}, []float64{1.25 * scale, 0.75 * scale})
		if err != nil || !(math.Abs(c.Gap) < 1e-15) || c.Support != 2 {
			t.Errorf("ridge %g: %+v, %v", ridge, c, err)
		}
		b := []float64{1.25 * scale, 0.75 * scale}
		want := 0.25*(b[0]+b[1]) + ridge*(b[0]*b[0]+b[1]*b[1])/2
		for i, y := range p.Y {
			r := y - b[0] - b[1]*[]float64{1, -1, 1, -1}[i]
			want += r * r / 8
		}
		if math.Abs(c.Objective-want) > 1e-15 {
			t.Errorf("ridge %g: objective %g, want %g", ridge, c.Objective, want)
		}
	}
}

// TestCertificatesOfAKnownSVM checks two points at ±1: ½w² + 2C(1 − w)₊ has its minimum at w = 2C
// if that is below 1.
func TestCertificatesOfAKnownSVM(t *testing.T) {
	x, err := sparse.NewDense(2, 1, []float64{1, -1})
	if err != nil {
		t.Fatal(err)
	}
	p := &Problem{X: x, Y: []float64{1, -1}, Model: SVM, Alpha: 0.25}
	p.ProveBound([]int32{0, 1}, []float64{7, 0.25}) // 7 is outside the box
	if p.Bound != 0.375 {
		t.Errorf("bound %g, want 0.375", p.Bound)
	}
	for w, want := range map[float64]float64{0.5: 0, 0: 0.25, 1: 0.25} {
		if c, err := p.Certify([]int32{0}, []float64{w}); err != nil || c.Gap != want {
			t.Errorf("w = %g: %+v, %v, want a gap of %g", w, c, err, want)
		}
	}
}

// TestGapsBoundTheDistanceToTheOptimum checks that a gap is an upper bound on the suboptimality of
// a point and vanishes at the optimum. For concave penalties it checks that the violation of
// stationarity vanishes at the optimum and only there.
func TestGapsBoundTheDistanceToTheOptimum(t *testing.T) {
	for _, m := range models() {
		for _, dense := range []bool{false, true} {
			p := small(t, m, dense)
			a, err := ours{problem: p}.solve(t.Context(), 1e-13)
			if err != nil {
				t.Fatal(err)
			}
			best, err := p.Certify(a.Index, a.Value)
			tiny := 1e-12
			if m.family().kind == ofVectors {
				tiny = 1e-9 // the accuracy to which the bound was solved
			}
			if err != nil || !(math.Abs(best.Gap) < tiny) || best.Support == 0 {
				t.Fatalf("%s: %+v, %v", m, best, err)
			}
			if why := p.falsehood(attempt{a, best}); why != "" {
				t.Errorf("%s: %s", m, why)
			}
			for _, size := range []float64{1e-4, 1e-2, 1, 100} {
				moved := slices.Clone(a.Value)
				for k := range moved {
					moved[k] *= 1 + size*float64(k%3-1)
				}
				c, err := p.Certify(a.Index, moved)
				if err != nil {
					t.Fatal(err)
				}
				if m.family().kind == concave { // a violation of stationarity bounds no distance
					if !(c.Gap > 100*tiny) {
						t.Errorf("%s: %g is lacking at coefficients off by a share of %g", m, c.Gap, size)
					}
					continue
				}
				if away := (c.Objective - best.Objective) / p.null(); !(away > 0 && (c.Gap >= away*(1-1e-9) || c.Gap == math.MaxFloat64)) {
					t.Errorf("%s: a gap of %g at a point that is %g from the optimum", m, c.Gap, away)
				}
			}
		}
	}
}

func TestTheFileIsWhatItsCommentSays(t *testing.T) {
	x, err := sparse.NewCSC(3, 2, []int64{0, 1, 3}, []int32{2, 0, 1}, []float64{5, 7, 8})
	if err != nil {
		t.Fatal(err)
	}
	var got, want bytes.Buffer
	if err := (&Problem{X: x, Y: []float64{1, 2, 3}}).Write(&got); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{[]int32{3, 2, 3, 1, 0, 1, 3, 2, 0, 1}, []float64{5, 7, 8, 1, 2, 3}} {
		if err := binary.Write(&want, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("% x, want % x", got.Bytes(), want.Bytes())
	}
}

// TestInstalledPeersSolve checks that every adapter whose peer is installed solves a small
// problem.
func TestInstalledPeersSolve(t *testing.T) {
	if !*long {
		t.Skip("go test ./bench/peers -long starts the programs that are installed")
	}
	for _, m := range models() {
		for _, dense := range []bool{false, true} {
			if dense && m != Lasso {
				continue // how a matrix is transferred does not depend on the model
			}
			all, err := Compare(t.Context(), "row", small(t, m, dense), Options{Targets: []float64{1e-6}, Rounds: 1, Limit: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range all[0].Outcomes {
				switch {
				case strings.HasPrefix(e.Absent, "not installed"):
					t.Logf("%s: %s", e.Name, e.Absent)
				case e.Absent != "" || e.False != "" || !(e.Gap <= 1e-6):
					t.Errorf("%s, dense %v: %+v", m, dense, e)
				}
			}
		}
	}
}

func TestAStoreGoesOnWhereItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "peers.json")
	s, err := OpenStore(path, "settings")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add([]Comparison{{Row: "one", Target: 1e-6, Outcomes: []Entry{{Name: Ours, Seconds: []float64{1, 2}}}}}); err != nil {
		t.Fatal(err)
	}
	again, err := OpenStore(path, "settings")
	if err != nil || !again.Has("one") || again.Has("two") || again.Comparisons[0].Outcomes[0].Median() != 1.5 {
		t.Errorf("%+v, %v", again, err)
	}
	if other, err := OpenStore(path, "other settings"); err != nil || other.Has("one") {
		t.Errorf("%+v, %v", other, err)
	}
}

func TestFactorIsTheMedianOfTheRowsRun(t *testing.T) {
	row := func(name string, seconds float64) Comparison {
		return Comparison{Row: name, Target: 1e-6, Outcomes: []Entry{{Name: "scikit-learn", Yardstick: seconds}}}
	}
	if _, _, ok := Factor([]Comparison{row("lasso unknown 0.1", 1)}); ok {
		t.Error("a factor from nothing")
	}
	f, rows, ok := Factor([]Comparison{row("lasso imdb 0.1", 0.65), row("lasso imdb 0.01", 6.81), row("lasso rcv1_dev 0.1", 0.069)})
	if math.Abs(f-2) > 1e-12 || rows != 3 || !ok {
		t.Errorf("%g from %d rows", f, rows)
	}
}

func TestRowsAreChosenByWord(t *testing.T) {
	if got := Choose("rcv1_dev, logreg a9a 0.05"); len(got) != 8 || got[6].Name() != "logreg a9a 0.05" || got[7].Suite != "deep" {
		t.Errorf("%v", got)
	}
	if got := Choose("lasso rcv1"); len(got) != 5 || got[0].Model != Lasso { // but not wlasso
		t.Errorf("%v", got)
	}
	if got := Choose("check"); len(got) != 16 {
		t.Errorf("%v", got)
	}
	if got := Choose("lasso"); len(got) != 10 { // but not those of the suite check
		t.Errorf("%v", got)
	}
	names := map[string]bool{}
	for _, r := range Rows() {
		if names[r.Name()] {
			t.Errorf("%s is there twice", r.Name())
		}
		names[r.Name()] = true
	}
	for _, r := range Records() {
		if !names[r.Row] {
			t.Errorf("a record of %s, which is no row", r.Row)
		}
	}
}

func TestInterruptedComparisonsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compare(ctx, "row", small(t, Lasso, false), Options{Peers: []Peer{}}); err == nil {
		t.Error("no error")
	}
}
