// Package table reads any file a user has into a design matrix with its target, names and labels. [Open] and
// [Read] recognise a file by its contents, not by its name:
//
//	svmlight text       indices from 0 or from 1; carries its target
//	CSV, TSV            cells separated by , ; | tab or blanks, with or without a header
//	.npy, dense .npz    NumPy arrays
//	sparse .npz         SciPy matrices: csr, csc and coo
//	Matrix Market       coordinate and array
//	mapped files        what [Data.Keep] writes, read in place
//
// Text may also be compressed by gzip, bzip2 or zstd. Any other file is refused, with an error that says what
// it looks like.
//
// A table becomes a matrix by a [Schema], which models keep: which columns of the file are used, which of them
// hold text and become one column per category, and what replaces an empty cell. [Schema.Rows] reads further
// files by it, row by row.
package table
