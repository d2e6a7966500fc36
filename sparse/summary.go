package sparse

import (
	"math"
	"math/bits"
	"slices"
)

// Summary describes a matrix and its target.
type Summary struct {
	Rows, Columns    int
	NNZ              int64   // nonzeros
	Density          float64 // nonzeros divided by n·p; 0 if n·p is 0
	EmptyRows        int     // rows without a nonzero
	EmptyColumns     int     // columns without a nonzero
	DuplicateColumns int     // nonempty columns equal, entry by entry, to one of smaller index
	Labels           Labels
	Bytes            int64 // held by matrix and target
}

// Labels describes a target.
type Labels struct {
	Kind     LabelKind
	Distinct int          // number of distinct values
	Min, Max float64      // 0 where there are no labels
	Classes  []ClassCount // increasing by value; nil for real labels
}

// LabelKind says what a target looks like.
type LabelKind string

// The kinds of labels.
const (
	NoLabels   LabelKind = "none"     // no rows
	OneClass   LabelKind = "constant" // one value
	TwoClasses LabelKind = "binary"   // two values
	Classes    LabelKind = "classes"  // more, all integers, with ten rows or more each on average
	RealLabels LabelKind = "real"     // anything else
)

// ClassCount is one value of the target and the number of rows that have it.
type ClassCount struct {
	Value float64
	Count int
}

// Summarise describes x and its target y, in time linear in the entries, except for the sorting of y.
func Summarise(x Matrix, y []float64) Summary {
	n, p := x.Dims()
	s := Summary{Rows: n, Columns: p, EmptyRows: n, EmptyColumns: p, Labels: LabelsOf(y), Bytes: 8 * int64(len(y))}
	if b, ok := x.(interface{ Bytes() int64 }); ok {
		s.Bytes += b.Bytes()
	}
	occupied := make([]bool, n)
	original := map[uint64][]int32{} // columns that repeat no other, by fingerprint
	for _, j := range x.Order() {
		rows, values := x.Column(int(j))
		nnz, fingerprint := 0, uint64(0)
		for k, v := range values {
			if v == 0 {
				continue
			}
			i := int32(k)
			if rows != nil {
				i = rows[k]
			}
			nnz++
			fingerprint = mix(fingerprint, uint64(i), math.Float64bits(v))
			if !occupied[i] {
				occupied[i] = true
				s.EmptyRows--
			}
		}
		if nnz == 0 {
			continue
		}
		s.NNZ += int64(nnz)
		s.EmptyColumns--
		if slices.ContainsFunc(original[fingerprint], func(other int32) bool { return equalColumns(x, j, other) }) {
			s.DuplicateColumns++
		} else {
			original[fingerprint] = append(original[fingerprint], j)
		}
	}
	if n > 0 && p > 0 {
		s.Density = float64(s.NNZ) / float64(n) / float64(p)
	}
	return s
}

// mix folds an entry into the fingerprint of its column.
func mix(fingerprint, i, v uint64) uint64 {
	hi, lo := bits.Mul64(fingerprint^v^0x9e3779b97f4a7c15, i^0xbf58476d1ce4e5b9)
	return hi ^ bits.RotateLeft64(lo, 29) ^ v*0x94d049bb133111eb
}

// equalColumns compares two columns of x entry by entry. The fingerprint only spares most pairs this
// comparison.
func equalColumns(x Matrix, a, b int32) bool {
	rowsA, valuesA := x.Column(int(a))
	rowsB, valuesB := x.Column(int(b))
	return slices.Equal(rowsA, rowsB) && slices.Equal(valuesA, valuesB)
}

// LabelsOf describes a target.
func LabelsOf(y []float64) Labels {
	if len(y) == 0 {
		return Labels{Kind: NoLabels}
	}
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	l := Labels{Min: sorted[0], Max: sorted[len(sorted)-1]}
	integers := true
	for k, v := range sorted {
		if k == 0 || v != sorted[k-1] {
			l.Distinct++
			integers = integers && v == math.Trunc(v)
		}
	}
	switch {
	case l.Distinct == 1:
		l.Kind = OneClass
	case l.Distinct == 2:
		l.Kind = TwoClasses
	case integers && 10*l.Distinct <= len(y):
		l.Kind = Classes
	default:
		l.Kind = RealLabels
		return l
	}
	l.Classes = make([]ClassCount, 0, l.Distinct)
	for k, v := range sorted {
		if k == 0 || v != sorted[k-1] {
			l.Classes = append(l.Classes, ClassCount{Value: v})
		}
		l.Classes[len(l.Classes)-1].Count++
	}
	return l
}
