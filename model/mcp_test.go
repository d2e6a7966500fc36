package model_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestMCPProx checks that the prox minimises its problem in one variable, satisfies the optimality conditions
// there, and has the derivatives that differences give.
func TestMCPProx(t *testing.T) {
	r := oracle.NewRandom(4)
	for range 500 {
		lambda := [2]float64{r.Normal(), 1 + r.Float64()}
		g, err := model.NewMCP(lambda[0], lambda[1])
		if err != nil {
			t.Fatal(err)
		}
		step, z := 0.5+r.Float64(), 4*r.Normal()*math.Exp(lambda[0])
		b, slope := g.Prox(0, z, step)
		objective := func(b float64) float64 { return (b-z)*(b-z)/(2*step) + g.Value(0, b) }
		for k := range 400 {
			if at := 2 * z * float64(k-100) / 200; objective(at) < objective(b)-1e-12 {
				t.Fatalf("prox(%g) = %g, but %g is better", z, b, at)
			}
		}
		lack := []float64{0}
		model.Elementwise{Of: g}.Lack(0, []float64{b}, []float64{(z - b) / step}, lack)
		if math.Abs(lack[0]) > 1e-12*(1+math.Abs(z)) {
			t.Errorf("prox(%g) = %g lacks %g of its condition", z, b, lack[0])
		}
		threshold, bend := step*math.Exp(lambda[0]), math.Exp(lambda[0]+lambda[1])
		if math.Abs(math.Abs(z)-threshold) < 1e-3 || math.Abs(math.Abs(z)-bend) < 1e-3 {
			continue // a kink of the prox
		}
		const h = 1e-6
		up, _ := g.Prox(0, z+h, step)
		down, _ := g.Prox(0, z-h, step)
		if want := (up - down) / (2 * h); math.Abs(slope-want) > 1e-6*(1+want) {
			t.Errorf("∂prox/∂z = %g, differences %g", slope, want)
		}
		for i := range lambda {
			at := func(d float64) float64 {
				moved := lambda
				moved[i] += d
				g, err := model.NewMCP(moved[0], moved[1])
				if err != nil {
					t.Fatal(err)
				}
				b, _ := g.Prox(0, z, step)
				return b
			}
			if want := (at(h) - at(-h)) / (2 * h); math.Abs(g.Sensitivity(0, i, z, step)-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("∂prox/∂λ%d = %g, differences %g", i+1, g.Sensitivity(0, i, z, step), want)
			}
		}
		if b != 0 && math.Abs(b) < bend {
			const h = 1e-4
			if want := (g.Value(0, b+h) - 2*g.Value(0, b) + g.Value(0, b-h)) / (h * h); math.Abs(b) > 2*h && math.Abs(g.Curvature(0, b)-want) > 1e-5*(1+g.Value(0, b)) {
				t.Errorf("curvature %g at %g, differences %g", g.Curvature(0, b), b, want)
			}
		}
	}
}

// TestShiftsAndCurvaturesAreDifferences checks that Shift is minus the derivative of Slope in λ, and Curvature its
// derivative in β, by differences, in every piece of both penalties and beyond the last, and that both are 0 at 0,
// where the slope jumps.
func TestShiftsAndCurvaturesAreDifferences(t *testing.T) {
	const h = 1e-6
	for name, penalty := range map[string]func(a, b float64) (model.Separable, error){
		"MCP":  func(a, b float64) (model.Separable, error) { return model.NewMCP(a, b) },
		"SCAD": func(a, b float64) (model.Separable, error) { return model.NewSCAD(a, b) },
	} {
		lambda := [2]float64{-0.3, 1.2}
		at := func(i int, step float64) model.Separable {
			moved := lambda
			moved[i] += step
			g, err := penalty(moved[0], moved[1])
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := at(0, 0)
		for k := range 60 {
			b := 0.1 * float64(k-30) // from below −aα to above aα
			var want [3]float64
			if b != 0 {
				want = [3]float64{
					(at(0, -h).Slope(0, b) - at(0, h).Slope(0, b)) / (2 * h), (at(1, -h).Slope(0, b) - at(1, h).Slope(0, b)) / (2 * h),
					(g.Slope(0, b+h) - g.Slope(0, b-h)) / (2 * h),
				}
			}
			for i, got := range []float64{g.Shift(0, 0, b), g.Shift(0, 1, b), g.Curvature(0, b)} {
				if math.Abs(got-want[i]) > 1e-8 {
					t.Errorf("%s at %g: derivative %d is %g, differences %g", name, b, i, got, want[i])
				}
			}
		}
	}
}
