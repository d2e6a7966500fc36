// Package choose is the policy of choosing λ: which search serves which problem, from
// where, in what order, and when to be content. It sees an objective and its traits,
// never a model or a matrix.
//
// One λ is chosen by a scan ([search.Scan]); two are searched for from the best that
// each has alone; one of each class or column from the best that all have in common.
// [OneStandardError] names the most penalised choice that cross-validation cannot tell
// from the best.
package choose
