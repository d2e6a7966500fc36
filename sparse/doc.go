// Package sparse holds design matrices: compressed sparse columns and dense
// ones, built once, checked once, immutable ever after.
package sparse
