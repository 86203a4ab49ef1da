//go:build !macrules

package dma

import (
	"os"
	"syscall"
)

// openMedia opens a file, with flags such as os.O_RDONLY, past the page cache where that is possible.
func openMedia(path string, flags int) (f *os.File, direct bool, err error) {
	if f, err = os.OpenFile(path, flags|syscall.O_DIRECT, 0); err == nil {
		return f, true, nil
	}
	f, err = os.OpenFile(path, flags, 0)
	return f, false, err
}
