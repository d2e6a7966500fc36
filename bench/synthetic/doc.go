// Package synthetic generates large data sets from a seed, for benchmarks on machines without real data sets:
// four that resemble text (Zipf-like column counts, skewed row lengths, tf-idf-like values, rows of unit norm),
// one of histograms, and tables of measurements and of categories. The first five have the sizes of well-known
// sets but none of their content; call all of them synthetic wherever a result is shown.
//
// The same seed gives the same bits everywhere: 64-bit integers determine the structure, and values use only +
// − × ÷ √, each rounded once. Sums in the tests pin every set.
package synthetic
