// Package sparse holds design matrices: n × p, one row per sample, one column
// per feature. They are checked once, where they are made, and immutable ever
// after, so that solvers may trust every index and share them freely.
//
// # Compressed columns
//
// [CSC] keeps the nonzeros of each column together. A matrix of 4 rows and 5
// columns,
//
//	      0    1    2    3    4
//	0  [  1    .    7    .    . ]
//	1  [  .    .    8    3    . ]
//	2  [  .    .    9    .    . ]
//	3  [  2    .    6    .    5 ]
//
// has columns of 2, 0, 4, 1 and 1 nonzeros. They are stored in slots by
// increasing length, then index, and the empty column 1 in none:
//
//	slot       0    1    2         3
//	order      3    4    0         2                  the column in the slot
//	colPtr     0    1    2         4                  8
//	rows       1    3    0    3    0    1    2    3
//	values     3    5    1    2    7    8    9    6
//
// A loop over columns of equal length ends where the processor expects it to;
// on text, where most columns are short, passes over the matrix are about twice
// as fast for it. Nobody else needs to know: [CSC.Column] takes the user's
// index, and [CSC.Order] says in which order columns are best visited. Only
// code that hands many columns to one kernel call asks for [CSC.Storage].
//
// Where half of the entries or more are nonzero, [Compact] turns the matrix
// into a [Dense] one; both are a [Matrix].
//
// # Files
//
// [ReadSVMLight] and [OpenSVMLight] read svmlight (LIBSVM) text as it streams
// in, in bounded memory, and refuse whatever is not exactly that, with line and
// byte; [WriteSVMLight] writes what reads back bit for bit. [Preparation] drops
// rare columns and scales rows or columns to unit norm, [Summarise] says what
// is in a matrix.
//
// Folds, weights and centring never copy a matrix: that is what [View] is for.
package sparse
