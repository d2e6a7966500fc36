// Package rules holds the rules of the repository as tests: which package may
// import which, which modules the library depends on, and that importing it
// does nothing.
package rules
