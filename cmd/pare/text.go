package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// asked is the request for a result, which the text of the result repeats.
type asked struct {
	commonFlags
	data *dataset
}

func (f problemFlags) intercept() string {
	if f.centred() {
		return "with intercept"
	}
	return "without intercept"
}

// share describes α/αmax, and λ if there is only one.
func (a asked) share(logLambda, top []float64) string {
	text := fmt.Sprintf("α/αmax = %.4g", kernels.Exp(logLambda[0]-top[0]))
	if len(logLambda) > 1 {
		return text
	}
	return text + fmt.Sprintf(", λ = %.6g", logLambda[0])
}

// place describes the λ at which an observation was made; of several λ it describes the first, or the share of
// αmax that all have.
func (a asked) place(logLambda float64, top []float64) string {
	switch a.stated.traits.Strengths {
	case pare.Cost:
		return fmt.Sprintf("C = %.2g", kernels.Exp(logLambda))
	case pare.CostAndTube:
		return fmt.Sprintf("%.2g of its unit", kernels.Exp(logLambda))
	case pare.EachClass:
		return fmt.Sprintf("α/αmax = %.2g", kernels.Exp(logLambda))
	default:
		return fmt.Sprintf("α/αmax = %.2g", kernels.Exp(logLambda-top[0]))
	}
}

// pairOf names the two strengths of a kind.
func pairOf(kind pare.Strengths) [2]string {
	switch kind {
	case pare.GroupAndRidge:
		return [2]string{"groups", "ridge"}
	case pare.L1AndGroup:
		return [2]string{"ℓ1", "groups"}
	default:
		return [2]string{"ℓ1", "ridge"}
	}
}

// strength prints α, α/αmax and λ.
func (p *page) strength(a asked, logLambda, top []float64) {
	switch a.stated.traits.Strengths {
	case pare.EachColumn:
		if len(logLambda) == 0 {
			p.row("strength", "none: there are no columns")
		} else {
			p.row("strength", "one per column, λ = ln α from %.6g to %.6g", slices.Min(logLambda), slices.Max(logLambda))
		}
	case pare.Cost:
		p.row("strength", "C = %.6g, λ = ln C = %.6g", kernels.Exp(logLambda[0]), logLambda[0])
	case pare.CostAndTube:
		p.row("strength", "C = %.6g, λ = ln C = %.6g", kernels.Exp(logLambda[0]), logLambda[0])
		p.row("", "ε = %.6g, λ = ln ε = %.6g", kernels.Exp(logLambda[1]), logLambda[1])
	case pare.EachClass:
		shares := ratios(logLambda, top)
		if slices.ContainsFunc(shares, func(s float64) bool { return math.IsInf(s, 1) }) {
			p.row("strength", "one per class; αmax is 0 for some")
		} else if low, high := slices.Min(shares), slices.Max(shares); high-low <= 1e-9*high {
			p.row("strength", "one per class, α/αmax = %.4g for all %d", high, len(shares))
		} else {
			p.row("strength", "one per class, α/αmax from %.4g to %.4g", low, high)
		}
	case pare.L1AndRidge, pare.GroupAndRidge, pare.L1AndGroup:
		names := pairOf(a.stated.traits.Strengths)
		p.row("strength", "%s", oneStrength("α₁ ("+names[0]+")", logLambda[0], top[0]))
		p.row("", "%s", oneStrength("α₂ ("+names[1]+")", logLambda[1], top[1]))
	default:
		p.row("strength", "%s", oneStrength("α", logLambda[0], top[0]))
	}
}

func oneStrength(name string, logLambda, top float64) string {
	if math.IsInf(logLambda, -1) {
		return name + " = 0, λ = ln α = -inf: there is none"
	}
	share := "αmax = 0"
	if !math.IsInf(top, -1) {
		share = fmt.Sprintf("α/αmax = %.4g", kernels.Exp(logLambda-top))
	}
	return fmt.Sprintf("%s = %.6g, %s, λ = ln α = %.6g", name, kernels.Exp(logLambda), share, logLambda)
}

// shown is the number of coefficients that the text lists unless all are asked for.
const shown = 10

// support prints the size of the support and the largest coefficients, or all of them.
func (p *page) support(f *pare.Fitted, a asked) {
	_, columns := a.data.x.Dims()
	switch {
	case f.PerClass != nil:
		p.classes(f, a, columns)
		return
	case a.stated.traits.Samples:
		p.row("samples", "%s on the margin, %s within it or misclassified", count(f.Free), count(f.Bound))
	}
	text := count(len(f.Support)) + " of " + count(columns) + " columns"
	if f.Bound > 0 && !a.stated.traits.Samples {
		text += fmt.Sprintf(", %s at a bound", count(f.Bound))
	}
	switch {
	case len(f.Support) == 0:
	case a.Coef:
		text += "; " + a.data.listing() + ":"
	case len(f.Support) > shown:
		text += fmt.Sprintf("; the %d largest coefficients%s:", shown, a.data.numbering())
	default:
		text += "; coefficients" + a.data.numbering() + ":"
	}
	if a.data.distinguishes(a.Model) && len(a.data.classes) == 2 {
		p.row("classes", "%s where the score is above 0, else %s", a.data.class(1), a.data.class(0))
	}
	p.row("support", "%s", text)
	if a.Coef {
		p.coefficients(f, a)
	} else {
		p.largest(a.data, a.data.columns(f.Support), f.Coef)
	}
	if a.centred() {
		p.row("intercept", "%.6g", f.Intercept)
	}
}

