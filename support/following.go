package support

import "context"

// following keeps X̃_S·x while conjugate gradients go from x = 0 to the solution: a product of the
// system with a direction makes that of X̃_S with it on its way. Of columns eliminated it keeps x itself.
type following struct {
	of *System
	u  []float64 // compact rows, of the store
	x  []float64 // of the columns eliminated
}

// SolveFollowing is [System.Solve] from x = 0, for a price of a few operations a row and iteration more. It
// returns X̃_S·x, too, by compact rows, until the next call for columns of the store; nil where x is not
// where the last iteration led.
func (a *System) SolveFollowing(ctx context.Context, cg *CG, b, x []float64, tol float64, maxIterations int) (report Report, u []float64) {
	c, f := a.columns, &a.following
	if cap(c.followed) < c.m {
		c.followed = c.view.Floats(c.m)
	}
	f.of, f.u = a, c.followed[:c.m]
	a.k.Clear(f.u)
	clear(x)
	cg.follower = f
	report = a.Solve(ctx, cg, b, x, tol, maxIterations)
	cg.follower = nil
	if !cg.last {
		return report, nil
	}
	return report, f.u
}

// begin takes over the solution on the columns eliminated while all others are 0.
func (f *following) begin(e *block) {
	e.long.k.Copy(f.u, e.long.u)
	f.x = append(f.x[:0], e.y...)
}

// advance goes on by a step along the direction of the last product. f may be nil.
func (f *following) advance(step float64) {
	if f == nil {
		return
	}
	a := f.of
	u := a.u
	if a.Factorised() {
		u = a.block.short.u
		a.k.Axpy(-step, a.block.y, f.x)
	}
	a.k.Axpy(step, u, f.u)
	a.columns.work += float64(DenseValue * float64(len(u)))
}

// restore sets x to v on the columns that are left and, on those eliminated, to what has been kept.
func (f *following) restore(e *block, v, x []float64) {
	for k, i := range e.place {
		x[i] = f.x[k]
	}
	for k, i := range e.home {
		x[i] = v[k]
	}
}
