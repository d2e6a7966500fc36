package peers

import (
	"math"
	"slices"
	"strings"
)

// The names of our own entries. The first is a whole pare.Fit. The second is the solver alone, from a cold
// start, on a view that has been prepared (column norms, αmax): the cost of a fit within a path or a search.
const (
	Ours     = "pare"
	Prepared = "pare, prepared"
)

// Comparison is a problem that all contestants have solved.
type Comparison struct {
	Row      string  `json:"row"`
	Model    Model   `json:"model"`
	N        int     `json:"n"`
	P        int     `json:"p"`
	NNZ      int64   `json:"nnz"`
	Alpha    float64 `json:"alpha"`
	Target   float64 `json:"target"`
	Load     string  `json:"load"` // of the machine, before and after
	Outcomes []Entry `json:"outcomes"`
}

// Entry is the result of one contestant.
type Entry struct {
	Name    string  `json:"name"`
	Version string  `json:"version,omitempty"`
	Absent  string  `json:"absent,omitempty"` // why it was not timed
	Tol     float64 `json:"tol,omitempty"`    // the contestant's first tolerance that meets the target
	Certificate
	// False is a statement of the contestant about its result that was found to be wrong, "" if there is none.
	False   string    `json:"false_claim,omitempty"`
	Seconds []float64 `json:"seconds,omitempty"` // of each round
	// Yardstick is the seconds at the tolerance [Peer].Yardstick.
	Yardstick float64 `json:"yardstick_seconds,omitempty"`
}

// Missing reports whether the contestant is not installed.
func (e Entry) Missing() bool { return strings.HasPrefix(e.Absent, errMissing.Error()) }

// Median returns the median of the seconds, NaN if the contestant was not timed.
func (e Entry) Median() float64 { return median(e.Seconds) }

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Ratio returns the contestant's time relative to ours: the median over rounds of the ratio within a round, and
// the least and largest ratio. NaN if one of the two was not timed.
func (c Comparison) Ratio(e Entry) (mid, least, most float64) {
	us := c.entry(Ours)
	ratios := make([]float64, min(len(e.Seconds), len(us.Seconds)))
	for i := range ratios {
		ratios[i] = e.Seconds[i] / us.Seconds[i]
	}
	if len(ratios) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return median(ratios), slices.Min(ratios), slices.Max(ratios)
}

func (c Comparison) entry(name string) Entry {
	for _, e := range c.Outcomes {
		if e.Name == name {
			return e
		}
	}
	return Entry{}
}

// Best returns the fastest contestant other than ours, and its time relative to ours; ok is false if there is
// none.
func (c Comparison) Best() (name string, ratio float64, ok bool) {
	ratio = math.Inf(1)
	for _, e := range c.Outcomes {
		if mid, _, _ := c.Ratio(e); e.Name != Ours && e.Name != Prepared && mid < ratio {
			name, ratio, ok = e.Name, mid, true
		}
	}
	return name, ratio, ok
}
