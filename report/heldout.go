package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/loss"
)

const (
	mostPoints = 1500 // points of a scatter plot, at most
	deciles    = 10
	mostLabels = 30 // labels of a full confusion matrix, at most
)

// foldSection has a row for each fold.
func foldSection(r *Result) section {
	if r.Best == nil || len(r.Best.FoldValues) < 2 {
		return section{}
	}
	t := table{Caption: r.Loss + " of each fold", Head: []string{"fold", "at the choice"}}
	if r.Held != nil {
		t.Head = []string{"fold", "rows", "at the choice"}
	}
	oneSE := r.Least == nil && r.OneSE != nil && len(r.OneSE.FoldValues) == len(r.Best.FoldValues)
	if oneSE {
		t.Head = append(t.Head, "at the one-standard-error choice")
	}
	for f, v := range r.Best.FoldValues {
		row := []string{strconv.Itoa(f)}
		if r.Held != nil {
			rows := 0
			for i, of := range r.Held.Fold {
				if of == f && r.weight(i) > 0 {
					rows++
				}
			}
			row = append(row, strconv.Itoa(rows))
		}
		if row = append(row, fmt.Sprintf("%.6g", v)); oneSE {
			row = append(row, fmt.Sprintf("%.6g", r.OneSE.FoldValues[f]))
		}
		t.Rows = append(t.Rows, row)
	}
	last := []string{"mean"}
	if r.Held != nil {
		last = append(last, "")
	}
	last = append(last, fmt.Sprintf("%.6g ± %.2g", r.Best.Value, standardError(*r.Best)))
	if oneSE {
		last = append(last, fmt.Sprintf("%.6g ± %.2g", r.OneSE.Value, standardError(*r.OneSE)))
	}
	t.Rows = append(t.Rows, last)
	return section{ID: "folds", Title: "The folds", Tables: []table{t}}
}

// judged has the target, the out-of-fold score and the weight of a row; the weight is above 0.
type judged struct{ target, score, weight float64 }

// weight returns the weight of a row.
func (r *Result) weight(row int) float64 {
	if r.Weights == nil {
		return 1
	}
	return r.Weights[row]
}

// outOfFold returns sentences on how held-out rows were predicted and how they are weighted.
func (r *Result) outOfFold() string {
	words := "Every row was predicted by a model that was not trained on its fold."
	if r.Weights != nil {
		words += " A row counts as many times as its weight says."
	}
	return words
}

// amount formats a sum of weights.
func amount(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fmt.Sprintf("%.6g", v)
}

// judged returns the rows that have a single score and a positive weight.
func (r *Result) judged() []judged {
	var rows []judged
	for i, s := range r.Held.Scores {
		if len(s) == 1 && r.weight(i) > 0 {
			score := s[0]
			if link := r.link(); !link.Classes() {
				score = link.Mean(score) // on the scale of the target
			}
			rows = append(rows, judged{r.Target[i], score, r.weight(i)})
		}
	}
	return rows
}

// link returns the link function between the mean of the target and the score.
func (r *Result) link() loss.Link {
	if r.Final != nil {
		return r.Final.Link
	}
	traits, _ := pare.Config{Model: r.Model}.Traits() // of an unknown model traits are zero
	return traits.Link
}

// classifierSection shows how a classifier does on rows it has not seen.
func classifierSection(r *Result) section {
	if r.Held == nil {
		return section{}
	}
	s := section{
		ID: "classification", Title: "Classification of rows held out",
		Words: r.outOfFold(),
	}
	switch {
	case r.Held.Classes != nil:
		s.Tables = []table{r.classConfusion()}
	case r.link().Classes():
		rows := r.judged()
		positive := 0
		for _, one := range rows {
			if one.target > 0 {
				positive++
			}
		}
		if positive == 0 || positive == len(rows) {
			return section{}
		}
		s.Figures = append(s.Figures, roc(rows))
		if r.link() == loss.Logit {
			s.Figures = append(s.Figures, calibration(rows))
		}
		s.Tables = []table{r.binaryConfusion(rows)}
	default:
		return section{}
	}
	return s
}

