// Package table reads any file a user has into a design matrix with its target, names and
// labels. [Open] and [Read] look at what a file holds, not at what it is called:
//
//	svmlight text       indices from 0 or from 1; carries its target
//	CSV, TSV            any of , ; tab and blanks between cells, with or without a header
//	.npy, dense .npz    arrays of NumPy's
//	sparse .npz         matrices of SciPy's: csr, csc and coo
//	Matrix Market       coordinate and array
//	mapped files        what [Data.Keep] writes, read in place
//
// any text of them also as gzip, bzip2 or zstd data. What is none of them is refused by what it
// looks like.
//
// A table becomes a matrix by a [Schema], which models keep: which columns of the file are
// used, which of them hold text and become a column for each category, and what stands for
// a cell that is empty. [Schema.Rows] reads further files by it, row by row.
package table
