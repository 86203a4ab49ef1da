//go:build cgo && (amd64 || arm64)

package blas

// The library of Linux.
const (
	systemFile = "libopenblas.so.0"
	systemName = "OpenBLAS"
	install    = "install Debian's libopenblas0"
)