// roc draws the curve of true against false positives as the threshold falls.
func roc(rows []judged) figure {
	slices.SortStableFunc(rows, func(a, b judged) int { return -cmp(a.score, b.score) })
	var positives, negatives float64
	for _, one := range rows {
		if one.target > 0 {
			positives += one.weight
		} else {
			negatives += one.weight
		}
	}
	xs, ys := []float64{0}, []float64{0}
	var hits, misses, area, fromX, fromY float64
	every := max(1, len(rows)/400)
	for i, one := range rows {
		if one.target > 0 {
			hits += one.weight
		} else {
			misses += one.weight
		}
		if i+1 < len(rows) && rows[i+1].score == one.score {
			continue // equal scores are one threshold
		}
		x, y := misses/negatives, hits/positives
		area += float64((x - fromX) * (y + fromY) / 2)
		fromX, fromY = x, y
		if i%every == 0 || i == len(rows)-1 {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	c := newChart("roc", "Share of true positives against share of false positives", [2]float64{0, 1}, [2]float64{0, 1}, right)
	c.axes(ticks(0, 1), "negatives taken for positives", ticks(0, 1), "positives found")
	c.line("axis dots", "", []float64{0, 1}, []float64{0, 1})
	c.line("a", "", xs, ys)
	return figure{
		Name: "roc", SVG: c.svg(), Legend: []key{{"a", "out of fold"}, {"axis dots", "guessing"}},
		Caption: fmt.Sprintf("ROC curve; the area under it is %.3f: how often a positive row has a higher score than a negative one.", area),
	}
}

// calibration compares predicted probabilities with how often the label is 1.
func calibration(rows []judged) figure {
	slices.SortStableFunc(rows, func(a, b judged) int { return cmp(a.score, b.score) })
	c := newChart("calibration", "Observed frequency against predicted probability", [2]float64{0, 1}, [2]float64{0, 1}, right)
	c.axes(ticks(0, 1), "predicted probability", ticks(0, 1), "share of positives")
	c.line("axis dots", "", []float64{0, 1}, []float64{0, 1})
	var xs, ys []float64
	for d := range deciles {
		part := rows[d*len(rows)/deciles : (d+1)*len(rows)/deciles]
		if len(part) == 0 {
			continue
		}
		var predicted, positive, n float64
		for _, one := range part {
			n += one.weight
			predicted += one.weight / (1 + math.Exp(-one.score))
			if one.target > 0 {
				positive += one.weight
			}
		}
		xs, ys = append(xs, predicted/n), append(ys, positive/n)
	}
	c.line("a", "", xs, ys)
	for i := range xs {
		c.dot("a", fmt.Sprintf("predicted %.3f, observed %.3f", xs[i], ys[i]), xs[i], ys[i], 4)
	}
	return figure{
		Name: "calibration", SVG: c.svg(), Legend: []key{{"a", "tenths of the rows, by prediction"}, {"axis dots", "as predicted"}},
		Caption: "Calibration: where points are on the diagonal, probabilities can be taken at their word.",
	}
}

// binaryConfusion counts labels against the signs of the scores.
func (r *Result) binaryConfusion(rows []judged) table {
	count := [][]float64{{0, 0}, {0, 0}}
	at := func(v float64) int {
		if v > 0 {
			return 1
		}
		return 0
	}
	for _, one := range rows {
		count[at(one.target)][at(one.score)] += one.weight
	}
	return confusion([]string{r.class(0, -1), r.class(1, 1)}, count)
}

// classConfusion counts labels against the classes of the largest scores.
func (r *Result) classConfusion() table {
	classes := r.Held.Classes
	names, count := make([]string, len(classes)), make([][]float64, len(classes))
	for k, label := range classes {
		names[k], count[k] = r.class(k, label), make([]float64, len(classes))
	}
	for i, scores := range r.Held.Scores {
		if len(scores) != len(classes) {
			continue
		}
		largest := 0
		for k, s := range scores {
			if s > scores[largest] {
				largest = k
			}
		}
		label, _ := slices.BinarySearch(classes, r.Target[i])
		count[label][largest] += r.weight(i)
	}
	return confusion(names, count)
}

// confusion returns a table of how many rows of each label are predicted as each class. With many labels it shows
// how many rows of each label are right instead, and which class the remaining rows are most often predicted as.
func confusion(names []string, count [][]float64) table {
	rows, right, all := make([]float64, len(names)), 0.0, 0.0
	for k, row := range count {
		for _, n := range row {
			rows[k] += n
		}
		all += rows[k]
		right += row[k]
	}
	t := table{Caption: fmt.Sprintf("Confusion: %s of %s rows are right, %.2f %%", amount(right), amount(all), 100*right/max(all, math.SmallestNonzeroFloat64))}
	if len(names) > mostLabels {
		t.Head = []string{"label", "rows", "right", "most often taken for"}
		for k, row := range count {
			t.Rows = append(t.Rows, []string{names[k], amount(rows[k]), amount(row[k]), mistaken(k, names, row)})
		}
		return t
	}
	t.Head = []string{"label"}
	for k, row := range count {
		t.Head = append(t.Head, "predicted "+names[k])
		cells := []string{names[k]}
		for _, n := range row {
			cells = append(cells, amount(n))
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// mistaken names the other class that rows of a label are most often predicted as, and how often; "" for none.
func mistaken(label int, names []string, row []float64) string {
	other := -1
	for k, n := range row {
		if k != label && n > 0 && (other < 0 || n > row[other]) {
			other = k
		}
	}
	if other < 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s)", names[other], amount(row[other]))
}

// residualSection shows how far the predictions of held-out rows are from their targets.
func residualSection(r *Result) section {
	switch {
	case r.Held == nil, r.link().Classes():
		return section{}
	}
	rows := r.judged()
	if len(rows) < 2 {
		return section{}
	}
	var weight, mean, total, left float64
	for _, one := range rows {
		weight += one.weight
	}
	for _, one := range rows {
		mean += float64(one.target * (one.weight / weight))
	}
	for _, one := range rows {
		total += float64(one.weight * (one.target - mean) * (one.target - mean))
		left += float64(one.weight * (one.target - one.score) * (one.target - one.score))
	}
	words := r.outOfFold()
	if total > 0 && finite(left) {
		words += fmt.Sprintf(" Of the variance of the target %.1f %% is explained; the root mean squared error is %.4g.", 100*(1-left/total), math.Sqrt(left/weight))
	}
	s := section{ID: "residuals", Title: "Predictions of rows held out", Words: words}
	all := len(rows)
	rows = slices.DeleteFunc(rows, func(one judged) bool {
		const most = 1e300 // up to this, differences are finite, too
		return !(math.Abs(one.score) <= most)
	})
	if beyond := all - len(rows); beyond > 0 {
		s.Words += fmt.Sprintf(" %d of %d predictions are beyond all numbers, and are not drawn.", beyond, all)
	}
	if len(rows) > 1 {
		s.Figures = []figure{cloud(rows), histogram(rows)}
	}
	return s
}

// cloud is a scatter plot of targets against predictions.
func cloud(rows []judged) figure {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, one := range rows {
		lo, hi = min(lo, one.target, one.score), max(hi, one.target, one.score)
	}
	pad := max(0.03*(hi-lo), 1e-300)
	lo, hi = lo-pad, hi+pad
	c := newChart("predicted", "Targets against predictions", [2]float64{lo, hi}, [2]float64{lo, hi}, right)
	c.axes(ticks(lo, hi), "prediction, out of fold", ticks(lo, hi), "target")
	c.line("axis dots", "", []float64{lo, hi}, []float64{lo, hi})
	every := (len(rows) + mostPoints - 1) / mostPoints
	shown := 0
	for i := 0; i < len(rows); i += every {
		c.dot("faint", "", rows[i].score, rows[i].target, 3)
		shown++
	}
	caption := fmt.Sprintf("Targets against predictions out of fold: all %d rows.", shown)
	if every > 1 {
		caption = fmt.Sprintf("Targets against predictions out of fold: %d of %d rows, one in %d.", shown, len(rows), every)
	}
	return figure{
		Name: "predicted", SVG: c.svg(), Legend: []key{{"faint", "rows"}, {"axis dots", "as predicted"}},
		Caption: caption,
	}
}

// histogram shows the distribution of residuals.
func histogram(rows []judged) figure {
	values := make([]float64, len(rows))
	for i, one := range rows {
		values[i] = one.target - one.score
	}
	lo, hi := slices.Min(values), slices.Max(values)
	const bins = 30
	var count [bins]float64
	for i, v := range values {
		at := 0
		if hi > lo {
			at = min(bins-1, int(float64(bins)*(v-lo)/(hi-lo)))
		}
		count[at] += rows[i].weight
	}
	c := newChart("residual-histogram", "How many rows have which residual", [2]float64{lo, hi}, [2]float64{0, slices.Max(count[:]) * 1.05}, right)
	c.axes(ticks(lo, hi), "target less prediction", ticks(0, slices.Max(count[:])*1.05), "rows")
	step := (hi - lo) / bins
	for k, n := range count {
		from := lo + float64(k)*step
		c.bar("a", fmt.Sprintf("%s rows from %.4g to %.4g", amount(n), from, from+step), from+0.05*step, from+0.95*step, 0, n)
	}
	return figure{Name: "residual-histogram", SVG: c.svg(), Caption: "Residuals of rows held out."}
}
