package dlpack

import "errors"

// Errors of Import, beside those of package ane: ErrShape, ErrType, ErrAligned, ErrUnavailable. All are
// wrapped in an *ane.Error.
var (
	// ErrVersion: a major version other than 1, or flags that this package does not know.
	ErrVersion = errors.New("unknown version of the format")
	// ErrDevice: memory that the CPU cannot access.
	ErrDevice = errors.New("memory of another device")
	// ErrPointer: an address that is nil, misaligned, or past the end of the address space.
	ErrPointer = errors.New("impossible address")
)
