//go:build darwin || macrules

package safetensors

import (
	"os"

	"github.com/anekit/anekit/internal/libsystem"
)

// residentBytes returns how much of a file is in the page cache, by mincore of a map. Never run on a Mac.
func residentBytes(f *os.File, size int64) (int64, bool) { return mincoreBytes(f, size) }

// mincore returns the flags of the pages of a mapping.
func mincore(address uintptr, size int) ([]byte, error) { return libsystem.Mincore(address, size) }
