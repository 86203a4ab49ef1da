package blas

// The library of macOS, which is in the shared cache, not on disk.
const (
	systemFile = "/System/Library/Frameworks/Accelerate.framework/Accelerate"
	systemName = "Accelerate"
	install    = "it is part of macOS"
)
