//go:build !linux && !darwin

package unimem

import "os"

// openSystem opens memory of this system.
func openSystem(size int) (backing, error) { return openHeap(size, "") }

func mapFile(_ *os.File, _ int64, size int) (backing, error) {
	return nil, fail(opMapFile, size, ErrShare,
		"this package maps files on Linux and macOS only: read the file into a Tape")
}
