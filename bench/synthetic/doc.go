// Package synthetic makes large data sets out of a seed, for benchmarks on
// machines that have no others: four that look like text (Zipf-like column
// counts, skewed row lengths, tf-idf-like values, rows of unit norm), one of
// histograms, and tables of measurements and of categories. The first five have
// the sizes of well-known sets and none of their content; call them all synthetic
// wherever a result is shown.
//
// The same seed gives the same bits everywhere: 64-bit integers decide what is
// where, and values take + − × ÷ √ only, one rounding each. Sums in the tests
// pin every set.
package synthetic
