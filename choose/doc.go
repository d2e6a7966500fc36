// Package choose is the policy of choosing λ: which search a problem gets, where it
// starts, which searches follow, and when they end. It sees an objective and its traits,
// never a model or a matrix.
//
// One λ is chosen by a scan ([search.Scan]). Two are searched from the best value of
// each alone, and one λ for each class or column from the best common value.
// [OneStandardError] returns the most penalised choice that cross-validation cannot
// distinguish from the best.
package choose
