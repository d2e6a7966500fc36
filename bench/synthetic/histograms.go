package synthetic

import "context"

// generateHistograms generates classes of equal size, each in consecutive rows. A class has a prototype with 5
// of 16 bins filled. A row is its class's prototype with every bin scaled by 0.5 … 1.5, 1 bin in 8 emptied, and
// a little added to 1 bin in 64.
func (s Set) generateHistograms(ctx context.Context) (*table, error) {
	const perClass = 108
	base := mix(s.seed)
	t := newTable(s.Rows)
	prototype := make([]float64, s.Columns)
	for i := range s.Rows {
		if i%perClass == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			state := at(base, i/perClass)
			for j := range prototype {
				prototype[j] = 0
				if at(state, 2*j)>>60 < 5 {
					a := unit(at(state, 2*j+1))
					a *= a
					prototype[j] = a * a
				}
			}
		}
		t.y[i] = float64(i/perClass + 1)
		state := at(base^0x5555555555555555, i)
		for j, filled := range prototype {
			which, a := at(state, 2*j), unit(at(state, 2*j+1))
			v := 0.0
			if which>>61 != 0 {
				v = filled * (0.5 + a)
			}
			if which&63 == 0 {
				v += float64(0.25 * float64(a*a))
			}
			if v != 0 {
				t.add(int32(j), v)
			}
		}
		t.endRow()
		_, values := t.row(i)
		normalise(values)
	}
	return t, nil
}
