package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestSVMCertificateByItsDefinition checks what [implicit.SVM.Certify] proves and leaves undecided against its
// description, written out on dense samples, from points close to the solution and far from it, also with
// dependent free samples.
func TestSVMCertificateByItsDefinition(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(40) {
		r := oracle.NewRandom(6000 + seed)
		p := 50
		if seed%5 == 0 {
			p = 3
		}
		b := drawBox(r, 30, p, 1, seed%2 == 0)
		logC := r.Pick(-5, -4, -3)
		fit := b.fit(t, nil, seed%3 == 0)
		c, err := fit.Strength(logC)
		if err != nil {
			t.Fatal(err)
		}
		best, _, _ := b.solve(t, c)
		for _, off := range []float64{0, 1e-7, 1e-4, 1e-2, 0.1, 0.5} {
			beta, at := make([]float64, len(best)), implicit.SVMPoint{}
			for i, v := range best {
				box := c * b.s[i]
				switch beta[i] = v * (1 + off*r.Normal()); {
				case box == 0:
					beta[i] = 0
				case v == box && p > 3, beta[i] >= box: // the sample stays at its bound, or has reached it
					beta[i] = box
					at.Bound = append(at.Bound, int32(i))
				case beta[i] > 0:
					at.Free, at.Dual = append(at.Free, int32(i)), append(at.Dual, beta[i])
				default:
					beta[i] = 0
				}
			}
			got, err := implicit.NewSVM(fit).Certify(t.Context(), logC, at)
			if err != nil {
				t.Fatal(err)
			}
			gap, kkt, edge, null := 0., 0., 1., 0.
			margins, nowhere := b.predict(beta), true
			for i := range margins {
				if b.s[i] == 0 {
					continue
				}
				margins[i] *= b.y[i]
				m := margins[i]
				box, square := c*b.s[i], b.product(i, i)
				null += box
				gap += (box-beta[i])*math.Max(0, 1-m) + beta[i]*math.Max(0, m-1)
				kkt = math.Max(kkt, square*math.Abs(beta[i]-math.Min(box, math.Max(0, beta[i]-(m-1)/square))))
				if beta[i] == 0 || beta[i] == box {
					if nowhere {
						edge, nowhere = math.Inf(1), false
					}
					edge = math.Min(edge, math.Abs(1-m))
				}
			}
			if math.Abs(got.Gap-gap) > 1e-9*gap+1e-14*null || math.Abs(got.KKT-kkt) > 1e-9*kkt+1e-13 || math.Abs(got.DualMargin-edge) > 1e-9 {
				t.Errorf("seed %d, off by %g: %+v, by definition gap %g, KKT %g, margin %g", seed, off, got, gap, kkt, edge)
			}
			gap = got.Gap + 1e3*0x1p-53*null
			closeCall := false
			exceeds := func(a, b float64) bool {
				closeCall = closeCall || math.Abs(a-b) < 1e-6*math.Abs(b)
				return a > b
			}
			open := 0
			for i, m := range margins {
				reach := math.Sqrt(gap * b.product(i, i))
				if b.s[i] > 0 && (beta[i] == 0 && !exceeds(m-1, reach) || beta[i] == c*b.s[i] && !exceeds(1-m, reach)) {
					open++
				}
			}
			unique, dependent := open == 0, false
			gram := make([][]float64, len(at.Free))
			for k, i := range at.Free {
				for _, l := range at.Free {
					gram[k] = append(gram[k], b.product(int(i), int(l)))
				}
			}
			for k, i := range at.Free {
				unit := make([]float64, len(gram))
				unit[k] = 1
				x, ok := oracle.SolveDense(gram, unit)
				if dependent = len(gram) > p; dependent {
					unique, open = false, open+len(gram)
					break
				}
				if !ok {
					t.Fatal("free samples depend on one another")
				}
				if moved := math.Sqrt(gap * x[k]); !unique || !exceeds(math.Min(beta[i], c*b.s[i]-beta[i]), moved) {
					open++
				}
			}
			if closeCall {
				continue
			}
			if got.Undecided != open || got.Support != (open == 0) || got.Unique != unique || got.Dependent != dependent || got.Shared {
				t.Errorf("seed %d, off by %g: %+v, by definition %d undecided, unique %t, dependent %t", seed, off, got, open, unique, dependent)
			}
			switch {
			case dependent:
				seen["dependent"]++
			case open == 0:
				seen["support"]++
			case unique:
				seen["unique"]++
			default:
				seen["open"]++
			}
		}
	}
	for _, kind := range []string{"dependent", "support", "unique", "open"} {
		if seen[kind] < 5 {
			t.Errorf("%d certificates of kind %s", seen[kind], kind)
		}
	}
}
