// Package arm64 holds the assembly of package kernels for arm64. Use package
// kernels: it checks lengths and cuts long operands into blocks. This package is
// outside the compatibility promise.
package arm64
