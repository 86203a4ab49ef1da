//go:build !linux || macrules

package unimem

import "os"

func adoptFile(_ *os.File, size int) (backing, error) {
	return nil, &Error{Op: "adopt", Size: size, Err: ErrShare,
		Hint: "only Linux shares memory by descriptor: on macOS use AdoptPort"}
}
