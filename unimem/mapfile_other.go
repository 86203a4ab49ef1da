//go:build !linux && !darwin

package unimem

import "os"

func mapFile(_ *os.File, _ int64, size int) (backing, error) {
	return nil, &Error{Op: "map file", Size: size, Err: ErrShare,
		Hint: "this package maps files on Linux and macOS only: read the file into a Tape"}
}
