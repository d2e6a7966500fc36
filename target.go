package pare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Target converts y to the values that the model takes, and returns the names of its classes in
// ascending order of their values, or nil for a model of numbers. If the values of y are indices
// into a list of names, as in [table.Data] for a target of text, labels is that list; nil means
// that the values of y are numbers, which then name the classes. y is not modified.
//
// Models of two classes, such as [Logistic] and [SVM], take any two values: the smaller becomes
// −1, the larger 1. If all values are equal, they stay as they are if they are −1 or 1, and
// become 1 otherwise. The error is an [outcome.Error]: BadParameter for more than two values, for
// text with a model of numbers, or for a value that is not an index of labels, with its row;
// NonFinite, with its row, for a class that is NaN or infinite; and Usage for an unknown model.
func (m Model) Target(y []float64, labels []string) (target []float64, classes []string, err error) {
	return Config{Model: m}.Target(y, labels)
}

// Target is [Model.Target] for the Config's model and loss.
func (c Config) Target(y []float64, labels []string) (target []float64, classes []string, err error) {
	defer outcome.Caught(&err) // a loss that the caller has written may panic
	if c.Model == "" {
		c.Model = Lasso
	}
	f, err := c.family()
	if err != nil {
		return nil, nil, err
	}
	return f.target(y, labels)
}

func (f family) target(y []float64, labels []string) (target []float64, classes []string, err error) {
	m := f.name
	if !f.classes && !f.link().Classes() {
		if labels != nil {
			return nil, nil, outcome.At(outcome.BadParameter, "model", "%s needs a numeric target, but the target is text: %s%s", m, joinNames(labels), kindsAdvice(len(labels), len(y)))
		}
		return y, nil, nil
	}
	if err := checkClasses(y, labels); err != nil {
		return nil, nil, err
	}
	if f.classes {
		return y, kindNames(distinct(y), labels), nil
	}
	kinds := distinct(y)
	classes = kindNames(kinds, labels)
	switch {
	case len(kinds) > 2:
		return nil, nil, outcome.At(outcome.BadParameter, "model", "%s needs two classes, but the target has %d: %s%s", m, len(kinds), joinNames(classes), kindsAdvice(len(kinds), len(y)))
	case labels == nil && !slices.ContainsFunc(kinds, func(v float64) bool { return v != -1 && v != 1 }):
		return y, []string{"-1", "1"}, nil
	}
	target = make([]float64, len(y))
	for i, v := range y {
		if target[i] = 1; len(kinds) == 2 && v == kinds[0] {
			target[i] = -1
		}
	}
	return target, classes, nil
}

// checkClasses refuses values that are not finite, or are not indices of labels.
func checkClasses(y []float64, labels []string) error {
	for i, v := range y {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return &outcome.Error{Kind: outcome.NonFinite, HasRow: true, Row: i, Message: "the target is not finite"}
		case labels != nil && (v < 0 || v >= float64(len(labels)) || v != math.Trunc(v)):
			return &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Message: fmt.Sprintf("the target is %g, which is not an index of one of the %d labels", v, len(labels))}
		}
	}
	return nil
}

// kindsAdvice is the advice in an error for a target with n distinct values. It suggests classes only if
// they have two rows each on average: one to train on and one to hold out.
func kindsAdvice(n, rows int) string {
	switch {
	case n == 2:
		return "; use --model " + string(Logistic) + " for two classes"
	case 2*n > rows:
		return fmt.Sprintf("; %d different values in %d rows are too many for classes: write numbers", n, rows)
	default:
		return "; use --model " + string(Multiclass) + " for any number of classes"
	}
}

func distinct(y []float64) []float64 {
	kinds := slices.Clone(y)
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// kindNames returns the names of the distinct values of a target.
func kindNames(kinds []float64, labels []string) []string {
	out := make([]string, len(kinds))
	for k, v := range kinds {
		if labels != nil {
			out[k] = labels[int(v)]
		} else {
			out[k] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return out
}

// joinNames joins the first few names, each cut to a readable length.
func joinNames(names []string) string {
	const most, longest = 5, 40
	var text []string
	for _, name := range names[:min(len(names), most)] {
		if len(name) > longest {
			name = strings.ToValidUTF8(name[:longest], "") + "…"
		}
		text = append(text, name)
	}
	if len(names) > most {
		text = append(text, "…")
	}
	return strings.Join(text, ", ")
}
