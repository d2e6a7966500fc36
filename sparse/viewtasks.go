package sparse

import (
	"math"
	"sync"

	"github.com/seed-45b9a24c/pare/internal/arena"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
)

// Work on a view that the threads of a team share. A part is a range of columns in storage order, or of rows.

// With returns the view with a team, whose threads share the passes over the view and other work on its
// columns. nil stands for one thread, whose work is not recorded. Results do not depend on the team.
func (v *View) With(t *team.Team) *View {
	w := *v
	w.team, w.addTask, w.dotsTask = t, nil, nil
	if t != nil {
		w.addTask, w.dotsTask = &addTask{}, &dotsTask{}
	}
	return &w
}

// Team returns the team, nil where there is none.
func (v *View) Team() *team.Team {
	if v == nil {
		return nil
	}
	return v.team
}

// Within returns the view with an arena, for vectors that are not used after the call that made it. nil stands
// for ordinary memory.
func (v *View) Within(a *arena.Arena) *View {
	w := *v
	w.memory = a
	return &w
}

// Arena returns the arena for such vectors.
func (v *View) Arena() *arena.Arena { return v.memory }

// Floats returns n zeros from the view's arena.
func (v *View) Floats(n int) []float64 { return v.memory.Floats(v.k, n) }

// The modelled cost, in nanoseconds, of an entry that a pass reads, and of one that is added to a vector.
const (
	EntryCost  = 0.5
	updateCost = 0.75
)

// Dots sets out[k] to [View.Dot] of column cols[k].
func (v *View) Dots(cols []int32, u, out []float64) {
	if v.team == nil || !v.dotsTask.busy.TryLock() {
		(&dotsTask{view: v, cols: cols, u: u, out: out}).Part(0, 1)
		return
	}
	defer v.dotsTask.busy.Unlock()
	d := v.dotsTask
	d.view, d.cols, d.u, d.out = v, cols, u, out
	v.team.Do(v.team.Cuts(EntryCost*float64(v.countEntries(cols))), d)
	d.view, d.cols, d.u, d.out = nil, nil, nil, nil
}

// dotsTask is the task of [View.Dots]; its parts are columns.
type dotsTask struct {
	busy   sync.Mutex
	view   *View
	cols   []int32
	u, out []float64
}

// Part implements [team.Task].
func (d *dotsTask) Part(k, of int) {
	from, to := len(d.cols)*k/of, len(d.cols)*(k+1)/of
	for at, j := range d.cols[from:to] {
		d.out[from+at] = d.view.Dot(int(j), d.u)
	}
}

// countEntries returns the number of entries of the columns listed.
func (v *View) countEntries(cols []int32) (entries int) {
	for _, j := range cols {
		from, to := v.x.Span(int(j))
		entries += int(to - from)
	}
	return entries
}

// addTask is the task of [View.AddColumns]; its parts are rows.
type addTask struct {
	busy sync.Mutex
	view *View
	cols []int32
	b, u []float64
}

// Part implements [team.Task].
func (a *addTask) Part(k, of int) {
	v := a.view
	from, to := v.n*k/of, v.n*(k+1)/of
	if x, dense := v.x.(*Dense); dense {
		v.addDense(x, a.cols, a.b, from, to, a.u)
		return
	}
	for at, j := range a.cols {
		times := a.b[at]
		if times == 0 {
			continue
		}
		if v.scale != nil {
			times *= v.scale[j]
		}
		rows, values := v.x.Column(int(j))
		first, end := Before(rows, from, v.n), Before(rows, to, v.n)
		v.k.AxpyIndexed(times, values[first:end], rows[first:end], a.u)
	}
	if shift := v.shift(a.cols, a.b); shift != 0 {
		v.k.Subtract(shift, a.u[from:to])
	}
}

// addDense is [View.AddColumns] for the rows from:to of a dense matrix. It adds all columns to a block of rows
// that stays in a cache, then goes on to the next block.
func (v *View) addDense(x *Dense, cols []int32, b []float64, from, to int, u []float64) {
	shift, pace := v.shift(cols, b), v.k.Pace()
	for ; from < to; from += kernels.Block {
		end := min(from+kernels.Block, to)
		part := u[from:end]
		pace.Did(len(cols) * len(part))
		for k, j := range cols {
			times := b[k]
			if times == 0 {
				continue
			}
			if v.scale != nil {
				times *= v.scale[j]
			}
			_, values := x.Column(int(j))
			v.k.Axpy(times, values[from:end], part)
		}
		if shift != 0 {
			v.k.Subtract(shift, part)
		}
	}
}

// shift returns what centring subtracts from every row of X̃_S·b. Without columns it does not ask for the
// means: they would take a pass over X, which [View.Introduce] may make later for other purposes too.
func (v *View) shift(cols []int32, b []float64) (shift float64) {
	if len(cols) == 0 {
		return 0
	}
	means := v.Means()
	if means == nil {
		return 0
	}
	for k, j := range cols {
		if b[k] != 0 {
			shift = math.FMA(b[k], means[j], shift)
		}
	}
	return shift
}

// addByTeam is [View.AddColumns] by the team. It reports whether it did the work.
func (v *View) addByTeam(cols []int32, b, u []float64) bool {
	if v.team == nil {
		return false
	}
	parts := min(v.team.Cuts(updateCost*float64(v.countEntries(cols))), v.team.Threads())
	if parts <= 1 || !v.addTask.busy.TryLock() {
		return false
	}
	defer v.addTask.busy.Unlock()
	a := v.addTask
	a.view, a.cols, a.b, a.u = v, cols, b, u
	v.team.Do(parts, a)
	a.view, a.cols, a.b, a.u = nil, nil, nil, nil
	return true
}

// Before returns the number of row indices, ascending and below n, that are less than row. It looks first where
// row would be if the indices were evenly spread.
func Before(rows []int32, row, n int) int {
	size := len(rows)
	if row >= n {
		return size
	}
	at := int(int64(size) * int64(row) / int64(n))
	low, high := at, at // rows[:low] are before, rows[high:] are not
	for step := 1; low > 0 && int(rows[low-1]) >= row; step *= 2 {
		high = low - 1
		low = max(0, low-step)
	}
	for step := 1; high < size && int(rows[high]) < row; step *= 2 {
		low = high + 1
		high = min(size, high+step)
	}
	for low < high {
		middle := (low + high) / 2
		if int(rows[middle]) < row {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}
