package peers

import "math"

// Record is the time of a solver that cannot be installed everywhere, measured once on one core of a Zen 4
// processor. It is compared by way of scikit-learn: see [Factor].
type Record struct {
	Name    string
	Row     string
	Seconds float64
	// Gap is the relative gap that was certified then. A record counts for targets that it meets.
	Gap float64
}

// Records lists the recorded times.
func Records() []Record {
	all := make([]Record, 0, 64)
	// skglm, by its certified gap.
	for _, v := range []struct {
		row             string
		loose, tight    float64 // seconds to 1e-6 and to 1e-10
		celer, celerGap float64 // at celer's own tol 1e-6; gaps are absolute, P₀ = ½
	}{
		{"lasso reuters_places 0.1", 0.018, 0.022, 0.028, 3e-7},
		{"lasso reuters_places 0.01", 0.116, 0.158, 0.272, 4e-7},
		{"lasso imdb 0.1", 0.110, 0.127, 0.217, 1e-8},
		{"lasso imdb 0.01", 1.450, 1.780, 2.03, 3e-5},
		{"lasso leukemia 0.1", 0.011, 0.014, 0.012, 1e-6},
		{"lasso leukemia 0.01", 0.049, 0.072, 0.067, 2e-6},
		{"lasso gina_like 0.1", 0.136, 0.154, 0.304, 6e-7},
		{"lasso gina_like 0.01", 5.660, 6.710, 22.8, 7e-5},
		{"lasso rcv1_dev 0.1", 0.0082, 0.0082, 0.011, 5e-7},
		{"lasso rcv1_dev 0.01", 0.032, 0.052, 0.060, 7e-8},
	} {
		all = append(all,
			Record{"skglm 0.6", v.row, v.loose, 1e-6},
			Record{"skglm 0.6", v.row, v.tight, 1e-10},
			Record{"celer 0.7.5", v.row, v.celer, 2 * v.celerGap})
	}
	// Seconds and absolute gaps at tol 1e-6; P₀ = ln 2.
	for _, v := range []struct {
		row                 string
		celer, skglm, blitz [2]float64
	}{
		{"logreg reuters_places 0.05", [2]float64{0.107, 2e-11}, [2]float64{0.029, 5e-5}, [2]float64{0.047, 3e-7}},
		{"logreg reuters_places 0.01", [2]float64{0.273, 2e-6}, [2]float64{0.074, 4e-4}, [2]float64{0.168, 1e-7}},
		{"logreg imdb 0.05", [2]float64{0.675, 6e-6}, [2]float64{0.192, 4e-4}, [2]float64{0.189, 1e-8}},
		{"logreg imdb 0.01", [2]float64{4.30, 1e-7}, [2]float64{0.945, 1e-3}, [2]float64{0.392, 7e-8}},
		{"logreg a9a 0.05", [2]float64{0.146, 5e-8}, [2]float64{0.094, 3e-6}, [2]float64{0.105, 5e-7}},
		{"logreg a9a 0.01", [2]float64{0.360, 3e-8}, [2]float64{0.208, 3e-6}, [2]float64{0.211, 2e-7}},
	} {
		all = append(all,
			Record{"celer 0.7.5", v.row, v.celer[0], v.celer[1] / math.Ln2},
			Record{"skglm 0.6", v.row, v.skglm[0], v.skglm[1] / math.Ln2},
			Record{"BlitzML", v.row, v.blitz[0], v.blitz[1] / math.Ln2})
	}
	return all
}

// yardstick has the seconds of scikit-learn 1.2.1 at tol 1e-6 on the machine of the records.
var yardstick = map[string]float64{
	"lasso reuters_places 0.1": 0.029, "lasso reuters_places 0.01": 0.275,
	"lasso imdb 0.1": 0.325, "lasso imdb 0.01": 6.81,
	"lasso leukemia 0.1": 0.119, "lasso leukemia 0.01": 0.905,
	"lasso gina_like 0.1": 0.933, "lasso gina_like 0.01": 25.4,
	"lasso rcv1_dev 0.1": 0.023, "lasso rcv1_dev 0.01": 0.134,
}

// Factor returns how much slower this machine is than the machine of the records: the median over the rows of
// the ratio of scikit-learn's seconds at its tolerance 1e-6, here to there. ok is false if no such row was run.
func Factor(all []Comparison) (factor float64, rows int, ok bool) {
	var ratios []float64
	for _, c := range all {
		if then, known := yardstick[c.Row]; known && c.Target == 1e-6 {
			if now := c.entry("scikit-learn").Yardstick; now > 0 {
				ratios = append(ratios, now/then)
			}
		}
	}
	return median(ratios), len(ratios), len(ratios) > 0
}
