package dma

import (
	"os"
	"syscall"
)

// openMedia opens a file past the page cache where that is possible.
func openMedia(path string) (f *os.File, direct bool, err error) {
	if f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECT, 0); err == nil {
		return f, true, nil
	}
	f, err = os.Open(path)
	return f, false, err
}
