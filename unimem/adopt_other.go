//go:build !linux || macrules

package unimem

import "os"

func adoptFile(_ *os.File, size int) (backing, error) {
	return nil, fail("adopt", size, ErrShare, "only Linux shares memory by descriptor: on macOS use AdoptSurface")
}
