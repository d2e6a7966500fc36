package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/search"
)

// levelSection shows the criterion of two strengths.
func levelSection(r *Result) section {
	if len(r.Level) < 4 || r.Best == nil {
		return section{}
	}
	return section{
		ID: "levels", Title: "The criterion of both strengths",
		Words: "Lines join points of equal value, as on a map: the thicker, the lower. The search went along the dashed line to the choice.",
		Figures: []figure{{
			Name: "level-sets", SVG: r.levels().svg(), Legend: []key{{"c", "equal value"}, {"open", "visited"}, {"b", "the choice"}},
			Caption: "The criterion against both strengths, with the way of the search.",
		}},
	}
}

// mesh is a grid of values: rows[i][j] at xs[i], ys[j].
type mesh struct {
	xs, ys []float64
	values [][]float64
}

// newMesh arranges evaluations by their two λ, as decimal logarithms of the shares of αmax.
func newMesh(level []search.Evaluation, top []float64) mesh {
	var m mesh
	at := func(e search.Evaluation, i int) float64 { return (e.LogLambda[i] - top[i]) / math.Ln10 }
	for _, e := range level {
		m.xs, m.ys = append(m.xs, at(e, 0)), append(m.ys, at(e, 1))
	}
	slices.Sort(m.xs)
	slices.Sort(m.ys)
	m.xs, m.ys = slices.Compact(m.xs), slices.Compact(m.ys)
	m.values = make([][]float64, len(m.xs))
	for i := range m.values {
		m.values[i] = make([]float64, len(m.ys))
		for j := range m.values[i] {
			m.values[i][j] = math.NaN()
		}
	}
	for _, e := range level {
		i, _ := slices.BinarySearch(m.xs, at(e, 0))
		j, _ := slices.BinarySearch(m.ys, at(e, 1))
		if finite(e.Value) {
			m.values[i][j] = e.Value
		}
	}
	return m
}

// levels draws the level sets of the criterion and the path of the search over them.
func (r *Result) levels() *chart {
	top := r.Final.LogLambdaMax
	m := newMesh(r.Level, top)
	c := newChart("level-sets", "Level sets of the criterion", [2]float64{m.xs[0], m.xs[len(m.xs)-1]}, [2]float64{m.ys[0], m.ys[len(m.ys)-1]}, right)
	c.axes(powers(m.xs[0], m.xs[len(m.xs)-1]), "ℓ1 strength α₁ as a share of αmax", powers(m.ys[0], m.ys[len(m.ys)-1]), "ridge strength α₂, share of αmax")
	least, most := math.Inf(1), math.Inf(-1)
	for _, row := range m.values {
		for _, v := range row {
			if !math.IsNaN(v) {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	for k := 1; k <= 9; k++ {
		level := least + (most-least)*math.Pow(float64(k)/10, 2) // closer where the criterion is low
		c.contour(m, level, fmt.Sprintf("%s %.6g", r.Loss, level), []string{"c heavy", "c", "c thin"}[(k-1)/3])
	}
	var xs, ys []float64
	for _, e := range r.Visit {
		if len(e.LogLambda) == 2 {
			xs, ys = append(xs, (e.LogLambda[0]-top[0])/math.Ln10), append(ys, (e.LogLambda[1]-top[1])/math.Ln10)
		}
	}
	clamp := func(v float64, s []float64) float64 { return min(max(v, s[0]), s[len(s)-1]) }
	for i := range xs {
		xs[i], ys[i] = clamp(xs[i], m.xs), clamp(ys[i], m.ys)
	}
	c.line("b dash", "", xs, ys)
	for i := range xs {
		c.dot("open", fmt.Sprintf("visited as number %d: %.6g", i+1, r.Visit[i].Value), xs[i], ys[i], 4)
	}
	c.dot("b", r.says(*r.Best, "the choice: "), clamp((r.Best.LogLambda[0]-top[0])/math.Ln10, m.xs), clamp((r.Best.LogLambda[1]-top[1])/math.Ln10, m.ys), 6)
	return c
}

// contour draws the line on which a mesh has the value level: a straight segment
// through every triangle of its cells, from side to side.
func (c *chart) contour(m mesh, level float64, tip string, class string) {
	type point struct{ x, y, v float64 }
	var xs, ys []float64
	cross := func(a, b point) (point, bool) {
		if (a.v < level) == (b.v < level) {
			return point{}, false
		}
		t := (level - a.v) / (b.v - a.v)
		return point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y), level}, true
	}
	triangle := func(a, b, d point) {
		if math.IsNaN(a.v + b.v + d.v) {
			return
		}
		for _, side := range [][2]point{{a, b}, {b, d}, {d, a}} {
			if p, ok := cross(side[0], side[1]); ok {
				xs, ys = append(xs, p.x), append(ys, p.y)
			}
		}
		if len(xs) > 0 && !math.IsNaN(ys[len(ys)-1]) {
			xs, ys = append(xs, 0), append(ys, math.NaN())
		}
	}
	for i := range len(m.xs) - 1 {
		for j := range len(m.ys) - 1 {
			corner := func(i, j int) point { return point{m.xs[i], m.ys[j], m.values[i][j]} }
			a, b, d, e := corner(i, j), corner(i+1, j), corner(i+1, j+1), corner(i, j+1)
			triangle(a, b, d)
			triangle(a, d, e)
		}
	}
	c.line(class, tip, xs, ys)
}
