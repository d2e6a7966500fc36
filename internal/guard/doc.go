// Package guard gives tests memory that ends, or begins, at a page that must not be accessed, so that an
// access one byte outside of a slice is a fault at once instead of passing unnoticed.
package guard
