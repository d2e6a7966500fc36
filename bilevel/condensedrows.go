package bilevel

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// leastSum is the smallest sum of squares whose terms are not rounded to zero.
const leastSum = 0x1p-900

// condensedRows returns the condensed rows of a fold, by columns, and the weight of each row; nil where squares overflow or
// underflow.
func (c *condenser) condensedRows(fold int) (rows [][]float64, weight float64) {
	m := c.whole[fold]
	size, whole, sums := c.size, c.size+1, m.sums
	total, mean, place := sums[size*whole+size], make([]float64, size), make([]float64, size) // mean: the mean less the centre; place: the mean less the shift
	for j := range size {
		if square := sums[j*whole+j]; !(square <= math.MaxFloat64) || square < leastSum && (m.varies[j] || !c.spec.Intercept && m.first[j] != 0) {
			return nil, 0
		}
		switch {
		case !c.spec.Intercept:
		case m.varies[j]:
			mean[j] = sums[size*whole+j] / total
			place[j] = c.centre[fold][j] - c.shift[j] + mean[j]
		default:
			place[j] = m.first[j] - c.shift[j]
		}
	}
	product := make([]float64, size*size)
	for i := range size {
		for j := range i + 1 {
			if !c.spec.Intercept || m.varies[i] && m.varies[j] {
				product[i*size+j] = sums[i*whole+j] - float64(float64(total*mean[i])*mean[j])
			}
		}
	}
	l, rank := pivotedCholesky(c.k, product, size, independenceTol)
	c.rankError = max(c.rankError, rankErrorOf(c.k, product, l, size, rank))
	return rowsFromFactor(l, rank, place, total, c.spec.Intercept)
}

// rowsFromFactor returns rows, by columns, with the given means whose weighted products are LLᵀ, centred if there is an intercept,
// and the weight of each row.
func rowsFromFactor(l []float64, rank int, mean []float64, total float64, intercept bool) (rows [][]float64, weight float64) {
	size := len(mean)
	count := max(1, rank)
	if intercept {
		count = rank + 1
	}
	weight = total / float64(count)
	root, rows, room := math.Sqrt(weight), make([][]float64, size), make([]float64, size*count)
	for j := range rows {
		entries := l[j*size:][:rank]
		rows[j] = room[j*count:][:count]
		if !intercept {
			for t, v := range entries {
				rows[j][t] = v / root
			}
			continue
		}
		// The reflection that takes the first unit vector to a vector of equal entries takes L's columns to ones that sum to 0.
		var sum float64
		for _, v := range entries {
			sum += v
		}
		side := math.Sqrt(float64(count))
		rows[j][0] = mean[j] + sum/side/root
		for t, v := range entries {
			rows[j][t+1] = mean[j] + (v-sum/(float64(count)-side))/root
		}
	}
	return rows, weight
}

// pivotedCholesky returns the rows of an L with LLᵀ = A, and its number of columns; only the lower triangle of A is read. It is
// Cholesky's method with pivots: each column of L eliminates the row whose remaining diagonal entry is the largest share of
// its original one, until no share is larger than size·negligible. Rows of A that are equal up to their sign remain so in L.
func pivotedCholesky(k *kernels.Set, a []float64, size int, negligible float64) (l []float64, rank int) {
	l = make([]float64, size*size)
	left, pace := make([]float64, size), k.Pace()
	least := float64(size) * negligible
	of := func(i, j int) float64 { return a[max(i, j)*size+min(i, j)] }
	for i := range left {
		left[i] = max(0, of(i, i))
	}
	for rank < size {
		pivot, largest := 0, least
		for i, square := range left {
			if share := square / of(i, i); share > largest {
				pivot, largest = i, share
			}
		}
		if largest == least {
			break
		}
		pace.Did(rank * size)
		root, row := math.Sqrt(left[pivot]), l[pivot*size:][:rank]
		for i := range size {
			switch own := of(i, pivot); {
			case i == pivot || left[i] == 0:
			case math.Abs(own) == of(i, i) && of(i, i) == of(pivot, pivot):
				for t, v := range row {
					l[i*size+t] = math.Copysign(1, own) * v
				}
				l[i*size+rank], left[i] = math.Copysign(root, own), 0
			default:
				entry := (own - k.Dot(l[i*size:][:rank], row)) / root
				l[i*size+rank] = entry
				left[i] = max(0, left[i]-float64(entry*entry))
			}
		}
		l[pivot*size+rank], left[pivot] = root, 0
		rank++
	}
	return l, rank
}

// rankErrorOf returns the largest difference between an entry of A and the same entry of LLᵀ, relative to the norms of the two rows;
// 0 where L has full rank.
func rankErrorOf(k *kernels.Set, a, l []float64, size, rank int) (most float64) {
	if rank == size {
		return 0
	}
	of := func(i, j int) float64 { return a[max(i, j)*size+min(i, j)] }
	pace := k.Pace()
	for i := range size {
		if of(i, i) <= 0 {
			continue
		}
		for j := range size {
			pace.Did(rank)
			if unit := math.Sqrt(of(i, i) * of(j, j)); unit > 0 {
				most = max(most, math.Abs(of(i, j)-k.Dot(l[i*size:][:rank], l[j*size:][:rank]))/unit)
			}
		}
	}
	return most
}

// leastRemainder is the smallest share of its square that must remain of a column or the target after projection off the unpenalised
// columns, so that the remainder is accurate to some digits on condensed rows.
const leastRemainder = 1e-8

// separatesUnpenalised reports whether, on the training rows of every fold, columns and target are far from depending linearly on the
// unpenalised columns, whose entry in penalised is 0.
func (c *Condensed) separatesUnpenalised(k *kernels.Set, spec *Spec, penalised []float64) bool {
	var columns, others [][]float64
	for j, times := range penalised {
		if _, column := c.X.Column(j); times == 0 {
			columns = append(columns, column)
		} else {
			others = append(others, column)
		}
	}
	free := len(columns)
	if free == 0 {
		return true
	}
	columns = append(append(columns, others...), c.Y)
	of := c.Spec(*spec)
	for fold := range c.folds.Count(k) {
		weights, _ := of.Split(k, fold)
		var units [][]float64 // an orthonormal basis of the unpenalised columns
		for j, column := range columns {
			own := weightedColumn(k, column, weights, spec.Intercept)
			square := k.Dot(own, own)
			if square == 0 {
				continue
			}
			for _, unit := range units {
				k.Axpy(-k.Dot(unit, own), unit, own)
			}
			left := k.Dot(own, own)
			if left < leastRemainder*square {
				return false
			}
			if j < free {
				for i := range own {
					own[i] /= math.Sqrt(left)
				}
				units = append(units, own)
			}
		}
	}
	return true
}

// weightedColumn returns the entries of a column times the square roots of their weights; centred subtracts the weighted mean first.
func weightedColumn(k *kernels.Set, column, weights []float64, centred bool) []float64 {
	mean := 0.0
	if centred {
		mean = k.Dot(weights, column) / k.Sum(weights)
	}
	own := make([]float64, len(column))
	for i, v := range column {
		own[i] = math.Sqrt(weights[i]) * (v - mean)
	}
	return own
}