// classes describes the predictor of each class.
func (p *page) classes(f *pare.Fitted, a asked, columns int) {
	p.row("support", "%s of %s columns for some class; by class:", count(len(f.Support)), count(columns))
	heads := []column{{head: "class"}, {head: "α", left: true, spare: 2}, {head: "α/αmax", left: true}, {head: "support"}, {head: "intercept", left: true, spare: 1}}
	rows := make([][]string, 0, len(f.PerClass))
	for k, one := range f.PerClass {
		l := one.LogLambda[0]
		share := "αmax = 0"
		if top := one.LogLambdaMax[0]; !math.IsInf(top, -1) {
			share = fmt.Sprintf("%.4g", kernels.Exp(l-top))
		}
		rows = append(rows, []string{a.data.class(k), fmt.Sprintf("%.6g", kernels.Exp(l)), share, count(len(one.Support)), fmt.Sprintf("%.6g", one.Intercept)})
	}
	listed := rows
	if !a.Coef {
		listed = rows[:min(len(rows), mostClasses)]
	}
	p.table(margin, heads, listed)
	if more := len(rows) - len(listed); more > 0 {
		p.row("", "and %s more; --coef lists all, --json has them", plural(more, "class"))
	}
	if a.Coef {
		for k, one := range f.PerClass {
			p.row("class", "%s; %s:", a.data.class(k), a.data.listing())
			p.coefficients(one, a)
		}
	}
}

// mostClasses is the number of classes that the text lists unless all coefficients are asked for.
const mostClasses = 20

// coefficients prints all coefficients, by column.
func (p *page) coefficients(f *pare.Fitted, a asked) {
	columns := a.data.columns(f.Support)
	if a.data.Names == nil {
		for i, j := range columns {
			p.line("%*s%8s  %.10g", margin, "", a.data.label(j), f.Coef[i])
		}
		return
	}
	const digits = 17 // width of a coefficient, with its sign and exponent
	width := 0
	for _, name := range a.data.labels(columns) {
		width = max(width, utf8.RuneCountInString(name))
	}
	width = min(width, 40)
	indent := min(margin, max(2, p.width-width-2-digits))
	for i, j := range columns {
		p.line("%*s%s  %.10g", indent, "", pad(a.data.label(j), width), f.Coef[i])
	}
}

// largest prints the entries of largest magnitude, as many per line as fit.
func (p *page) largest(d *dataset, columns []int32, values []float64) {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]), math.Abs(values[a]))
	})
	var fields []string
	for _, i := range order[:min(len(order), shown)] {
		if values[i] != 0 {
			fields = append(fields, fmt.Sprintf("%s: %+.4g", d.label(columns[i]), values[i]))
		}
	}
	p.items(fields)
}

// provable reports whether a solution can be proved unique where only the ℓ1 penalty makes it so. This takes a
// model whose supports can be proved, and a loss whose curvature does not jump.
func (f problemFlags) provable() bool {
	for _, l := range loss.All() {
		if _, jumps := l.(loss.Jumping); jumps && l.Name() == f.stated.traits.Loss {
			return false
		}
	}
	return f.stated.traits.Certified
}

// certificate prints the duality gap, which anyone can recompute.
func (p *page) certificate(r *fitResult) {
	if !r.asked.stated.traits.Convex {
		p.row("certificate", "stationary to %.2g; the penalty is not convex: there is no duality gap, and there may be other stationary points", float64(r.KKT))
		p.row("status", "%s", r.Status)
		return
	}
	p.row("certificate", "duality gap %.2g of the null model's objective (asked: %g), %.2g absolute; KKT residual %.2g",
		float64(r.GapRelative), r.asked.Tol, float64(r.Gap), float64(r.KKT))
	switch {
	case r.Unique == nil && !r.asked.provable():
		p.row("uniqueness", "not proved: no proof exists for this model")
	case r.Unique == nil && r.Certified == nil:
		p.row("uniqueness", "not checked; --certify does")
	case r.Unique == nil:
		p.row("uniqueness", "not proved; a smaller --tol may help")
	case !*r.Unique:
		p.row("uniqueness", "one solution of many: columns in or about to enter the support are equal or linearly dependent")
	case r.Certified != nil && *r.Certified:
		p.row("uniqueness", "proved: one solution, with this support")
	default:
		p.row("uniqueness", "proved: one solution")
	}
	switch r.Status {
	case outcome.Converged:
	case outcome.Cancelled:
		p.row("status", "cancelled: interrupted before the tolerance was reached; the gap is that of this point")
	default:
		p.row("status", "%s: the gap cannot be made smaller; raise --tol, or scale the columns with --unit-columns", r.Status)
	}
}
