package loops

import "slices"

// Goal is a required ratio of the speed per element of one loop to that of another, and the ratio reached.
type Goal struct {
	Name    string  `json:"goal"` // K1 …
	What    string  `json:"what"`
	Size    string  `json:"size"`
	Set     string  `json:"set"`
	Against string  `json:"against"`
	AtLeast float64 `json:"at_least"`
	Reached float64 `json:"reached"` // by the best run of each; 0 if there is nothing to compare with
}

// Met reports whether the goal was reached.
func (g Goal) Met() bool { return g.Reached >= g.AtLeast }

// ceiling stands for the best rate that the memory can reach.
const ceiling = "ceiling"

// rival is the loop to compare with: an operation and a set; an empty set is our own.
type rival struct{ operation, set string }

// goals are the required ratios, for operations of the best set or of pure Go.
var goals = []struct {
	name      string
	operation string
	pure      bool
	against   rival
	atLeast   float64
	sizes     func(op operation) bool
}{
	{"K1", "Dot", false, rival{"Dot", "gonum"}, 5, dense1024},
	{"K1", "Dot", false, rival{"Dot", "openblas"}, 0.95, dense1024},
	{"K1", "Axpy", false, rival{"Axpy", "gonum"}, 5, dense1024},
	{"K1", "Axpy", false, rival{"Axpy", "openblas"}, 0.95, dense1024},
	{"K2", "Dot", false, rival{"Dot", "openblas"}, 0.95, otherDense},
	{"K2", "Axpy", false, rival{"Axpy", "openblas"}, 0.95, otherDense},
	{"K2", "Dot", false, rival{"Dot", ceiling}, 0.95, beyondCaches},
	{"K2", "Axpy", false, rival{"Axpy", ceiling}, 0.95, beyondCaches},
	{"K3", "DotIndexed", false, rival{"DotIndexed", "gcc4"}, 0.95, entries(74)},
	{"K3", "DotIndexed", false, rival{"DotIndexed", "naive"}, 1.3, entries(74)},
	{"K3", "AxpyIndexed", false, rival{"AxpyIndexed", "gcc"}, 0.95, entries(74)},
	{"K3", "DotColumns", false, rival{"DotIndexed", ""}, 1.5, entries(12)},
	{"K4", "DotLanes", false, rival{"DotIndexed", ""}, 4.5, entries(74)},
	{"K4", "AxpyLanes", false, rival{"AxpyIndexed", ""}, 3.5, entries(74)},
	{"K5", "Exp", false, rival{"Exp", "loop"}, 8, dense1024},
	{"K5", "Log1pExp", false, rival{"Exp", "loop"}, 8, dense1024},
	{"K5", "Sigmoid", false, rival{"Exp", "loop"}, 8, dense1024},
	{"K6", "Dot", true, rival{"Dot", "loop"}, 1 / 1.3, dense1024},
	{"K6", "Axpy", true, rival{"Axpy", "loop"}, 1 / 1.3, dense1024},
	{"K6", "DotIndexed", true, rival{"DotIndexed", "loop"}, 1 / 1.3, entries(74)},
	{"K6", "AxpyIndexed", true, rival{"AxpyIndexed", "loop"}, 1 / 1.3, entries(74)},
}

func dense1024(op operation) bool  { return op.length == 0 && op.n == 1024 }
func otherDense(op operation) bool { return op.length == 0 && op.n != 1024 }

func beyondCaches(op operation) bool { return op.length == 0 && op.n == beyond }

func entries(length int) func(op operation) bool {
	return func(op operation) bool { return op.length == length }
}

// Goals compares measurements with the goals, by the best run of each loop, since disturbances can only make a
// run longer.
func Goals(results []Result) []Goal {
	find := func(operation, set, size string) (Result, bool) {
		i := slices.IndexFunc(results, func(r Result) bool { return r.Operation == operation && r.Set == set && r.Size == size })
		if i < 0 {
			return Result{}, false
		}
		return results[i], true
	}
	var all []Goal
	for _, g := range goals {
		for _, op := range operations(true) {
			if op.name != g.operation || !g.sizes(op) {
				continue
			}
			set := "purego"
			if !g.pure {
				set = bestSet()
			}
			ours, ok := find(g.operation, set, op.size)
			if !ok {
				continue
			}
			goal := Goal{Name: g.name, What: g.operation, Size: op.size, Set: set, Against: g.against.set, AtLeast: g.atLeast}
			rivalSet := g.against.set
			if rivalSet == "" {
				rivalSet = set
			}
			if g.against.operation != g.operation {
				goal.Against = g.against.operation + " of " + rivalSet
			}
			if theirs, ok := find(g.against.operation, rivalSet, op.size); ok {
				goal.Reached = theirs.Fastest / float64(theirs.Elements) * float64(ours.Elements) / ours.Fastest
			}
			if g.against.set == ceiling {
				goal.Reached = ours.Share * ours.Nanoseconds / ours.Fastest
			}
			all = append(all, goal)
		}
	}
	return all
}
