//go:build !linux && !darwin

package unimem

import "os"

func openBacking(size int, c config) (backing, error) {
	if c.Table != nil {
		return openSurface(c.Table, size)
	}
	return openHeap(size)
}

func mapFile(_ *os.File, _ int64, size int) (backing, error) {
	return nil, fail(opMapFile, size, ErrShare,
		"this package maps files on Linux and macOS only: read the file into a Tape")
}
