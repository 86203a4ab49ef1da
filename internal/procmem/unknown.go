//go:build !linux || macrules

package procmem

import "os"

// Mappings returns ErrUnknown.
func Mappings(int, func(*Mapping)) error { return ErrUnknown }

// Ranges returns ErrUnknown.
func Ranges(int, func(*Mapping)) error { return ErrUnknown }

// Frames shows none: only Linux shows page frames.
func Frames(_ int, _ uint64, n int) (frames []uint64, shown bool) { return make([]uint64, n), false }

// Resident is unknown: only Linux distinguishes a process's own memory from mapped files.
func Resident() (own, files int64) { return 0, 0 }

// Open returns ErrUnknown.
func Open(int) (*os.File, error) { return nil, ErrUnknown }
