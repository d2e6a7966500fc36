package support

import "context"

// following keeps X̃_S·x up to date while conjugate gradients go from x = 0 to the solution: a product
// of the system with a direction also forms the product of X̃_S with it. On columns eliminated it keeps x itself.
type following struct {
	system *System
	u      []float64 // X̃_S·x by compact row; memory of the store
	x      []float64 // on the columns eliminated
}

// SolveFollowing is [System.Solve] from x = 0 that also returns u = X̃_S·x by compact row, at a cost of a
// few operations for each row and iteration. u is valid until the next call for columns of the store; it
// is nil where x is not the last iterate.
func (a *System) SolveFollowing(ctx context.Context, cg *CG, b, x []float64, tol float64, maxIterations int) (report Report, u []float64) {
	c, f := a.columns, &a.following
	if cap(c.followed) < c.m {
		c.followed = c.view.Floats(c.m)
	}
	f.system, f.u = a, c.followed[:c.m]
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

// begin starts from the solution on the columns eliminated, with x = 0 on all others.
func (f *following) begin(e *elimination) {
	e.systemL.k.Copy(f.u, e.systemL.u)
	f.x = append(f.x[:0], e.vectorL...)
}

// advance adds a step along the direction of the last product. f may be nil.
func (f *following) advance(step float64) {
	if f == nil {
		return
	}
	a := f.system
	u := a.u
	if a.Factorised() {
		u = a.elimination.systemR.u
		a.k.Axpy(-step, a.elimination.vectorL, f.x)
	}
	a.k.Axpy(step, u, f.u)
	a.columns.work += float64(DenseValue * float64(len(u)))
}

// restore sets x to v on the columns R that are left and, on those eliminated, to the values it has kept.
func (f *following) restore(e *elimination, v, x []float64) {
	for k, i := range e.positionsL {
		x[i] = f.x[k]
	}
	for k, i := range e.positionsR {
		x[i] = v[k]
	}
}
