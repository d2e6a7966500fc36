package inner

import (
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// LeastGram is the number of columns that a Gram matrix may have in any case, UsualGram the number that it
// may usually have.
const (
	LeastGram = 64
	UsualGram = 256
)

// The bytes that one inner problem may hold, by the quantity they are proportional to: views, copies,
// certificates, packed columns, and slices that append reallocates.
const (
	bytesPerRow    = 500
	bytesPerColumn = 500
	bytesPerEntry  = 100
	bytesIdle      = 100 // per row and per column, of an idle problem
	bytesPerPair   = 56  // per pair of columns of a Gram matrix: with room to grow, and its factors
	bytesAlways    = 1 << 20
	bytesOfProofs  = 64 << 20
	bytesOfVectors = 64  // per entry of the matrices that solvers of support vectors factorise
	bytesOfFree    = 32  // per entry of the matrices of free rows, with room to grow
	bytesPerScore  = 250 // per row and score, where there are several
)

// MostBytes returns an upper bound of the working memory of the problem without a Gram matrix, which only
// serves speed, and the bytes that each pair of columns of a Gram matrix adds.
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
		// Iterates may have more free rows than the solution: matrices of these serve speed.
		need += float64((bytesOfVectors + bytesOfFree) * float64(size+2) * float64(size+2))
		pair = bytesOfFree
	}
	return need, pair
}

// LargestGram is the largest number of columns of a Gram matrix, or of rows of a matrix of free rows.
func (s *Statement) LargestGram() int {
	if s.factorisesRows() {
		return cd.MostVectors
	}
	return support.LargestGram
}

// factorisesRows reports that the problem is one of support vectors whose solver factorises matrices of rows.
func (s *Statement) factorisesRows() bool {
	n, p := s.X.Dims()
	return s.Loss == nil && (s.Tube || s.Intercept) && min(n, p) <= cd.MostVectors
}

// scores returns the number of scores of a row: one for each class of a softmax, else 1.
func (s *Statement) scores() int {
	if s.scoreCount == 0 {
		s.scoreCount = 1
		if s.Classes && s.Form.Blocks != nil {
			classes, _, _ := bilevel.Classes(s.Kernels, s.Y) // the problem reports the error
			s.scoreCount = max(1, len(classes))
		}
	}
	return s.scoreCount
}

// mostGrowing is the largest number of bytes in use for each byte of copies of columns, while they are moved.
const mostGrowing = 4

// MostBoundedBytes is MostBytes with copies of columns of LeastPacked bytes, and the bytes that each further
// byte of copies adds.
func (s *Statement) MostBoundedBytes() (need, growth float64) {
	n, p := s.X.Dims()
	need = bytesAlways + float64(bytesPerRow*int64(n)) + float64(bytesPerColumn*int64(p)) + mostGrowing*LeastPacked
	if s.Certify {
		need += bytesOfProofs
	}
	return need, mostGrowing
}

// IdleBytes is MostBytes of the problem while it is idle: vectors, and coefficients.
func (s *Statement) IdleBytes() float64 {
	n, p := s.X.Dims()
	return float64(bytesIdle * int64(s.scores()) * (int64(n) + int64(p)))
}

// The expected memory of an inner problem, measured on data of many shapes (TestExpectedBytes): accurate to a
// factor of 3, whereas MostBytes is an upper bound.
const (
	usualAlways    = 220_000
	usualCondensed = 80_000 // instead of usualAlways, on condensed rows
	usualRow       = 140
	usualDirect    = 60 // per row, where the columns are not copied
	usualIdle      = 16 // per row and per column of an idle problem
	usualColumn    = 90
	usualValue     = 50 // per value of a packed column
	usualCurved    = 90 // the same where the weights change
	usualDense     = 0.2
	usualPair      = 16  // per pair of columns of a Gram matrix
	usualScore     = 100 // per row and score, where there are several scores
	usualFree      = 700 // rows in the largest matrix that a support vector regression factorises
	usualOfFree    = 24  // per entry of that matrix
	usualRowEntry  = 6   // per value that is read by rows
	usualMoment    = 4   // per column and pair of scores
)

// UsualBytes returns the expected memory, in bytes, of own + lanes problems, own of them on all rows and
// lanes on folds, with Gram matrices of gram columns.
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
	// Working sets grow with the support, which the number of rows bounds.
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

// UsualCondensedBytes is UsualBytes of the problems of folds on condensed rows.
func (s *Statement) UsualCondensedBytes(folds, gram int) int64 {
	n, p := s.X.Dims()
	rows, columns := float64(bilevel.Parts(folds)*(p+2)), float64(p)
	lane := usualCondensed + float64(usualColumn*columns) + float64(usualPair*gram*gram) + float64(usualRow*rows) + float64(usualValue*usualDense*rows*columns)
	return int64(min(float64(float64(folds)*lane)+bilevel.SumsBytes(n, p, bilevel.Parts(folds)), math.MaxInt64/2))
}

// UsualIdleBytes is UsualBytes of an idle problem.
func (s *Statement) UsualIdleBytes() int64 {
	n, p := s.X.Dims()
	return usualIdle * int64(s.scores()) * (int64(n) + int64(p))
}

// The same for problems that run one at a time, with bounded copies of columns (support.Columns.Bound).
const (
	// LeastPacked is the number of bytes of copies that is allowed in any case.
	LeastPacked = 1 << 20

	boundedRow    = 120
	boundedCurved = 190 // where the weights change
	boundedPair   = 24  // per pair of columns of a Gram matrix, with the matrix that it is moved from
	boundedColumn = 300 // most of it of working sets, which grow to half of the columns
	growing       = 1.1 // per byte of copies, with the gaps between them
)

// BoundsCopies reports whether the solver can bound its copies, which it can for sparse columns and one
// predictor without groups of columns.
func (s *Statement) BoundsCopies() bool {
	_, csc := s.X.(*sparse.CSC)
	return csc && s.Loss != nil && !s.Classes && s.Groups == nil
}

// BoundedBytes is UsualBytes of any number of problems, of which one runs at a time, with Gram matrices of
// gram columns and packed bytes of copies.
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

// ShareBounded divides what a limit of most bytes leaves between Gram matrices, which get a quarter, and
// copies.
func (s *Statement) ShareBounded(most int64) (gram int, packed int64) {
	rest := float64(most - s.boundedAlways())
	gram = min(support.LargestGram, max(LeastGram, int(math.Sqrt(rest/4/boundedPair))))
	return gram, max(LeastPacked, int64((rest-float64(boundedPair*gram*gram))/growing))
}

// quadratic reports that the loss is the squared loss.
func (s *Statement) quadratic() bool { return s.Loss == loss.Loss(loss.Squared{}) }
