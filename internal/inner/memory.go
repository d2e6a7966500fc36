package inner

import (
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// LeastGram is how many columns a Gram matrix may have in any case, UsualGram how many it has as
// a rule.
const (
	LeastGram = 64
	UsualGram = 256
)

// The bytes that one inner problem may hold, by what they are proportional to: views, copies,
// certificates, packed columns, and slices that append moves.
const (
	bytesPerRow    = 500
	bytesPerColumn = 500
	bytesPerEntry  = 100
	bytesIdle      = 100 // per row and column, of a problem that is not at work
	bytesPerPair   = 56  // of columns of a Gram matrix: with room to grow, and its factors
	bytesAlways    = 1 << 20
	bytesOfProofs  = 64 << 20
	bytesOfVectors = 64  // per entry of the matrices that solvers of support vectors factorise
	bytesOfFree    = 32  // the same of those of free rows, with room to grow
	bytesPerScore  = 250 // per row and score, where there are several
)

// MostBytes returns an upper bound of the working memory of the problem without a Gram matrix,
// which is there for speed, and how many bytes each pair of its columns adds.
func (s *Statement) MostBytes() (need, pair float64) {
	n, p := s.X.Dims()
	byRows, byColumns := float64(bytesPerRow*int64(n)+bytesPerEntry*s.X.NNZ()), float64(bytesPerColumn*int64(p))
	if q := float64(s.scores()); q > 1 { // moments of columns are q × q
		byRows, byColumns = byRows+float64(bytesPerScore*q*float64(n)), float64(q*byColumns)+float64(8*q*q*float64(p))
	}
	need, pair = bytesAlways+byRows+byColumns, bytesPerPair
	if s.Loss != nil && !s.quadratic() {
		// A cold start may solve the problem on a quarter of the rows, and that on a
		// quarter of them, with half as large a Gram matrix each time (cd/sample.go).
		need += byRows/3 + byColumns
		pair *= 4. / 3
	}
	if s.Certify {
		need += bytesOfProofs
	}
	if size := min(n, p); s.factorisesRows() {
		// On the way to a solution there may be more free rows than it has, for speed.
		need += float64((bytesOfVectors + bytesOfFree) * float64(size+2) * float64(size+2))
		pair = bytesOfFree
	}
	return need, pair
}

// LargestGram is how many columns a Gram matrix has at most, or rows one of free rows.
func (s *Statement) LargestGram() int {
	if s.factorisesRows() {
		return cd.MostVectors
	}
	return support.LargestGram
}

// factorisesRows reports support vectors whose solver factorises matrices of rows.
func (s *Statement) factorisesRows() bool {
	n, p := s.X.Dims()
	return s.Loss == nil && (s.Tube || s.Intercept) && min(n, p) <= cd.MostVectors
}

// scores returns how many scores a row has at once: one for each class of a softmax.
func (s *Statement) scores() int {
	if s.counted == 0 {
		s.counted = 1
		if s.Classes && s.Form.Blocks != nil {
			classes, _, _ := bilevel.Classes(s.Kernels, s.Y) // what is wrong with them the problem says
			s.counted = max(1, len(classes))
		}
	}
	return s.counted
}

// mostGrowing is how many bytes there may be for each of a copy of columns, while it moves.
const mostGrowing = 4

// MostBoundedBytes is MostBytes with copies of columns of LeastPacked bytes, and how many bytes each
// byte of copies more adds.
func (s *Statement) MostBoundedBytes() (need, growth float64) {
	n, p := s.X.Dims()
	need = bytesAlways + float64(bytesPerRow*int64(n)) + float64(bytesPerColumn*int64(p)) + mostGrowing*LeastPacked
	if s.Certify {
		need += bytesOfProofs
	}
	return need, mostGrowing
}

// IdleBytes is MostBytes of the problem while it is not at work: vectors, and coefficients.
func (s *Statement) IdleBytes() float64 {
	n, p := s.X.Dims()
	return float64(bytesIdle * int64(s.scores()) * (int64(n) + int64(p)))
}

// What an inner problem is expected to have in use, as it was measured on data of many shapes
// (TestExpectedBytes): to a factor of 3, where MostBytes is an upper bound.
const (
	usualAlways    = 220_000
	usualCondensed = 80_000 // in the place of usualAlways, on condensed rows
	usualRow       = 140
	usualDirect    = 60 // of a row, where the matrix is worked on in its place
	usualIdle      = 16 // of a row or a column of a problem that is not at work
	usualColumn    = 90
	usualValue     = 50 // of a column that is packed
	usualCurved    = 90 // the same where its weights change
	usualDense     = 0.2
	usualPair      = 16  // of columns of a Gram matrix
	usualScore     = 100 // of a row and one of several scores
	usualFree      = 700 // rows of which a support vector regression factorises a matrix, at most
	usualOfFree    = 24  // of an entry of it
	usualRowEntry  = 6   // of a value that it reads by rows
	usualMoment    = 4   // of a pair of scores and a column
)

// UsualBytes returns how many bytes so many such problems on all rows, and of folds, are expected
// to have in use, with Gram matrices of so many columns.
func (s *Statement) UsualBytes(own, lanes, gram int) int64 {
	rows, columns := s.X.Dims()
	n, p, values := float64(rows), float64(columns), float64(s.X.NNZ())
	if s.Loss == nil && !s.Classes && s.Form.Blocks == nil {
		lane := usualAlways + float64(usualColumn*p) + float64(usualRow*n) + float64(usualRowEntry*values)
		if free := min(n, usualFree); s.Tube {
			lane += float64(usualOfFree * free * free)
		}
		return int64(min(float64(float64(own+lanes)*lane), math.MaxInt64/2))
	}
	// Working sets grow with the support, and that is bounded by the rows.
	packed := min(values/2, 2*min(n, p)*values/max(1, p))
	each := float64(usualValue)
	if !s.quadratic() {
		each = usualCurved
	}
	_, dense := s.X.(*sparse.Dense)
	if dense {
		each *= usualDense
	}
	q := float64(s.scores())
	always := usualAlways + float64(usualColumn*p*q) + float64(usualPair*gram*gram)
	lane := always + float64(usualRow*n) + float64(each*packed)
	if q > 1 {
		lane += float64(usualScore*n*q) + float64(usualMoment*q*q*p)
	}
	var shared float64
	if q == 1 && lanes > 0 {
		shared = float64(sparse.SingleBytes(s.X))
	}
	whole := lane
	if !dense && s.quadratic() && s.Weights == nil && !s.Standardise && s.Factors == nil {
		whole = always + float64(usualDirect*n) // see support.Columns
	}
	return int64(min(float64(float64(own)*whole)+float64(float64(lanes)*lane)+shared, math.MaxInt64/2))
}

// UsualCondensedBytes is UsualBytes of so many problems of folds on condensed rows.
func (s *Statement) UsualCondensedBytes(folds, gram int) int64 {
	n, p := s.X.Dims()
	rows, columns := float64(bilevel.Parts(folds)*(p+2)), float64(p)
	lane := usualCondensed + float64(usualColumn*columns) + float64(usualPair*gram*gram) + float64(usualRow*rows) + float64(usualValue*usualDense*rows*columns)
	return int64(min(float64(float64(folds)*lane)+bilevel.SumsBytes(n, p, bilevel.Parts(folds)), math.MaxInt64/2))
}

// UsualIdleBytes is UsualBytes of such a problem that is not at work.
func (s *Statement) UsualIdleBytes() int64 {
	n, p := s.X.Dims()
	return usualIdle * int64(s.scores()) * (int64(n) + int64(p))
}

// The same of problems one at a time whose copies of columns are bounded (support.Columns.Bound).
const (
	// LeastPacked is how many bytes of copies there may be in any case.
	LeastPacked = 1 << 20

	boundedRow    = 120
	boundedCurved = 190 // where weights change
	boundedPair   = 24  // of columns of a Gram matrix, with what it has moved from
	boundedColumn = 300 // most of it of working sets, which grow to half of the columns
	growing       = 1.1 // of copies, with what lies between them and others
)

// BoundsCopies reports whether the solver keeps to a bound of its copies: of sparse columns, with
// one predictor that a coefficient of its own for every column makes.
func (s *Statement) BoundsCopies() bool {
	_, csc := s.X.(*sparse.CSC)
	return csc && s.Loss != nil && !s.Classes && s.Groups == nil
}

// BoundedBytes is UsualBytes of any number of problems, one at work at a time, with Gram matrices
// of so many columns and copies of so many bytes.
func (s *Statement) BoundedBytes(gram int, packed int64) int64 {
	return s.boundedAlways() + int64(boundedPair*gram*gram) + int64(growing*float64(packed))
}

func (s *Statement) boundedAlways() int64 {
	n, p := s.X.Dims()
	row := int64(boundedRow)
	if !s.quadratic() {
		row = boundedCurved
	}
	return usualAlways + row*int64(n) + boundedColumn*int64(p)
}

// ShareBounded divides what so many bytes leave for Gram matrices and copies: a quarter and the
// rest.
func (s *Statement) ShareBounded(most int64) (gram int, packed int64) {
	rest := float64(most - s.boundedAlways())
	gram = min(support.LargestGram, max(LeastGram, int(math.Sqrt(rest/4/boundedPair))))
	return gram, max(LeastPacked, int64((rest-float64(boundedPair*gram*gram))/growing))
}

// quadratic reports the squared loss.
func (s *Statement) quadratic() bool { return s.Loss == loss.Loss(loss.Squared{}) }
