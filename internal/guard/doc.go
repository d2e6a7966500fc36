// Package guard gives tests memory that ends, or begins, at a page which may
// not be touched, so that an access one byte outside of a slice is a fault at
// once and not silent luck.
package guard
