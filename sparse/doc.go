// Package sparse holds design matrices: n × p, one row per sample, one column per feature. They
// are checked once, when they are made, and are immutable from then on, so that solvers can
// trust every index and share them.
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
// The processor predicts the end of a loop well where consecutive columns have equal length. On text data,
// where most columns are short, this makes passes over the matrix about twice as fast. [CSC.Column] takes the
// user's index; [CSC.Order] is the order in which columns are visited fastest, and [CSC.Arrays] with [CSC.Span]
// serve code that hands many columns to one kernel call.
//
// If half of the entries or more are nonzero, [Compact] turns the matrix into a [Dense] one; both
// are a [Matrix].
//
// # Files
//
// [ReadSVMLight] and [OpenSVMLight] read svmlight (LIBSVM) text as it streams
// in, in bounded memory, and refuse anything malformed with its line and byte;
// [WriteSVMLight] writes text that reads back bit for bit. [Preparation] drops
// rare columns and scales rows or columns to unit norm, and [Summarise] describes
// a matrix.
//
// Folds, weights and centring never copy a matrix: that is what [View] is for.
package sparse
